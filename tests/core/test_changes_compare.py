"""The comparison and its guards, each rule of spec section 7 as a small history."""

from pathlib import Path

import pytest

from sitemap_actor.core.changes.facts import INPUT, ROBOTS, Came
from sitemap_actor.core.changes.kinds import Kind
from tests.core.monitor_world import File, Life

S1, S2, S3 = (f"https://example.com/sitemap-{number}.xml" for number in (1, 2, 3))


def page(number: int | str) -> str:
    return f"https://example.com/p/{number}"


def pages(*numbers: int, lastmod: str | None = "2023-01-01") -> list[tuple[str, str | None]]:
    return [(page(number), lastmod) for number in numbers]


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


def test_first_run_is_a_baseline_and_an_unchanged_second_run_is_silent(life: Life) -> None:
    first = life.run([File(S1, pages(*range(50)))])
    assert first.of("baseline") == sorted(page(n) for n in range(50))
    second = life.run([File(S1, pages(*reversed(range(50))))])
    assert second.rows == []
    assert second.plan.comparison.unchanged == 50


def test_new_removed_and_modified(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3, 4))])
    second = life.run([File(S1, [*pages(1, 2, 5), (page(4), "2023-06-01")])])
    assert second.types() == {page(5): "new", page(4): "modified", page(3): "removed"}
    row = next(row for row in second.rows if row["changeType"] == "modified")
    assert (row["lastmod"], row["previousLastmod"]) == ("2023-06-01", "2023-01-01")
    assert life.run([File(S1, [*pages(1, 2, 5), (page(4), "2023-06-01")])]).rows == []


def test_a_page_that_moves_between_sitemaps_is_neither_new_nor_removed(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3, 4)), File(S2, pages(5, 6, 7, 8))])
    assert life.run([File(S1, pages(1, 2, 3)), File(S2, pages(4, 5, 6, 7, 8))]).rows == []


def test_M01_a_failed_child_holds_the_removals_of_all(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3)), File(S2, pages(4, 5, 6))])
    second = life.run([File(S1, pages(1, 2, 9)), File(S2, came=Came.FAILED)])
    assert second.types() == {page(9): "new"}
    assert second.count(Kind.HELD_REMOVAL) == 1
    third = life.run([File(S1, pages(1, 2, 9)), File(S2, pages(4, 5, 6))])
    assert third.types() == {page(3): "removed"}


def test_M02_a_partial_child_refreshes_what_was_read(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3, 4))])
    second = life.run([File(S1, [(page(1), "2023-09-09"), (page(5), None)], Came.PARTIAL)])
    assert second.types() == {page(1): "modified", page(5): "new"}
    assert life.run([File(S1, [(page(1), "2023-09-09"), (page(5), None), *pages(2, 3, 4)])]).rows == []


@pytest.mark.parametrize(("came", "runs"), [(Came.NOT_THERE, 3), (Came.FAILED, 10), (Came.PARTIAL, 10)])
def test_a_dead_sitemap_is_gone_in_its_last_run(life: Life, came: Came, runs: int) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, pages(3, 4))])
    for _ in range(runs - 1):
        assert life.run([File(S1, pages(1, 2)), File(S2, came=came)]).rows == []
    last = life.run([File(S1, pages(1, 2)), File(S2, came=came)])
    assert last.of("removed") == [page(3), page(4)]
    after = life.run([File(S1, pages(1)), File(S2, came=came)])
    assert after.of("removed") == [page(2)]


def test_failures_of_two_kinds_do_not_add_up(life: Life) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, pages(3, 4))])
    for came in [Came.NOT_THERE, Came.NOT_THERE, Came.FAILED, Came.NOT_THERE, Came.NOT_THERE]:
        assert life.run([File(S1, pages(1, 2)), File(S2, came=came)]).rows == []


def test_a_dropped_sitemap_is_held_for_two_runs_and_gone_in_the_third(life: Life) -> None:
    both = [File(S1, pages(1, 2)), File(S2, pages(3, 4))]
    life.run(both)
    assert life.run(both[:1]).rows == []
    assert life.run(both[:1]).rows == []
    assert life.run(both[:1]).of("removed") == [page(3), page(4)]
    assert set(life.run(both[:1]).facts.sitemaps) == {S1}


