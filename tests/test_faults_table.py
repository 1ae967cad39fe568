"""docs/faults.md names every kind of fault and its tests, and stays true: a test carries its kind's id in its name.

`python -m tests.test_faults_table` writes the table's last column anew from the tests that there are.
"""

import re
from pathlib import Path

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "faults.md"

IDS = frozenset(
    re.findall(
        r"[A-Z]\d\d",
        """
    G01 G02 G03 G04 G05 G08 G09 G10 G11 G12 G13 G15 G16
    X01 X02 X03 X05 X06 X08 X10 X11 X12 X13 X15 X16 X17 X18 X20 X22 X23 X24 X26 X27 X29 X30 X31 X32 X33 X34
    S01 S03 S04 S06 S07 S08 S09 S10 S11 S12 S13 S14 S15 S17
    L01 L03 L04 L05 L06 L07 L09 L10 L12 L14
    D01 D02 D03 D04 D05 D07 D08 D10 D12 D13 D14 D15
    R01 R02 R04 R05 R06 R07 R08 R09 R11 R12 R13 R15 R16 R18 R19 R20 R21 R22 R24 R25 R26 R27 R28 R29
    H01 H04 H05 H06 H08 H09
    M01 M02 M03 M04 M05 M06 M07 M09 M11 M12 M14 M15 M16 M17 M18
    C01 C02 C03 C04 C05
    """,
    )
)
"""The 125 kinds."""

PENDING: frozenset[str] = frozenset()
"""Kinds whose tests are still to come. A kind that has got one leaves this set."""

_TEST = re.compile(r"^\s*(?:async )?def (test_(?:[A-Z]\d\d_)+\w+)", re.MULTILINE)
_ID = re.compile(r"[A-Z]\d\d(?=_)")
_ROW = re.compile(r"^\| ([A-Z]\d\d) \| (.+?) \| (.*?) \|$", re.MULTILINE)


def _by_id() -> dict[str, list[str]]:
    """Of each id the tests that carry it, as `file::name`."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            for known in _ID.findall(name.partition("test_")[2]):
                found.setdefault(known, []).append(f"{path.relative_to(TESTS).as_posix()}::{name}")
    return found


def test_the_list_holds_125_kinds() -> None:
    assert len(IDS) == 125
    assert PENDING <= IDS


def test_every_kind_has_a_test_and_no_test_an_unknown_kind() -> None:
    have = set(_by_id())
    assert have <= IDS
    assert IDS - PENDING - have == set(), "kinds without a test"
    assert PENDING & have == set(), "kinds that have tests now and are no longer pending"


def test_the_table_names_every_kind_once_with_its_tests() -> None:
    rows = _ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert sorted(row[0] for row in rows) == sorted(IDS)
    tests = _by_id()
    assert {kind: shown for kind, _, shown in rows} == {kind: _shown(tests.get(kind, [])) for kind in IDS}


def _shown(tests: list[str]) -> str:
    """The first test of each file, how many more there are, or that it is to come."""
    if not tests:
        return "to come, with monitor mode"
    by_file: dict[str, list[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        by_file.setdefault(file, []).append(name)
    return "<br>".join(f"`{file}`: {', '.join(f'`{name}`' for name in names)}" for file, names in by_file.items())


def write() -> None:
    """Write the last column of the table."""
    tests = _by_id()
    text = TABLE.read_text(encoding="utf-8")
    TABLE.write_text(
        _ROW.sub(lambda row: f"| {row[1]} | {row[2]} | {_shown(tests.get(row[1], []))} |", text), encoding="utf-8"
    )


if __name__ == "__main__":
    write()
