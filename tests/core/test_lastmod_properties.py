"""The fast readings of lastmod agree with a slow one written from the W3C's note."""

import calendar
import re
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_actor.core.lastmod import LastmodJudge, parse

NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()

SHAPE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


def slow(text: str) -> float | None:
    """Read a W3C date or date-time step by step, with the calendar's own arithmetic."""
    match = SHAPE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if not (1 <= month <= 12 and year and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = 0
    zone = match[8]
    if zone and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 60 + minutes) * (60 if zone[0] == "+" else -60)
    days = (year - 1) * 365 + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400
    days += sum(calendar.monthrange(year, earlier)[1] for earlier in range(1, month)) + day - 1
    return (days - 719_162) * 86_400 + hour * 3_600 + minute * 60 + second - offset + float(match[7] or 0)


two = st.one_of(st.integers(0, 31), st.integers(0, 99)).map("{:02d}".format)
dates = st.builds("{:04d}-{}-{}".format, st.one_of(st.integers(1990, 2030), st.integers(0, 9999)), two, two)
times = st.builds(
    "{}{}:{}{}{}".format,
    st.sampled_from(["T", " "]),
    two,
    two,
    st.one_of(st.just(""), two.map(":{}".format), st.builds(":{}.{}".format, two, st.integers(0, 9_999_999))),
    st.one_of(st.sampled_from(["", "Z", "+00:00"]), st.builds("{}{}:{}".format, st.sampled_from("+-"), two, two)),
)
texts = st.one_of(dates, st.builds("{}{}".format, dates, times))


def close(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return abs(left - right) < 1e-4


@settings(deadline=None, max_examples=400)
@given(texts)
def test_every_w3c_date_agrees_with_the_slow_reference(text):
    assert close(parse(text).instant, slow(text))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(texts, st.none()), max_size=30))
def test_columns_agree_with_the_slow_reference(column):
    judge = LastmodJudge(NOW)
    instants = judge.judge(column)
    assert all(close(instant, slow(text or "")) for instant, text in zip(instants, column, strict=True))
    known = [instant for instant in instants if instant is not None]
    assert judge.in_future == sum(instant > NOW + 86_400 for instant in known)
    assert judge.absent + judge.unreadable + len(known) == len(column) == judge.pages


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.datetimes(), min_size=1, max_size=50),
    st.sampled_from(
        ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%S-07:30",
         "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S.%fZ"]
    ),
)  # fmt: skip
def test_columns_of_one_shape_agree_with_the_slow_reference(moments, shape):
    column = [
        moment.strftime(shape).rjust(len(moment.strftime(shape.replace("%Y", "2000"))), "0") for moment in moments
    ]
    judge = LastmodJudge(NOW)
    assert all(close(instant, slow(text)) for instant, text in zip(judge.judge(column), column, strict=True))
    assert judge.unreadable == 0


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(st.text(max_size=30), st.none(), texts), max_size=20))
def test_no_text_raises_and_the_ways_agree(column):
    judge = LastmodJudge(NOW)
    assert judge.judge(column) == [parse(text).instant for text in column]
    assert judge.unreadable == sum(parse(text).status == "unreadable" for text in column)