def test_a_sitemap_whose_index_cannot_be_read_is_not_dropped(life: Life) -> None:
    index = "https://example.com/index.xml"
    life.run([File(index), File(S1, pages(1, 2), named_by=(index,))])
    for _ in range(5):
        assert life.run([File(index, came=Came.FAILED)]).rows == []
    assert life.run([File(index), File(S1, pages(1, 2), named_by=(index,))]).rows == []


def test_a_sitemap_never_read_whole_goes_silently(life: Life) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, pages(3, 4), Came.PARTIAL)])
    for _ in range(3):
        assert life.run([File(S1, pages(1, 2))]).rows == []
    assert set(life.remembered()) == {page(1), page(2)}


def test_a_sitemap_the_input_names_no_more_holds_and_removes_nothing(life: Life) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, pages(3, 4), named_by=(INPUT,))])
    for _ in range(5):
        run = life.run([File(S1, pages(1))], dropped=frozenset({INPUT}))
    assert page(3) in life.remembered()
    assert page(2) not in life.remembered()
    assert run.rows == []


def test_M11_shrink_guard_holds_until_a_second_consistent_run(life: Life) -> None:
    life.run([File(S1, pages(*range(10)))])
    second = life.run([File(S1, pages(0, 1, 2))])
    assert second.rows == []
    assert second.count(Kind.HELD_REMOVAL) == 7
    assert second.plan.comparison.cases[0].shrink_held
    third = life.run([File(S1, pages(0, 1, 2, 3))])
    assert len(third.of("removed")) == 6
    assert third.facts.sitemaps[S1].confirmed == 4


def test_shrink_guard_lets_exactly_the_threshold_pass(life: Life) -> None:
    life.run([File(S1, pages(*range(10)))])
    assert len(life.run([File(S1, pages(*range(5)))]).of("removed")) == 5


def test_shrink_guard_forgets_a_recovery(life: Life) -> None:
    life.run([File(S1, pages(*range(10)))])
    life.run([File(S1, pages(0))])
    assert life.run([File(S1, pages(*range(10)))]).rows == []
    assert life.run([File(S1, pages(0))]).rows == []


def test_removal_confirm_runs(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))])
    assert life.run([File(S1, pages(1, 2))], confirm=3).rows == []
    assert life.run([File(S1, pages(1, 2))], confirm=3).rows == []
    assert life.run([File(S1, pages(1, 2))], confirm=3).of("removed") == [page(3)]


def test_M12_a_page_that_flaps_within_the_confirming_runs_is_no_event(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))])
    for _ in range(4):
        assert life.run([File(S1, pages(1, 2))], confirm=2).rows == []
        assert life.run([File(S1, pages(1, 2, 3))], confirm=2).rows == []


@pytest.mark.parametrize("how", ["name", "content", "setting"])
def test_M06_rolling_sitemaps_remove_nothing(life: Life, how: str) -> None:
    url = "https://example.com/News-sitemap.xml" if how == "name" else "https://example.com/latest.xml"
    rolls = ("LATEST",) if how == "setting" else ()

    def run(*numbers: int):
        return life.run([File(url, pages(*numbers), rolling=how == "content")], name_rolls=rolls)

    run(*range(10))
    assert run(9, 10).types() == {page(10): "new"}
    assert run(11).types() == {page(11): "new"}
    for _ in range(11):
        assert run(11).rows == []
    assert set(life.remembered()) == {page(11)}


def test_news_in_the_host_does_not_make_a_sitemap_rolling(life: Life) -> None:
    url = "https://news.example.com/sitemap.xml"
    life.run([File(url, pages(1, 2, 3))])
    assert life.run([File(url, pages(1, 2))]).of("removed") == [page(3)]


