"""Fuzzes the lastmod judge: nothing may raise, columns agree with single texts, and a time zone never changes a day's order."""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))

with atheris.instrument_imports(include=["sitemap_actor.core.lastmod"]):
    from sitemap_actor.core.lastmod import LastmodJudge, parse, parse_since

NOW = 1_700_000_000.0


def one_input(data: bytes) -> None:
    texts: list[str | None] = [part or None for part in data.decode("utf-8", "replace").split("\n")]
    judge = LastmodJudge(NOW)
    instants = judge.judge(texts)
    readings = [parse(text) for text in texts]
    assert instants == [reading.instant for reading in readings], "the column differs"
    assert instants == [LastmodJudge(NOW).judge([text])[0] for text in texts], "a column of one differs"
    assert LastmodJudge(NOW).judge(texts * 9) == instants * 9, "a longer column differs"
    assert judge.unreadable == sum(reading.status == "unreadable" for reading in readings)
    assert judge.absent == sum(reading.status == "absent" for reading in readings)
    assert judge.zone_missing == sum(reading.zone_assumed for reading in readings)
    for text, reading in zip(texts, readings, strict=True):
        if reading.instant is not None:
            assert parse_since(text or "") == reading.instant
            assert any(character.isdigit() for character in text or "")
            assert -62_200_000_000 < reading.instant < 253_500_000_000


def main() -> None:
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
