"""README.md, the product's page: its tables against the input model, the rows and the table of conduct; its sums recomputed;
its examples taken by the input model; its rows those that the demo site gives.
"""

import gzip
import json
import re
from decimal import Decimal
from typing import Any

import pytest

from sitemap_actor.core import conduct
from sitemap_actor.core.conduct import CONDUCT, Mode
from sitemap_actor.core.job import FieldFacts, Job
from sitemap_actor.core.reasons import WORDS, ChangeType, SkipReason
from sitemap_actor.core.report import MAX_SKIPS_KEPT, SKIPS_PER_RECORD, Result, SiteStatus, StopReason
from sitemap_actor.core.rows import EXTRACT_COLUMNS, MONITOR_COLUMNS, event_of
from sitemap_actor.demo import site
from sitemap_actor.exporters.atom import MAX_ENTRIES
from tests.docs import markdown

README = markdown.read("README.md")
SCHEMA: dict[str, Any] = json.loads(markdown.read(".actor/input_schema.json"))["properties"]
EVENTS: dict[str, Any] = json.loads(markdown.read(".actor/pay_per_event.json"))
PRICES = {name: Decimal(str(event["eventPriceUsd"])) for name, event in EVENTS.items()}
START = Decimal("0.00005")
EXTRACT, MONITOR = CONDUCT[Mode.EXTRACT], CONDUCT[Mode.MONITOR]

INPUTS = markdown.table(markdown.section(README, "Input"), "field")
DEPENDS_ON_MODE = {
    "maxUrlsPerSite": f"extract no limit; monitor {MONITOR.default_max_urls_per_site:,}",
    "maxSitemaps": f"extract {EXTRACT.default_max_sitemaps}; monitor {MONITOR.default_max_sitemaps}",
}


def name_of(row: dict[str, str]) -> str:
    (name,) = markdown.spans(row["field"])
    return name


# --- input


def test_every_input_field_has_its_row_and_no_other() -> None:
    assert sorted(map(name_of, INPUTS)) == sorted(Job.fields())


def default_of(name: str, facts: FieldFacts) -> str:
    if name in DEPENDS_ON_MODE:
        return DEPENDS_ON_MODE[name]
    if facts.default in (None, []):
        text = "none"
    elif isinstance(facts.default, bool):
        text = "on" if facts.default else "off"
    elif isinstance(facts.default, int):
        text = f"{facts.default:,}"
    else:
        text = f"`{facts.default}`"
    sample = SCHEMA[name].get("prefill")
    if sample is None:
        return text
    return f"{text} (the form: {f'`{sample[0]}`' if isinstance(sample, list) else sample})"


def limits_of(name: str, facts: FieldFacts) -> str | None:
    if facts.minimum is not None:
        return f"{facts.minimum:,} to {facts.maximum:,}"
    if facts.choices:
        return ", ".join(f"`{choice}`" for choice in facts.choices)
    if facts.type == "array":
        return "1,000 entries"
    if name == "stateKey":
        return "`[a-z0-9-]{1,40}`"
    return None if name == "changedSince" else ""


@pytest.mark.parametrize("row", INPUTS, ids=name_of)
def test_an_input_field_is_described_as_it_is(row: dict[str, str]) -> None:
    name = name_of(row)
    facts = Job.fields()[name]
    assert row["field"] == f"{SCHEMA[name]['title']} `{name}`"
    assert row["default"] == default_of(name, facts)
    limits = limits_of(name, facts)
    assert limits is None or row["limits"] == limits
    assert row["what it does"]


@pytest.mark.parametrize("row", INPUTS, ids=name_of)
def test_a_field_of_one_mode_says_so_first(row: dict[str, str]) -> None:
    captions: dict[str, str] = {}
    caption = ""
    for name, field in SCHEMA.items():
        caption = field.get("sectionCaption", caption)
        captions[name] = caption
    name = name_of(row)
    assert row["what it does"].startswith("Monitor: ") == (captions[name] == "Monitor")
    assert row["what it does"].startswith("Extract: ") == (name in {"changedSince", "maxUrls"})


def test_the_common_paths_are_all_named() -> None:
    (row,) = [row for row in INPUTS if name_of(row) == "tryCommonPaths"]
    assert [span for span in markdown.spans(row["what it does"]) if span.startswith("/")] == list(conduct.COMMON_PATHS)


# --- output


