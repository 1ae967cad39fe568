"""The Actor's definition, .actor and Dockerfile, against the code and against Apify's own validators.

validate.mjs runs those validators, npm packages that `make test` installs; nothing here needs the network.
"""

import json
import os
import re
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sitemap_actor.core.job import InputProblems, Job
from sitemap_actor.core.rows import EXTRACT_COLUMNS, MONITOR_COLUMNS, Event

ROOT = Path(__file__).parents[2]
ACTOR = ROOT / ".actor"
QUIET = {"APIFY_CLI_DISABLE_TELEMETRY": "1", "APIFY_CLI_SKIP_UPDATE_CHECK": "1"}

Schemas = dict[str, Any]


def load(name: str) -> Any:
    return json.loads((ACTOR / name).read_text(encoding="utf-8"))


SCHEMAS: Schemas = {
    "actor": load("actor.json"),
    "input": load("input_schema.json"),
    "dataset": load("dataset_schema.json"),
    "keyValueStore": load("key_value_store_schema.json"),
    "output": load("output_schema.json"),
}
FIELDS: dict[str, Any] = SCHEMAS["input"]["properties"]
SAMPLE = {name: field["prefill"] for name, field in FIELDS.items() if "prefill" in field}

# Inputs that the model takes as they are: (input, memory of the run in MB).
GOOD = [
    ({}, 256),
    (SAMPLE, 256),
    ({"mode": "extract", "sites": ["example.com"]}, 256),
    ({"mode": "monitor", "sites": ["example.com"]}, 512),
    ({"sites": [f"site-{n}.example" for n in range(1_200)]}, 256),  # cut and told, so not the form's business
    ({"sites": ["example.com"], "changedSince": "2026-10"}, 256),
    ({"sites": ["example.com"], "changedSince": "2026-11-30T08:00:00+01:00"}, 256),
    ({"sites": ["example.com"], "changedSince": None, "maxUrlsPerSite": None, "maxSitemaps": None}, 256),
    ({"sites": ["example.com"], "stateKey": " shop-1 "}, 256),
    ({"sites": ["example.com"], "stateKey": ""}, 256),
    ({"sites": ["example.com"], "extensions": ["images", "news"]}, 256),
    ({"sites": ["example.com"], "unknown": 5}, 256),
]
BAD: list[dict[str, Any]] = [
    {"mode": "both"},
    {"sites": "example.com; example.org", "mode": 1},
    {"stateKey": "Shop"},
    {"stateKey": "a" * 41},
    {"includeExisting": "yes"},
    {"maxUrls": "many"},
]
OUT_OF_RANGE: list[dict[str, Any]] = [
    {name: edge}
    for name, field in FIELDS.items()
    if "minimum" in field
    for edge in (field["minimum"] - 1, field["maximum"] + 1)
]


def node(schemas: Schemas, inputs: list[Any]) -> dict[str, Any]:
    """What Apify's validators say: see validate.mjs."""
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("validate.mjs"))],
        input=json.dumps({"schemas": schemas, "inputs": inputs}),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Any]:
    return node(SCHEMAS, [*(given for given, _ in GOOD), *BAD, *OUT_OF_RANGE])


# --- Apify's own validators


def test_apify_accepts_every_file(verdicts: dict[str, Any]) -> None:
    assert verdicts["schemas"] == {name: [] for name in SCHEMAS}


