"""What a lastmod says (faults.md, D; W3C NOTE-datetime; RFC 822)."""

import time
from datetime import UTC, datetime

import pytest

from sitemap_actor.core.lastmod import ABSENT, UNREADABLE, LastmodJudge, Reading, parse, parse_since

NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()
DAY = 86_400.0


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


def read(text: str) -> float | None:
    """Read one text in every way there is, and expect one answer."""
    reading = parse(text)
    lone, many = LastmodJudge(NOW), LastmodJudge(NOW)
    mixed = LastmodJudge(NOW)
    assert lone.judge([text]) == [reading.instant]
    assert many.judge([text] * 9) == [reading.instant] * 9
    assert mixed.judge(["2024-01-01", text, None, "x"])[1] == reading.instant
    assert many.zone_missing == 9 * reading.zone_assumed
    assert (many.unreadable, many.absent) == (9 * (reading == UNREADABLE), 9 * (reading == ABSENT))
    return reading.instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2023-03-30", at(2023, 3, 30)),
        ("2023-03", at(2023, 3, 1)),
        ("2023", at(2023, 1, 1)),
        ("0001-01-01", at(1, 1, 1)),
    ],
)
def test_D01_date_only_year_or_month_is_its_start_in_utc(text, instant):
    assert read(text) == instant
    assert parse(text) == Reading("read", instant, zone_assumed=False)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-01-08T00:00", at(2024, 1, 8)),
        ("2024-01-08T00:00:00", at(2024, 1, 8)),
        ("2024-01-08T10:20:30.5", at(2024, 1, 8, 10, 20, 30) + 0.5),
        ("2024-01-08 10:20:30.123456789", at(2024, 1, 8, 10, 20, 30) + 0.123456789),
    ],
)
def test_D02_time_without_zone_is_utc_and_flagged(text, instant):
    assert read(text) == pytest.approx(instant)
    assert parse(text).zone_assumed


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-01-08T10:20Z", at(2024, 1, 8, 10, 20)),
        ("2024-01-08T10:20:30Z", at(2024, 1, 8, 10, 20, 30)),
        ("2024-01-08t10:20:30z", at(2024, 1, 8, 10, 20, 30)),
        ("2024-01-08T10:20:30+02:00", at(2024, 1, 8, 8, 20, 30)),
        ("2024-01-08T10:20:30-05:30", at(2024, 1, 8, 15, 50, 30)),
        ("2024-01-08T10:20:30+0200", at(2024, 1, 8, 8, 20, 30)),
        ("2024-01-08T10:20:30-05", at(2024, 1, 8, 15, 20, 30)),
        ("2024-01-08T10:20:30 +02:00", at(2024, 1, 8, 8, 20, 30)),
        ("2024-01-08 10:20:30 UTC", at(2024, 1, 8, 10, 20, 30)),
        ("2024-01-08T10:20:30.1234567Z", at(2024, 1, 8, 10, 20, 30) + 0.1234567),
        ("2024-01-08T10:20:30.123+01:00", at(2024, 1, 8, 9, 20, 30) + 0.123),
        ("2024-01-08Z", at(2024, 1, 8)),
        ("2024-01-08+02:00", at(2024, 1, 7, 22)),
        ("0001-01-01T00:00:00+05:00", at(1, 1, 1) - 5 * 3_600),
        ("9999-12-31T23:59:59-05:00", at(9999, 12, 31, 23, 59, 59) + 5 * 3_600),
        ("2024-02-29T23:59:59-00:00", at(2024, 2, 29, 23, 59, 59)),
        (" \n2024-01-08T10:20:30Z\u200b", at(2024, 1, 8, 10, 20, 30)),
    ],
)
def test_w3c_date_times_and_what_sites_make_of_them(text, instant):
    assert read(text) == pytest.approx(instant, abs=1e-6)
    assert not parse(text).zone_assumed


def test_D03_space_instead_of_T():
    assert read("2016-01-25 15:35:12") == at(2016, 1, 25, 15, 35, 12)