def test_every_column_has_its_row() -> None:
    rows = markdown.table(markdown.section(README, "Output"), "field")
    *columns, extensions = [markdown.spans(row["field"]) for row in rows]
    assert [name for (name,) in columns] == list(MONITOR_COLUMNS)
    assert [name for name in MONITOR_COLUMNS if name in EXTRACT_COLUMNS] == list(EXTRACT_COLUMNS)
    for row in rows[:-1]:
        (name,) = markdown.spans(row["field"])
        assert (row["extract"], row["monitor"]) == ("yes" if name in EXTRACT_COLUMNS else "", "yes")
    assert tuple(extensions) == Job.fields()["extensions"].choices


def test_every_kind_of_change_has_its_row_and_its_event() -> None:
    rows = markdown.table(markdown.section(README, "Output"), "`changeType`")
    said = {row["`changeType`"].strip("`"): row["charged as"].strip("`") for row in rows}
    assert said == {kind: event_of({"changeType": kind}) for kind in ChangeType}


def sample_rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    extract, monitor = markdown.blocks(markdown.section(README, "Output"), "json")
    return json.loads(extract.text), json.loads(monitor.text)


def demo_entry(row: dict[str, Any], day: int) -> dict[str, str | None]:
    """What the demo site's sitemap says of the row's page on that day."""
    base = row["site"]
    bases = {name: f"http://{address}:1" for name, address in site.ADDRESSES.items()} | {"kitchen": base}
    body = site.answers(bases, day)["kitchen"][row["sourceSitemap"].removeprefix(base)].body
    text = (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode()
    (entry,) = [line for line in text.splitlines() if f"<loc>{row['url']}</loc>" in line]
    found = {name: re.search(f"<{name}>(.*?)</{name}>", entry) for name in ("lastmod", "changefreq", "priority")}
    return {name: match[1] if match else None for name, match in found.items()}


def test_the_sample_rows_are_what_the_demo_site_gives() -> None:
    extract, monitor = sample_rows()
    assert {tuple(row) for row in extract} == {EXTRACT_COLUMNS}
    assert {tuple(row) for row in monitor} == {MONITOR_COLUMNS}
    for day, rows in ((1, extract), (2, monitor)):
        for row in rows:
            assert {name: row[name] for name in ("lastmod", "changefreq", "priority")} == demo_entry(row, day)


def test_the_sample_of_a_modified_page_is_one() -> None:
    (row,) = sample_rows()[1]
    assert row["changeType"] == ChangeType.MODIFIED
    assert row["previousLastmod"] == demo_entry(row, 1)["lastmod"]


# --- prices


def test_the_table_of_prices() -> None:
    rows = markdown.table(markdown.section(README, "Prices"), "event")
    said = {row["event"].strip("`"): row["price"] for row in rows}
    assert said == {name: f"${price * 1000:.2f} per 1,000" for name, price in PRICES.items()} | {
        "Actor start": f"${START}"
    }


def test_the_introduction_names_both_prices() -> None:
    assert (
        f"**${PRICES['url'] * 1000:.2f} per 1,000 URLs, ${PRICES['change'] * 1000:.2f} per 1,000 changes.**" in README
    )


SUMS = re.findall(r"(\d[\d,]*) × \$([\d.]+\d) = \$([\d.]+\d)", README)


def test_every_product_is_right() -> None:
    assert len(SUMS) >= 8
    for count, price, total in SUMS:
        assert int(count.replace(",", "")) * Decimal(price) == Decimal(total), (count, price, total)


def test_products_are_of_prices_there_are() -> None:
    unit = {Decimal(price) for _, price, _ in SUMS}
    assert {*PRICES.values(), START} <= unit
    assert unit - {*PRICES.values(), START} <= {Decimal("0.04"), Decimal("1.00")}  # a day's costs, from the table


def test_the_example_adds_up() -> None:
    pages, new, removed, modified = 5_000, 12, 3, 5
    changes, existing = new + removed + modified, pages - removed - modified
    day = changes * PRICES["change"]
    prices = markdown.section(README, "Prices")
    assert f"{new} `new`, {removed} `removed`, {modified} `modified` | {changes} × " in prices
    assert f"{existing:,} `existing`" in prices
    assert f"together ${(day + existing * PRICES['url']).normalize()} |" in prices
    assert f"together ${pages * PRICES['url'] + 29 * day:.2f} in monitor mode" in prices


# --- conduct


def test_the_user_agent_is_the_one_sent() -> None:
    assert f"`{conduct.USER_AGENT}`" in README


@pytest.mark.parametrize(
    "said",
    [
        f"at least {EXTRACT.gap_secs:g} s apart in extract mode and {MONITOR.gap_secs:g} s in monitor mode",
        f"{EXTRACT.sites_at_once} in extract mode, {MONITOR.sites_at_once} in monitor mode",
        f"Up to {conduct.MAX_OTHER_HOSTS} hosts beyond your sites",
        f"`Crawl-delay` of up to {conduct.MAX_CRAWL_DELAY_SECS:g} seconds",
        f"Extract: {len(EXTRACT.retry_delays_secs)} retry, after {EXTRACT.retry_delays_secs[0]:g} s.",
        f"Monitor: {len(MONITOR.retry_delays_secs)} retries, after "
        + " and ".join(f"{delay:g} s" for delay in MONITOR.retry_delays_secs),
        f"`Retry-After` is at most {MONITOR.max_retry_after_secs:g} seconds",
        f"({MONITOR.default_retry_after_secs:g} s where it is missing)",
        f"| The first {conduct.MAX_ROBOTS_BYTES // 1024} KiB |",
        f"{conduct.MAX_FILE_BYTES // 2**20} MiB each, before and after unpacking",
        f"| {conduct.MAX_REDIRECTS} per file",
        f"{SKIPS_PER_RECORD:,} entries each, {MAX_SKIPS_KEPT:,} in all",
        f"the newest {MAX_ENTRIES} |",
        f"{', '.join(map(str, sorted(conduct.RETRY_STATUSES)))}, a timeout or a network error",
    ],
)
def test_numbers_of_conduct_and_limits(said: str) -> None:
    assert said in README


def test_extract_asks_a_429_no_second_time() -> None:
    assert (EXTRACT.rate_limit_retries, MONITOR.rate_limit_retries) == (0, 1)


def test_every_skip_reason_is_explained() -> None:
    rows = markdown.table(markdown.section(README, "Records of a run"), "reason")
    codes = [code for row in rows for code in markdown.spans(row["reason"])]
    assert sorted(codes) == sorted(SkipReason)
    assert set(WORDS) <= set(codes)


def test_every_result_stop_reason_and_status_is_named() -> None:
    spans = set(markdown.spans(markdown.section(README, "Records of a run")))
    assert {*Result, *StopReason, *SiteStatus} <= spans


# --- examples


def given_in_examples() -> list[dict[str, Any]]:
    """The inputs of the API examples, as JSON values."""
    api = markdown.section(README, "API")
    found: list[dict[str, Any]] = []
    for block in markdown.blocks(api):
        for text in re.findall(r"\{[^{}]*sites[^{}]*\}", block.text.replace('\\"', '"')):
            keys_quoted = re.sub(r"(?m)^(\s*)(\w+):", r'\1"\2":', text).replace("'", '"')
            found.append(json.loads(re.sub(r",(\s*\})", r"\1", keys_quoted)))
    return found


def test_there_is_an_example_for_every_way_in() -> None:
    languages = [block.language for block in markdown.blocks(markdown.section(README, "API"))]
    assert languages == ["javascript", "python", "sh", "sh", "json", "json"]
    assert len(given_in_examples()) == 5  # MCP has none


@pytest.mark.parametrize("given", given_in_examples())
def test_the_examples_are_taken_as_they_stand(given: dict[str, Any]) -> None:
    job, notes = Job.read(given)
    assert (notes.adjustments, notes.skipped, notes.problems) == ([], [], [])
    assert job.site_list


def test_the_json_examples_are_json() -> None:
    for block in markdown.blocks(README, "json"):
        json.loads(block.text)


def test_the_python_example_compiles() -> None:
    for name in markdown.documents():
        for block in markdown.blocks(markdown.read(name), "python"):
            compile(block.text, name, "exec")


# --- the two commands


def test_the_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^(\w+):", markdown.read("Makefile"), re.MULTILINE))
    for name in markdown.documents():
        text = markdown.read(name)
        named = re.findall(r"^make (\w+)", "\n".join(block.text for block in markdown.blocks(text)), re.MULTILINE)
        named += re.findall(r"`make (\w+)", text)
        assert set(named) <= targets, name