def test_apify_cli_accepts_the_folder() -> None:
    cli = ROOT / "node_modules" / ".bin" / "apify"
    done = subprocess.run(
        [str(cli), "validate-schema"],
        cwd=ROOT,
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("is valid") == 4  # input, dataset, output, key-value store


def test_the_validators_see_a_mistake() -> None:
    broken = deepcopy(SCHEMAS)
    broken["actor"]["version"] = "one"
    broken["dataset"]["views"]["overview"]["display"]["component"] = "chart"
    broken["keyValueStore"]["collections"]["report"]["keyPrefix"] = "REPORT"
    said = node(broken, [])["schemas"]
    assert {name for name, messages in said.items() if messages} == {"actor", "dataset", "keyValueStore"}


@pytest.mark.parametrize(("given", "number"), [(given, n) for n, (given, _) in enumerate(GOOD)])
def test_what_the_model_takes_the_form_takes(given: dict[str, Any], number: int, verdicts: dict[str, Any]) -> None:
    assert verdicts["inputs"][number] == []
    Job.read({"sites": ["example.com"], **given})


@pytest.mark.parametrize(("given", "number"), [(given, n) for n, given in enumerate(BAD)])
def test_what_stops_the_run_the_form_refuses(given: dict[str, Any], number: int, verdicts: dict[str, Any]) -> None:
    assert verdicts["inputs"][len(GOOD) + number] != []
    with pytest.raises(InputProblems):
        Job.read({"sites": ["example.com"], **given})


@pytest.mark.parametrize(("given", "number"), [(given, n) for n, given in enumerate(OUT_OF_RANGE)])
def test_what_is_clamped_the_form_refuses(given: dict[str, Any], number: int, verdicts: dict[str, Any]) -> None:
    assert verdicts["inputs"][len(GOOD) + len(BAD) + number] != []
    _, notes = Job.read({"sites": ["example.com"], **given})
    assert [adjustment.field for adjustment in notes.adjustments] == list(given)


# --- memory


@pytest.mark.parametrize(("number", "memory"), [(n, memory) for n, (_, memory) in enumerate(GOOD)])
def test_memory_is_256_mb_and_512_in_monitor_mode(number: int, memory: int, verdicts: dict[str, Any]) -> None:
    assert verdicts["memory"][number] == memory


def test_memory_limits() -> None:
    assert (SCHEMAS["actor"]["minMemoryMbytes"], SCHEMAS["actor"]["maxMemoryMbytes"]) == (256, 1024)


# --- the form and the model


def test_the_form_has_the_fields_of_the_model() -> None:
    assert set(FIELDS) == set(Job.fields())
    assert len(FIELDS) == 21


@pytest.mark.parametrize("name", FIELDS)
def test_the_form_agrees_with_the_model(name: str) -> None:
    field, facts = FIELDS[name], Job.fields()[name]
    choices = field.get("enum") or field.get("items", {}).get("enum")
    assert field["type"] == facts.type
    assert (field.get("minimum"), field.get("maximum")) == (facts.minimum, facts.maximum)
    assert choices == (list(facts.choices) if facts.choices else None)
    # No list, no text and what depends on the mode: no default in the form, and the model's own in the model.
    assert field.get("default") == (facts.default if facts.default not in ([], None) else None)


def test_the_form_opens_with_a_small_sample() -> None:
    assert SAMPLE == {"sites": ["https://docs.apify.com"], "maxUrls": 20}
    job, notes = Job.read(SAMPLE)
    assert (job.max_urls, [site.entry for site in job.site_list]) == (20, ["https://docs.apify.com/"])
    assert (notes.adjustments, notes.skipped) == ([], [])


def test_the_form_has_its_sections_in_order() -> None:
    captions = [field["sectionCaption"] for field in FIELDS.values() if "sectionCaption" in field]
    assert captions == ["What to read", "Filters", "Limits", "Monitor", "Advanced"]


def test_lists_are_typed_one_per_line_and_never_cut_by_the_form() -> None:
    lists = {name: field for name, field in FIELDS.items() if field["type"] == "array"}
    assert {name for name, field in lists.items() if field["editor"] != "stringList"} == {"extensions"}
    assert [name for name, field in lists.items() if "maxItems" in field] == []


@pytest.mark.parametrize(
    ("name", "title"),
    {
        "sites": "Websites",
        "sitemapUrls": "Sitemap URLs (optional)",
        "changedSince": "Only URLs changed since",
        "includeUrlsWithoutLastmod": "Keep URLs that have no lastmod",
        "maxUrls": "Maximum URLs to save",
        "maxSitemaps": "Maximum sitemap files to fetch",
        "maxSitemapDepth": "Maximum sitemap index depth",
        "tryCommonPaths": "Try common sitemap paths",
        "requestTimeoutSecs": "Request timeout",
    }.items(),
)
def test_fields_keep_their_published_titles(name: str, title: str) -> None:
    assert FIELDS[name]["title"] == title


# --- rows and records


def test_the_views_show_the_rows_as_they_are() -> None:
    overview, changes = (SCHEMAS["dataset"]["views"][name] for name in ("overview", "changes"))
    assert overview["transformation"]["fields"] == list(EXTRACT_COLUMNS)
    assert set(changes["transformation"]["fields"]) == set(MONITOR_COLUMNS) - {"changefreq", "priority"}
    for view in (overview, changes):
        assert list(view["display"]["properties"]) == view["transformation"]["fields"]


def test_the_dataset_schema_refuses_no_row() -> None:
    """The platform throws away a whole request for one row that does not fit, so everything may be null or absent."""
    fields = SCHEMAS["dataset"]["fields"]
    assert set(fields["properties"]) == {*MONITOR_COLUMNS, *(Job.fields()["extensions"].choices or ())}
    assert "required" not in fields
    rows: list[dict[str, Any]] = [
        {},
        dict.fromkeys(fields["properties"]),
        {"url": "https://example.com/", "images": [{"loc": "https://example.com/a.jpg"}], "laterField": 1},
    ]
    for row in rows:
        jsonschema.validate(row, fields)


def test_the_records_have_their_collections() -> None:
    keys = {record.get("key", record.get("keyPrefix")) for record in SCHEMAS["keyValueStore"]["collections"].values()}
    assert keys == {"REPORT", "REPORT.html", "SKIPPED", "SUMMARY", "CHANGES.atom"}


def test_no_collection_can_refuse_a_record() -> None:
    for record in SCHEMAS["keyValueStore"]["collections"].values():
        assert not {"contentTypes", "jsonSchema"} & set(record)


def test_the_output_links_what_there_is() -> None:
    links = "\n".join(item["template"] for item in SCHEMAS["output"]["properties"].values())
    assert set(re.findall(r"view=(\w+)", links)) == set(SCHEMAS["dataset"]["views"])
    collections = SCHEMAS["keyValueStore"]["collections"]
    assert set(re.findall(r"collection=(\w+)", links)) <= set(collections)
    assert set(re.findall(r"/records/(\S+)", links)) == {c["key"] for c in collections.values() if "key" in c}


# --- prices


def test_prices_are_the_same_everywhere() -> None:
    prices = {event: facts["eventPriceUsd"] for event, facts in load("pay_per_event.json").items()}
    assert prices == {Event.URL: 0.0002, Event.CHANGE: 0.002}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    mode_help = FIELDS["mode"]["description"]
    for price in prices.values():
        assert f"${price * 1000:.2f} per 1,000" in readme
        assert f"${price * 1000:.2f} per 1,000" in mode_help
    assert f"${prices['url']:.4f}" in FIELDS["maxUrls"]["description"]
    assert f"${prices['change']:.3f}" in FIELDS["maxChanges"]["description"]


def test_events_have_the_shape_the_platform_takes() -> None:
    for facts in load("pay_per_event.json").values():
        assert set(facts) == {"eventTitle", "eventDescription", "eventPriceUsd"}


# --- the image


def dockerfile() -> list[list[str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_the_files_that_the_definition_names_are_there() -> None:
    actor = SCHEMAS["actor"]
    named = [actor[name] for name in ("dockerfile", "readme", "changelog", "input", "output")]
    named += list(actor["storages"].values())
    assert [name for name in named if not (ACTOR / name).resolve().is_file()] == []


def test_the_image_copies_what_is_there() -> None:
    sources = [
        source
        for words in dockerfile()
        if words[0] == "COPY"
        for source in [word for word in words[1:] if not word.startswith("--")][:-1]
    ]
    assert sources == ["requirements.txt", "scrapy.cfg", "sitemap_actor"]
    let_through = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in let_through


def test_the_image_runs_the_package_as_myuser() -> None:
    words = dockerfile()
    assert words[0] == ["FROM", "apify/actor-python:3.13"]
    assert [line[1] for line in words if line[0] == "USER"][-1] == "myuser"
    assert all("--chown=myuser:myuser" in line for line in words if line[0] == "COPY")
    assert " ".join(words[-1]) == 'CMD ["python", "-m", "sitemap_actor"]'
    assert (ROOT / "sitemap_actor" / "__main__.py").is_file()


# --- the pins


def test_python_libraries_are_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins = [line.partition("#")[0].strip() for line in lines if line.strip() and not line.startswith(("#", "-r"))]
        assert pins
        assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9-]+==[0-9.]+", pin)] == []


def test_npm_packages_are_pinned_by_name_alone() -> None:
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert [v for v in package["devDependencies"].values() if not re.fullmatch(r"\d+\.\d+\.\d+", v)] == []
    assert not (ROOT / "package-lock.json").exists()