@pytest.mark.parametrize(
    "text", ["2024-05-08 08:53:11 AM", "2024-05-08 08:53:11 PM", "2024-05-08T08:53:11PM", "May 8, 2024 8:53 PM"]
)
def test_D03_twelve_hour_clock_is_unreadable(text):
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Tue Mar 01 2022 16:06:13 GMT+0000 (Coordinated Universal Time)",
        "Tue Mar  1 16:06:13 2022",
        "Tuesday, 01-Mar-22 16:06:13 GMT",
        "1 March 2022",
        "[object Object]",
    ],
)
def test_D04_javascript_and_other_text_is_unreadable(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("Tue, 02 Jan 2024 03:04:05 GMT", at(2024, 1, 2, 3, 4, 5)),
        ("tue, 2 jan 2024 03:04 +0100", at(2024, 1, 2, 2, 4)),
        ("02 Jan 2024 03:04:05 EST", at(2024, 1, 2, 8, 4, 5)),
        ("Thu, 05 Jan 17 13:34:52 +0100", at(2017, 1, 5, 12, 34, 52)),
        ("05 Jan 99 13:34:52 UT", at(1999, 1, 5, 13, 34, 52)),
        ("Thu,  5 Jan 2017  13:34:52 Z", at(2017, 1, 5, 13, 34, 52)),
    ],
)
def test_D04_rfc_822_is_read(text, instant):
    assert read(text) == instant
    assert not parse(text).zone_assumed


def test_D04_rfc_822_without_zone_is_utc_and_flagged():
    assert read("05 Jan 17 13:34:55") == at(2017, 1, 5, 13, 34, 55)
    assert parse("05 Jan 17 13:34:55").zone_assumed


@pytest.mark.parametrize(
    "text",
    [
        "Mon, 02 Jan 2024 03:04:05 GMT",
        "31 Feb 2024 00:00:00 GMT",
        "02 Jan 2024",
        "02 Jan 2024 25:00:00 GMT",
        "02 Jan 2024 00:00 X",
    ],
)
def test_D04_rfc_822_that_contradicts_itself_is_unreadable(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["2017-1-3", "2017-01-3", "2017-1-03"])
def test_D05_single_digits_are_unambiguous(text):
    assert read(text) == at(2017, 1, 3)


@pytest.mark.parametrize(
    "text",
    [
        "02/01/2024",
        "2024/01/02",
        "02-01-2024",
        "02.01.2024",
        "2024.01.02",
        "24-01-02",
        "20240102",
        "20240102T030405Z",
        "13-2024",
    ],
)
def test_D05_other_orders_and_separators_are_unreadable(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["", " ", "\u00a0\n"])
def test_D07_empty_is_absent(text):
    assert parse(text) == parse(None) == ABSENT
    assert read(text) is None


def test_D08_two_values_are_unreadable():
    assert read("2015-10-08T07:18:53Z 2015-06-15T15:33:55Z") is None
    assert read("2015-10-08 2015-06-15") is None


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-01-00",
        "0000-01-01",
        "2024-04-31T10:00:00Z",
        "2024-02-30T10:00:00+00:00",
        "2024-01-01T24:00:00Z",
        "2024-01-01T10:60:00Z",
        "2024-01-01T10:00:60Z",
        "2024-01-01T10:00:00+24:00",
        "2024-01-01T10:00:00+05:99",
        "2024-01-01T10:00:00-99:00",
        "2024-01-01T10Z",
        "2024-01-01T",
        "2024-",
        "2024-W01-1",
        "2024-001",
        "2024-01-01T10:00:00,5Z",
        "2024-01-01X10:00:00Z",
        "2024+01+01T10:00:00Z",
        "２０２４-01-01",
        "2024-01-01T10:00:00Z" + " " * 100 + "x",
    ],
)
def test_D10_what_cannot_be_is_unreadable_and_not_rolled_over(text):
    assert read(text) is None


@pytest.mark.parametrize("text", ["1704164645", "1704164645000", "0", "20231", "-1"])
def test_D12_epoch_numbers_are_unreadable(text):
    assert read(text) is None


def test_D13_far_future_and_before_1970_are_read():
    assert read("2929-01-01") == at(2929, 1, 1)
    assert read("1927-09-08") == at(1927, 9, 8)


