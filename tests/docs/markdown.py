"""Reads what the tests need out of the project's Markdown: sections, tables, code spans, fenced blocks, links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Block:
    """A fenced block of code: its language and its text."""

    language: str
    text: str


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def documents() -> list[str]:
    """The Markdown documents of the repository, by their path from its root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def section(text: str, title: str) -> str:
    """What stands under the heading `title`, its own sub-headings included."""
    heading = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert heading is not None, f"no section {title!r}"
    after = text[heading.end() :]
    end = re.search(rf"^#{{1,{len(heading[1])}}} ", after, re.MULTILINE)
    return after[: end.start()] if end else after


def tables(text: str) -> list[list[dict[str, str]]]:
    """Every table as rows by column heading."""
    found: list[list[dict[str, str]]] = []
    lines: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in _CELL.split(line)[1:-1]])
        elif lines:
            head, _rule, *rows = lines
            found.append([dict(zip(head, row, strict=True)) for row in rows])
            lines = []
    return found


def table(text: str, first_heading: str) -> list[dict[str, str]]:
    """The one table whose first column has this heading."""
    (found,) = [rows for rows in tables(text) if next(iter(rows[0])) == first_heading]
    return found


def blocks(text: str, language: str | None = None) -> list[Block]:
    found = [Block(*match.groups()) for match in _FENCE.finditer(text)]
    return [block for block in found if language is None or block.language == language]


def spans(text: str) -> list[str]:
    """The `code spans` of the prose, without fenced blocks."""
    return re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))