# --- lastmod


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("2023-01-01", "2023-01-02", Kind.MODIFIED),
        ("2023-01-02", "2023-01-01", Kind.BACK),
        ("2023-01-01", "2023-01-01T00:00:00Z", None),
        (None, "2023-01-01", Kind.GAINED),
        ("2023-01-01", None, Kind.LOST),
        ("yesterday", "today", Kind.MODIFIED),
        ("yesterday", "yesterday", None),
        ("2023-01-01", "yesterday", Kind.MODIFIED),
        ("yesterday", "2023-01-01", Kind.MODIFIED),
        ("2023-01-01", "2031-01-01", None),
        (None, "2031-01-01", None),
        (None, None, None),
    ],
)
def test_what_makes_modified(life: Life, before: str | None, after: str | None, kind: Kind | None) -> None:
    life.run([File(S1, [(page(1), before)])])
    second = life.run([File(S1, [(page(1), after)])])
    assert second.of("modified") == ([page(1)] if kind is Kind.MODIFIED else [])
    assert {kind for kind, count in second.plan.comparison.counts.items() if count} == ({kind} if kind else set())
    assert life.run([File(S1, [(page(1), after)])]).plan.comparison.counts == {}


def test_newest_known_lastmod_is_kept(life: Life) -> None:
    for lastmod in ("2023-05-01", None, "2023-04-01", "2023-05-01"):
        assert life.run([File(S1, [(page(1), lastmod)])]).of("modified") == []
    assert life.run([File(S1, [(page(1), "2023-05-02")])]).of("modified") == [page(1)]


def test_a_lastmod_far_ahead_is_never_kept(life: Life) -> None:
    life.run([File(S1, [(page(1), "2023-05-01")])])
    life.run([File(S1, [(page(1), "9999-12-31")])])
    assert life.run([File(S1, [(page(1), "2023-05-02")])]).of("modified") == [page(1)]


@pytest.mark.parametrize("reverse", [False, True])
def test_of_several_files_the_newest_readable_lastmod_counts(life: Life, reverse: bool) -> None:
    files = [File(S1, [(page(1), "2023-01-01")]), File(S2, [(page(1), "2023-03-01")]), File(S3, [(page(1), "soon")])]
    first = life.run(files[::-1] if reverse else files)
    assert [(row["lastmod"], row["sourceSitemap"]) for row in first.rows] == [("2023-03-01", S2)]
    assert life.run(files).rows == []


def test_M05_deploy_stamp(life: Life) -> None:
    life.run([File(S1, pages(*range(20)))])
    stamped = [(page(n), f"2023-08-01T10:0{n % 9}:00Z") for n in range(12)]
    second = life.run([File(S1, [*stamped, (page(12), "2023-08-03"), *pages(*range(13, 20))])])
    assert second.types() == {page(12): "modified"}
    assert second.count(Kind.STAMPED) == 12
    assert second.plan.comparison.cases[0].stamped == 12
    third = life.run([File(S1, [*stamped, (page(12), "2023-08-03"), *pages(*range(13, 20))])])
    assert third.rows == []


@pytest.mark.parametrize(("changed", "known"), [(9, 9), (10, 20)])
def test_too_few_pages_are_no_stamp(life: Life, changed: int, known: int) -> None:
    life.run([File(S1, pages(*range(known)))])
    later = [*pages(*range(changed), lastmod="2023-08-01"), *pages(*range(changed, known))]
    assert len(life.run([File(S1, later)]).of("modified")) == changed


def test_M04_three_stamps_running_make_lastmod_unreliable(life: Life) -> None:
    life.run([File(S1, pages(*range(20)))])
    for month in (2, 3, 4):
        run = life.run([File(S1, pages(*range(20), lastmod=f"2023-{month:02}-01"))])
        assert run.rows == []
    assert run.facts.sitemaps[S1].stamped == 3


# --- new or baseline


def test_a_page_of_a_new_daily_file_is_new(life: Life) -> None:
    life.run([File(S1, pages(*range(10)))])
    assert len(life.run([File(S1, pages(*range(10))), File(S2, pages(*range(20, 120)))]).of("new")) == 100


@pytest.mark.parametrize(("known", "kind"), [(1000, "baseline"), (1010, "new")])
def test_a_massive_new_sitemap_is_a_baseline(life: Life, known: int, kind: str) -> None:
    life.run([File(S1, pages(*range(known)))])
    second = life.run([File(S1, pages(*range(known))), File(S2, pages(*range(5000, 5101)))])
    assert len(second.of(kind)) == 101
    assert len(second.rows) == 101
    assert any(case.massive for case in second.plan.comparison.cases) == (kind == "baseline")