def test_D13_more_than_a_day_ahead_is_in_the_future_and_never_the_newest():
    judge = LastmodJudge(NOW)
    judge.judge(["2024-06-02", "2024-06-02T00:00:01Z", "2929-01-01", "2024-05-01", None])
    assert judge.in_future == 2
    assert judge.newest == ("2024-06-02", NOW + DAY)
    judge.judge(["2025-01-01"])
    assert (judge.in_future, judge.newest) == (3, ("2024-06-02", NOW + DAY))


def test_D14_one_bad_date_among_a_thousand_costs_only_itself():
    column = [f"2024-01-01T00:{number // 60:02d}:{number % 60:02d}+00:00" for number in range(1_000)]
    column[500] = "yesterday"
    judge = LastmodJudge(NOW)
    instants = judge.judge(column)
    assert (judge.unreadable, judge.pages, instants[500]) == (1, 1_000, None)
    assert [instant for number, instant in enumerate(instants) if number != 500] == [
        at(2024, 1, 1) + number for number in range(1_000) if number != 500
    ]


def test_D15_all_equal():
    same = LastmodJudge(NOW)
    same.judge(["2024-01-01"] * 5)
    same.judge(["2024-01-01T00:00:00Z"] * 5)
    assert same.all_equal
    same.judge(["2024-01-02"])
    assert not same.all_equal


@pytest.mark.parametrize(
    ("columns", "equal"),
    [
        ([["2024"]], False),
        ([["2024"], ["2024"]], True),
        ([["2024", None]], False),
        ([["2024", "x"]], False),
        ([[None, None]], False),
        ([], False),
        ([["2024", "2023"], ["2024"]], False),
        ([["2929-01-01"] * 3], True),
    ],
)
def test_D15_all_equal_means_every_page(columns, equal):
    judge = LastmodJudge(NOW)
    for column in columns:
        judge.judge(column)
    assert judge.all_equal is equal


def test_counters_add_up_over_columns():
    judge = LastmodJudge(NOW)
    assert judge.judge([]) == []
    judge.judge([None, "", "x", "2024-01-01 00:00", "2024-01-02T00:00:00Z"])
    judge.judge([None, "2024-01-01T00:00:00", "2024-01-01T00:00:01"])
    assert (judge.pages, judge.absent, judge.unreadable, judge.zone_missing) == (8, 3, 1, 3)
    assert judge.newest == ("2024-01-02T00:00:00Z", at(2024, 1, 2))


def test_newest_is_the_text_as_listed():
    judge = LastmodJudge(NOW)
    judge.judge(["2023-05-05", "Tue, 02 Jan 2024 03:04:05 GMT", "2023"])
    assert judge.newest == ("Tue, 02 Jan 2024 03:04:05 GMT", at(2024, 1, 2, 3, 4, 5))


def test_memory_of_readings_is_bounded():
    judge = LastmodJudge(NOW)
    for year in range(1, 9_000, 3):
        judge.judge([f"{year:04d}-{month}" for month in (1, 2, 3)] * 9)
    assert len(judge._memo) <= 4_096


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-01-08", at(2024, 1, 8)),
        ("2024-01-08T10:20:30", at(2024, 1, 8, 10, 20, 30)),
        ("2024-01-08T10:20:30+02:00", at(2024, 1, 8, 8, 20, 30)),
        (" 2024 ", at(2024, 1, 1)),
    ],
)
def test_changed_since_is_read_in_utc(text, instant):
    assert parse_since(text) == instant


@pytest.mark.parametrize("text", ["", "soon", "02/01/2024", "2024-02-30", "1704164645"])
def test_changed_since_that_cannot_be_read_raises(text):
    with pytest.raises(ValueError, match="not a date"):
        parse_since(text)


def test_local_time_zone_plays_no_part(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        for text in ("2024-01-08", "2024-01-08 00:00:00", "2024-01-08T00:00:00Z"):
            assert read(text) == at(2024, 1, 8)
            assert LastmodJudge(NOW).judge([text, text[:9] + "9" + text[10:]])[0] == at(2024, 1, 8)
    finally:
        monkeypatch.undo()
        time.tzset()
