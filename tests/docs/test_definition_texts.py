"""The texts of .actor, which people read in a form and agents read to choose a tool: true prices, names that exist, whole sentences."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from sitemap_actor.core.job import Job
from tests.docs import markdown

FILES = ("actor", "input_schema", "dataset_schema", "key_value_store_schema", "output_schema", "pay_per_event")
PER_THOUSAND = {
    f"{event['eventPriceUsd'] * 1000:.2f}" for event in json.loads(markdown.read(".actor/pay_per_event.json")).values()
}


def descriptions(value: Any) -> Iterator[str]:
    """Every text under `description` or `eventDescription`, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in {"description", "sectionDescription", "eventDescription"} and isinstance(inner, str):
                yield inner
            yield from descriptions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from descriptions(inner)


TEXTS = [(name, text) for name in FILES for text in descriptions(json.loads(markdown.read(f".actor/{name}.json")))]


def test_everything_is_described() -> None:
    fields = json.loads(markdown.read(".actor/input_schema.json"))["properties"]
    assert [name for name in Job.fields() if len(fields[name]["description"]) < 60] == []
    rows = json.loads(markdown.read(".actor/dataset_schema.json"))["fields"]["properties"]
    assert [name for name, row in rows.items() if not row.get("description")] == []
    outputs = json.loads(markdown.read(".actor/output_schema.json"))["properties"]
    assert [name for name, output in outputs.items() if not output.get("description")] == []


@pytest.mark.parametrize(("file", "text"), TEXTS)
def test_a_description_is_whole_sentences(file: str, text: str) -> None:
    assert re.match(r"[A-Z0-9*]", text) or text.startswith("https://"), file
    assert text.endswith("."), file
    assert "  " not in text


@pytest.mark.parametrize(("file", "text"), [(file, text) for file, text in TEXTS if "$" in text])
def test_prices_in_descriptions_are_those_of_the_events(file: str, text: str) -> None:
    prices = re.findall(r"\$([\d.]*\d)( per 1,000)?", text)
    assert prices
    for price, per_thousand in prices:
        assert (price if per_thousand else f"{float(price) * 1000:.2f}") in PER_THOUSAND, file


def test_the_actor_is_described_in_a_few_lines_with_both_prices() -> None:
    text = json.loads(markdown.read(".actor/actor.json"))["description"]
    assert len(text) <= 300
    assert all(f"${price} per 1,000" in text for price in PER_THOUSAND)
