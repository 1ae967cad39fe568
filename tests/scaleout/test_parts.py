"""Splitting a list of sites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaleout.parts import ScaleOutError, parts_for, read_sites, split

HOSTS = st.lists(st.from_regex(r"[a-z]{1,8}\.example", fullmatch=True), unique=True, max_size=60)


def test_a_list_is_read_line_by_line_and_says_what_is_no_site() -> None:
    sites, unusable = read_sites(
        "# shops\nexample.com\n\n  https://a.example/x.xml \nexample.com\nftp://b.example\nu:p@c.example\n"
    )
    assert sites == ["example.com", "https://a.example/x.xml"]
    assert [(bad.entry, bad.reason) for bad in unusable] == [
        ("ftp://b.example", "unsupported_scheme"),
        ("u:p@c.example", "userinfo"),
    ]


@given(HOSTS, st.integers(1, 9))
def test_every_site_is_in_one_part(sites: list[str], count: int) -> None:
    parts = split(sites, count)
    assert sorted(site for part in parts for site in part.sites) == sorted(sites)
    assert len({part.number for part in parts}) == len(parts) <= count
    assert all(1 <= part.number <= count for part in parts)


@given(HOSTS, HOSTS, st.integers(1, 9))
def test_a_site_keeps_its_part_whatever_joins_or_leaves(sites: list[str], others: list[str], count: int) -> None:
    def places(entries: list[str]) -> dict[str, int]:
        return {site: part.number for part in split(entries, count) for site in part.sites}

    alone, among = places(sites), places(list(dict.fromkeys([*others, *sites])))
    assert {site: among[site] for site in sites} == alone


def test_entries_of_one_host_are_never_in_two_runs() -> None:
    one_host = ["example.com", "https://EXAMPLE.com/a.xml", "http://example.com", "example.com:8080"]
    assert [len(part.sites) for part in split(one_host, 50)] == [4]


def test_a_part_that_no_run_takes_is_refused() -> None:
    with pytest.raises(ScaleOutError, match="use more parts"):
        split([f"site-{number}.example" for number in range(1_001)], 1)


def test_the_number_of_parts_follows_from_the_sites_of_a_run() -> None:
    assert [parts_for(["a"] * count, 100) for count in (0, 1, 100, 101)] == [1, 1, 1, 2]
