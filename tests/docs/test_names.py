"""What the documents name is there: every file, and every setting, field, code, class and function.

A code span that is a path must exist; one that is a single name must stand in the project's own code or definition. Names of
other people's things are listed below, so that a name of ours that was changed cannot hide among them.
"""

import json
import re
from functools import cache

import pytest

from scaleout.__main__ import _parser
from tests.docs import markdown
from tests.docs.markdown import ROOT

# The benchmark's and the corpus's documents are checked beside what they are about.
ELSEWHERE = {"docs/benchmarks.md", "docs/faults.md"}
DOCUMENTS = [name for name in markdown.documents() if name not in ELSEWHERE]

CODE = ("sitemap_actor", "scaleout", ".actor", "tests", "benchmarks", "fuzz")
CODE_FILES = (
    "Makefile",
    "Dockerfile",
    "pyproject.toml",
    "scrapy.cfg",
    "scrapyd.conf",
    "scrapinghub.yml",
    "package.json",
)
PACKAGE = ROOT / "sitemap_actor"  # documents about the code leave its name out of paths
ROOTS = {path.name for folder in (ROOT, PACKAGE) for path in folder.iterdir()} | {
    "records",
    "state",
    "storage",
    "parts",
}
MADE_BY_RUNS = re.compile(
    r"(records|state|storage|parts|\.scrapy)/|(REPORT|SKIPPED|SUMMARY|CHANGES)\S*$|urls\.\w+$|urls$"
)

NOT_OURS = {
    # sitemaps and robots.txt
    "loc", "lastmod", "priority", "changefreq", "news", "apify", "Allow", "Disallow",
    # files that the reader brings or gets
    "sites.txt", "input.json", "sites.csv", "ledger.json",
    # Apify and its tools
    "isExclusive", "apify-default-dataset-item", "apify-actor-start", "USERNAME",
    # Scrapy, scrapyd and Scrapy Cloud
    "max_proc", "NotConfigured", "scrapyd", "SHUB_JOBKEY", "_job",
    # lxml
    "huge_tree",
    # what the changelog says is no more
    "sitemapUrl",
}  # fmt: skip

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*(?:\(\w*\))?")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]*)*")


@cache
def words() -> frozenset[str]:
    """Every word of the project's own code, and the camel case that records and input make of it."""
    files = [
        path for name in CODE for path in (ROOT / name).rglob("*") if path.suffix in {".py", ".json", ".j2", ".mjs"}
    ]
    files += [ROOT / name for name in CODE_FILES]
    found = {
        word
        for path in files
        if "docs" not in path.relative_to(ROOT).parts
        for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", path.read_text(encoding="utf-8"))
    }
    camel = {re.sub(r"_([a-z])", lambda match: match[1].upper(), word) for word in found}
    return frozenset(found | camel)


def paths(text: str) -> list[str]:
    """The code spans that name a file or folder of the repository."""
    return [
        span
        for span in markdown.spans(text)
        if PATH.fullmatch(span) and span.split("/")[0] in ROOTS and ("/" in span or "." in span)
        if not MADE_BY_RUNS.match(span)
    ]


def is_there(span: str) -> bool:
    return any(any(folder.glob(span.rstrip("/"))) for folder in (ROOT, PACKAGE))


def test_the_documents_name_files() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/architecture.md"} <= set(DOCUMENTS)
    assert len(paths(markdown.read("CONTRIBUTING.md"))) > 20


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_file_named_is_there(name: str) -> None:
    assert [span for span in paths(markdown.read(name)) if not is_there(span)] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_name_is_in_the_code(name: str) -> None:
    spans = {span.removesuffix("()") for span in markdown.spans(markdown.read(name)) if NAME.fullmatch(span)}
    ours = {
        span for span in spans if span not in NOT_OURS and not MADE_BY_RUNS.match(span) and not (ROOT / span).exists()
    }
    missing = {
        span
        for span in ours
        for part in re.split(r"[.()]", span)
        if part and part not in words() and part not in NOT_OURS
    }
    assert missing == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_setting_named_exists(name: str) -> None:
    text = markdown.read(name)
    settings = set(re.findall(r"\b(?:SITEMAP|ACTOR|APIFY)_[A-Z_]+\b", text))
    assert settings - words() == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_to_a_file(name: str) -> None:
    folder = (ROOT / name).parent
    links = re.findall(r"\]\(([^)#\s]+)", markdown.read(name))
    assert [link for link in links if "://" not in link and not (folder / link).exists()] == []


# --- contributing


@pytest.mark.parametrize("title", ["An input field", "A skip reason", "A protocol fault", "A pipeline stage"])
def test_a_recipe_has_under_ten_lines_and_names_its_files(title: str) -> None:
    recipe = markdown.section(markdown.read("CONTRIBUTING.md"), title)
    lines = [line for line in recipe.splitlines() if line.strip()]
    assert 3 <= len(lines) < 10
    assert len(paths(recipe)) >= 3


# --- scaling out


def test_scaling_out_names_the_options_there_are() -> None:
    text = markdown.read("docs/scaling-out.md")
    named = {option for span in markdown.spans(text) for option in re.findall(r"(?<!\w)--[a-z-]+", span)}
    named |= {option for block in markdown.blocks(text, "sh") for option in re.findall(r"(?<!\w)--[a-z-]+", block.text)}
    there = set(re.findall(r"(?<!\w)--[a-z-]+", _parser().format_help())) - {"--help"}
    assert named == there


# --- publishing


def test_publishing_has_the_events_of_the_definition() -> None:
    events = json.loads(markdown.read(".actor/pay_per_event.json"))
    rows = markdown.table(markdown.read("docs/publishing.md"), "event")
    assert {row["event"].strip("`"): (row["title"], row["price"]) for row in rows} == {
        name: (event["eventTitle"], f"${event['eventPriceUsd']}") for name, event in events.items()
    }


def test_no_document_names_this_machine() -> None:
    for name in DOCUMENTS:
        assert not re.search(r"/(root|work|home|tmp)/\w", markdown.read(name)), name


def test_paths_and_names_that_are_missing_are_seen() -> None:
    assert paths("see `sitemap_actor/nowhere.py` and `docs/nothing.md`") == [
        "sitemap_actor/nowhere.py",
        "docs/nothing.md",
    ]
    assert not is_there("sitemap_actor/nowhere.py")
    assert {"SkipReason", "maxUrlsPerSite", "robots_txt_disallowed"} <= words()
    assert "aNameThatNobodyUses" not in words()