@pytest.mark.parametrize("came", [Came.FAILED, Came.UNREAD, Came.LEFT_OUT, Came.PARTIAL])
def test_a_sitemap_left_unread_so_far_is_a_baseline(life: Life, came: Came) -> None:
    life.run([File(S1, pages(1, 2))])
    life.run([File(S1, pages(1, 2)), File(S2, came=came)])
    third = life.run([File(S1, pages(1, 2, 3)), File(S2, pages(4, 5))])
    assert third.types() == {page(3): "new", page(4): "baseline", page(5): "baseline"}


def test_a_site_not_read_whole_yet_brings_baselines(life: Life) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, came=Came.FAILED)])
    assert life.run([File(S1, pages(1, 2, 3)), File(S2, pages(4))]).types() == {
        page(3): "baseline",
        page(4): "baseline",
    }
    assert life.run([File(S1, pages(1, 2, 3, 5)), File(S2, pages(4))]).types() == {page(5): "new"}


# --- limits


def test_M03_a_capped_site_removes_nothing_and_baselines_the_rest_later(life: Life) -> None:
    first = life.run([File(S1, pages(*range(10)))], cap=4)
    assert len(first.of("baseline")) == 4
    second = life.run([File(S1, pages(*range(10)))], cap=10)
    assert len(second.of("baseline")) == 6
    assert second.facts.whole
    third = life.run([File(S1, [(page(20), None), *pages(*range(10), lastmod="2023-09-09")])], cap=3)
    assert third.rows == []
    assert third.count(Kind.HELD_NEW) == 1
    assert third.count(Kind.HELD_MODIFIED) == 2
    fourth = life.run([File(S1, [(page(20), None), *pages(*range(5), lastmod="2023-09-09"), *pages(*range(5, 10))])])
    assert fourth.of("new") == [page(20)]
    assert len(fourth.of("modified")) == 5


def test_cap_counts_distinct_pages(life: Life) -> None:
    run = life.run([File(S1, pages(1, 2, 3, 1, 2, 3)), File(S2, pages(3, 2, 1))], cap=3)
    assert len(run.rows) == 3
    assert run.facts.whole


def test_changes_past_the_quota_come_in_the_next_run(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))])
    files = [File(S1, pages(2, 3, 4, 5, 6))]
    second = life.run(files, quota=2)
    assert second.of("new") == [page(4), page(5)]
    assert life.run(files, quota=1).of("new") == [page(6)]
    assert life.run(files).types() == {page(1): "removed"}
    assert life.run(files).rows == []


def test_rows_that_were_not_saved_come_again(life: Life) -> None:
    first = life.run([File(S1, pages(1, 2, 3))], saved=1)
    assert first.of("baseline") == [page(1)]
    second = life.run([File(S1, pages(1, 2, 3))])
    assert second.of("baseline") == [page(2), page(3)]
    files = [File(S1, [(page(1), "2023-02-02"), *pages(2, 4, 5)])]
    third = life.run(files, saved=1)
    assert third.types() == {page(4): "new"}
    assert life.run(files).types() == {page(5): "new", page(1): "modified", page(3): "removed"}


def test_a_massive_baseline_cut_by_the_limit_stays_a_baseline(life: Life) -> None:
    life.run([File(S1, pages(1, 2))])
    files = [File(S1, pages(1, 2)), File(S2, pages(*range(100, 220)))]
    assert len(life.run(files, saved=70).of("baseline")) == 70
    assert len(life.run(files).of("baseline")) == 50


def test_existing_rows(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))])
    second = life.run([File(S1, [(page(1), "2023-07-01"), *pages(2, 3, 4)])], existing=True)
    assert second.types() == {page(1): "modified", page(2): "existing", page(3): "existing", page(4): "new"}
    assert second.plan.existing == 2


# --- rules that silence


def test_switching_a_filter_never_makes_new_or_removed(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))], silent={page(3): "pattern"})
    assert life.run([File(S1, pages(1, 2, 3))], silent={page(2): "pattern", page(3): "pattern"}).rows == []
    third = life.run([File(S1, pages(1, 2, 3))])
    assert third.types() == {page(3): "baseline"}
    assert life.run([File(S1, pages(1, 2, 3))]).rows == []


