"""Rows written from columns are, character for character, what json.dumps makes of the rows."""

import json
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.row_json import json_array, json_rows
from sitemap_actor.core.rows import ChangeBatch, Event, Rows, UrlBatch, count_events, events_of

ODD = st.sampled_from(
    ["", "a", '"', "\\", "\\n", "\n", "\x00", "\x7f", "é", "\u2028", "日本", "\U0001f600", '", "x": "']
)
TEXTS = st.one_of(st.just("plain"), ODD, st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
EXTRAS = st.sampled_from([None, {}, {"images": [{"loc": 'é"'}]}])


@st.composite
def batches(draw: st.DrawFn) -> UrlBatch:
    size = draw(st.integers(0, 4))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    optional = st.one_of(st.none(), TEXTS)
    plain = draw(st.sampled_from([st.none(), st.just("daily"), optional]))
    extras = column(EXTRAS) if draw(st.booleans()) else None
    reading: Any = SimpleNamespace(site=SimpleNamespace(key=draw(TEXTS)))
    file: Any = SimpleNamespace(url=draw(TEXTS))
    columns = column(TEXTS), column(optional), column(plain), column(optional)
    return UrlBatch(reading, file, "", "2026-11-30T21:18:00Z", *columns, extras, [None] * size)


@given(batches(), st.booleans())
def test_lines_are_what_json_dumps_makes(batch: UrlBatch, ascii_only: bool) -> None:
    wanted = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in batch.rows())
    assert json_rows(batch, end="\n", ascii_only=ascii_only) == wanted


@given(st.lists(batches(), max_size=3), st.booleans())
def test_an_array_of_several_batches_is_what_json_dumps_makes(parts: list[UrlBatch], ascii_only: bool) -> None:
    reading: Any = None
    changes = ChangeBatch(reading, [{"url": "é", "changeType": "new"}, {"url": "b", "changeType": "baseline"}])
    for rows in (Rows(parts), Rows([*parts, changes]), Rows([changes, *parts])):
        assert json_array(rows, ascii_only=ascii_only) == json.dumps(list(rows), ensure_ascii=ascii_only)


def batch_of(*urls: str) -> UrlBatch:
    reading: Any = SimpleNamespace(site=SimpleNamespace(key="http://a"))
    file: Any = SimpleNamespace(url="http://a/s")
    nothing: list[Any] = [None] * len(urls)
    return UrlBatch(reading, file, "", "t", list(urls), nothing, nothing, nothing, None, nothing)


def test_rows_are_cut_between_and_within_batches() -> None:
    rows = Rows([batch_of("a", "b"), batch_of("c", "d", "e")])
    for count in range(7):
        before, after = rows.first(count)
        urls = [row["url"] for row in Rows(before)], [row["url"] for row in Rows(after)]
        assert urls == (list("abcde"[:count]), list("abcde"[count:]))
        assert all(len(part) for part in [*before, *after])


def test_a_row_is_the_same_object_wherever_it_is_asked_for() -> None:
    rows = Rows([batch_of("a", "b"), batch_of("c")])
    assert rows[:3] is rows
    assert rows[1:][0] is rows[1]
    assert list(rows)[2] is rows[2]


def test_calls_hold_whole_batches_and_the_same_rows() -> None:
    rows = Rows([batch_of("a", "b"), batch_of("c", "d", "e"), batch_of("f"), batch_of("g")])
    for most, sizes in ((1, [2, 3, 1, 1]), (3, [2, 3, 2]), (4, [2, 4, 1]), (5, [5, 2]), (9, [7])):
        calls = list(rows.calls(most))
        assert list(map(len, calls)) == sizes
        assert [id(row) for call in calls for row in call] == list(map(id, rows))
        assert json_array(Rows([part for call in calls for part in call.parts])) == json_array(rows)
    assert list(Rows([]).calls(3)) == []


def test_events_are_those_of_the_rows() -> None:
    reading: SiteReading = SimpleNamespace()  # type: ignore[assignment]
    changes = ChangeBatch(reading, [{"url": "a", "changeType": "new"}, {"url": "b", "changeType": "baseline"}])
    rows = Rows([batch_of("a", "b"), changes])
    assert events_of(rows) == [Event.URL, Event.URL, Event.CHANGE, Event.URL] == events_of(list(rows))
    assert count_events(rows) == count_events(list(rows)) == {Event.URL: 3, Event.CHANGE: 1}