def test_a_page_excluded_when_last_listed_goes_silently(life: Life) -> None:
    life.run([File(S1, pages(1, 2, 3))])
    life.run([File(S1, pages(1, 2, 3))], silent={page(3): "pattern"})
    assert life.run([File(S1, pages(1, 2))]).rows == []
    assert life.run([File(S1, pages(1))], excluded=frozenset({page(2)})).rows == []
    assert set(life.remembered()) == {page(1)}


def test_a_lastmod_that_moves_while_silent_is_not_told_later(life: Life) -> None:
    life.run([File(S1, pages(1, 2))])
    life.run([File(S1, [(page(1), "2023-04-04"), *pages(2)])], silent={page(1): "robots_txt_disallowed"})
    assert life.run([File(S1, [(page(1), "2023-04-04"), *pages(2)])]).rows == []


def test_a_quiet_state_tells_nothing_until_the_next_run(life: Life) -> None:
    life.quiet = True
    first = life.run([File(S1, pages(1, 2))])
    assert first.rows == []
    assert first.count(Kind.QUIET) == 2
    assert life.run([File(S1, pages(1, 2, 3))]).types() == {page(3): "new"}


# --- host migration


def _at(host: str, *numbers: int, lastmod: str | None = "2023-01-01") -> list[tuple[str, str | None]]:
    return [(f"{host}/p/{number}", lastmod) for number in numbers]


@pytest.mark.parametrize("to", ["http://example.com", "https://www.example.com", "http://www.example.com"])
def test_host_migration(life: Life, to: str) -> None:
    life.run([File(S1, pages(*range(20)))])
    second = life.run([File(S1, _at(to, *range(20), lastmod="2023-09-09"))])
    assert second.rows == []
    assert second.plan.comparison.migrated == 20
    assert life.run([File(S1, _at(to, *range(20), lastmod="2023-09-09"))]).rows == []
    assert len(life.remembered()) == 20


def test_host_migration_needs_every_removed_page_to_match(life: Life) -> None:
    life.run([File(S1, pages(*range(4)))])
    second = life.run([File(S1, [*_at("http://example.com", 0, 1), *pages(3)])])
    assert len(second.of("removed")) == 3
    assert len(second.of("new")) == 2


def test_host_migration_is_not_told_in_halves(life: Life) -> None:
    life.run([File(S1, pages(*range(20)))])
    half = life.run([File(S1, _at("http://example.com", *range(10)), Came.PARTIAL)])
    assert half.rows == []
    assert life.run([File(S1, _at("http://example.com", *range(20)))]).rows == []


def test_sitemap_named_by_two(life: Life) -> None:
    life.run([File(S1, pages(1, 2)), File(S2, pages(3), named_by=(ROBOTS, S1))])
    for _ in range(4):
        assert life.run([File(S1, pages(1, 2), Came.PARTIAL)]).rows == []


def test_M05_a_deploy_that_renames_the_sitemap_file_too(life: Life) -> None:
    life.run([File(S1, pages(*range(20))), File(S2, pages(*range(100, 120)))])
    renamed = [File(S3, [*pages(*range(19), lastmod="2023-07-01T12:00:00Z"), (page(19), "2023-08-01")])]
    second = life.run([*renamed, File(S2, pages(*range(100, 120)))])
    assert second.types() == {page(19): "modified"}
    assert second.count(Kind.STAMPED) == 19
    assert [case.url for case in second.plan.comparison.cases if case.stamped] == [S1]
    for _ in range(3):
        later = life.run([*renamed, File(S2, pages(*range(100, 120)))])
        assert later.rows == []
        assert not any(case.stamped for case in later.plan.comparison.cases)


def test_M05_a_deploy_that_splits_a_sitemap_file(life: Life) -> None:
    life.run([File(S1, pages(*range(30)))])
    first, second = (pages(*numbers, lastmod="2023-07-01T12:00:00Z") for numbers in (range(15), range(15, 30)))
    assert life.run([File(S2, first), File(S3, second)]).rows == []


def test_pages_that_move_to_the_file_of_the_day_are_modified(life: Life) -> None:
    """A file that lists what changed on one day holds pages of one date; they are few of the file they came from."""
    life.run([File(S1, pages(*range(100)))])
    second = life.run([File(S1, pages(*range(70))), File(S2, pages(*range(70, 100), lastmod="2023-07-01"))])
    assert len(second.of("modified")) == 30
