"""The whole tool against the fake platform: runs are started once, a few at a time, and gathered."""

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from scaleout.__main__ import main
from tests.actor.fake_platform import TOKEN
from tests.scaleout.runs_platform import ACTOR, RunsPlatform, broken_report, report_of

SITES = [f"site-{number}.example" for number in range(11)] + ["bad.example"]
START = r"/runs$"


@pytest.fixture
async def platform(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunsPlatform]:
    async with RunsPlatform() as fake:
        monkeypatch.setenv("APIFY_TOKEN", TOKEN)
        monkeypatch.setenv("APIFY_API_BASE_URL", f"http://127.0.0.1:{fake.port}")
        yield fake


class Tool:
    """The command line in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.list = folder / "sites.txt"
        self.list.write_text("\n".join(SITES))
        self.input = folder / "input.json"
        self.input.write_text('{"maxUrls": 5000}')
        self.out = folder / "out"

    async def __call__(self, *more: str) -> int:
        command = [str(self.list), "--actor", ACTOR, "--input", str(self.input), "--out", str(self.out)]
        quick = ["--parts", "4", "--poll-secs", "0", "--settle-secs", "0"]
        return await asyncio.to_thread(main, [*command, *quick, *more])

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.out / "REPORT.json").read_text())
        return report

    @property
    def ledger(self) -> dict[str, Any]:
        ledger: dict[str, Any] = json.loads((self.out / "ledger.json").read_text())
        return ledger

    def interrupt(self, **changes: Any) -> None:
        """Put the ledger back to how an interrupted process leaves it: the first part with `changes`."""
        ledger = self.ledger
        ledger["entries"][0] |= changes
        (self.out / "ledger.json").write_text(json.dumps(ledger))


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


async def test_parts_become_runs_and_their_reports_one(platform: RunsPlatform, tool: Tool) -> None:
    assert await tool() == 0
    given = platform.inputs()
    assert sorted(site for one in given for site in one["sites"]) == sorted(SITES)
    assert all(one["maxUrls"] == 5_000 for one in given)

    report = tool.report
    assert report["complete"] is True
    totals = report["totals"]
    assert (totals["sites"], totals["sitesByStatus"]) == (12, {"ok": 11, "failed": 1})
    assert (totals["counts"]["saved"], totals["counts"]["listed"], totals["charged"]["url"]) == (77, 77, 77)
    assert totals["skipsByReason"] == {"timeout": 1}
    assert sum(part["saved"] for part in report["parts"]) == 77
    assert {part["run"] for part in report["parts"]} == {run["id"] for run in platform.started}
    assert [(one["site"], one["why"]) for one in report["failures"]] == [
        ("https://bad.example/", "No sitemap could be read: no answer in time.")
    ]
    with (tool.out / "sites.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert sorted(line["site"] for line in lines) == sorted(f"https://{site}" for site in SITES)


async def test_no_more_runs_at_once_than_asked_for(platform: RunsPlatform, tool: Tool) -> None:
    platform.lasts = 6
    assert await tool("--at-once", "2") == 0
    assert len(platform.started) == 4
    assert platform.most_at_once == 2


async def test_the_same_command_again_starts_nothing(platform: RunsPlatform, tool: Tool) -> None:
    assert await tool() == 0
    before = tool.report
    assert await tool() == 0
    assert len(platform.started) == 4
    assert tool.report == before


async def test_a_run_that_was_started_before_an_interruption_is_gathered(platform: RunsPlatform, tool: Tool) -> None:
    assert await tool() == 0
    before = tool.report
    tool.interrupt(step="started", outcome=None)
    assert await tool() == 0
    assert len(platform.started) == 4
    assert tool.report == before


async def test_a_start_that_an_interruption_hides_is_found_again(platform: RunsPlatform, tool: Tool) -> None:
    assert await tool() == 0
    before = tool.report
    tool.interrupt(step="starting", run=None, outcome=None)
    assert await tool() == 0
    assert len(platform.started) == 4
    assert tool.report == before


@pytest.mark.parametrize(("action", "answers"), [("lost", 1), ("error", 2)])
async def test_a_lost_answer_starts_no_run_twice(platform: RunsPlatform, tool: Tool, action: Any, answers: int) -> None:
    platform.fail("POST", START, action, skip=1, status=502)
    assert await tool("--at-once", "1") == 0
    assert len(platform.started) == 4
    assert len(platform.paths("POST", START)) == 3 + answers
    assert tool.report["totals"]["counts"]["saved"] == 77


async def test_a_refusal_stops_and_says_why(
    platform: RunsPlatform, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.fail("POST", START, "error", skip=1, status=402)
    assert await tool("--at-once", "1") == 2
    assert "Stopped: Apify refused to start" in capsys.readouterr().out
    assert len(platform.started) == 1
    assert tool.report["complete"] is False
    assert await tool() == 0  # and goes on
    assert len(platform.started) == 4


async def test_a_failed_run_is_told_and_started_again_only_when_asked(platform: RunsPlatform, tool: Tool) -> None:
    platform.report, platform.outcome = broken_report, "FAILED"
    assert await tool() == 1
    report = tool.report
    assert report["totals"]["sitesByStatus"] == {"failed": 12}
    assert report["failures"][0]["why"].endswith("ended as FAILED: The run failed: an internal error.")
    assert await tool() == 1
    assert len(platform.started) == 4

    platform.report, platform.outcome = report_of, "SUCCEEDED"
    assert await tool("--retry-failed") == 0
    assert len(platform.started) == 8
    assert tool.report["totals"]["counts"]["saved"] == 77


async def test_a_run_without_a_report_fails_each_of_its_sites(platform: RunsPlatform, tool: Tool) -> None:
    platform.report = lambda given: None
    assert await tool() == 1
    report = tool.report
    assert [part["result"] for part in report["parts"]] == [None] * len(report["parts"])
    assert {one["site"] for one in report["failures"] if one["site"]} == set(SITES)


async def test_monitor_mode_has_a_memory_for_each_part(platform: RunsPlatform, tool: Tool) -> None:
    tool.input.write_text('{"mode": "monitor", "stateKey": "shops"}')
    assert await tool() == 0
    keys = [one["stateKey"] for one in platform.inputs()]
    assert sorted(keys) == sorted(f"shops-{entry['number']}" for entry in tool.ledger["entries"])
    assert len(set(keys)) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sites": ["a.example"]}', "without sites"),
        ("[1]", "must be an object"),
        ("{", "is not JSON"),
        ('{"mode": "both"}', "mode:"),
        ('{"changedSince": "soon"}', "changedSince:"),
    ],
)
async def test_an_input_that_makes_no_run_starts_none(
    platform: RunsPlatform, tool: Tool, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    tool.input.write_text(text)
    assert await tool() == 2
    assert said in capsys.readouterr().out
    assert platform.started == []


async def test_monitor_mode_wants_a_fixed_number_of_parts(
    platform: RunsPlatform, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    tool.input.write_text('{"mode": "monitor"}')
    code = await asyncio.to_thread(main, [str(tool.list), "--actor", ACTOR, "--input", str(tool.input)])
    assert (code, platform.started) == (2, [])
    assert "needs --parts" in capsys.readouterr().out


async def test_a_folder_holds_one_gathering(
    platform: RunsPlatform, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await tool() == 0
    tool.list.write_text("another.example")
    assert await tool() == 2
    assert "choose another --out" in capsys.readouterr().out
    assert len(platform.started) == 4


async def test_lines_that_are_no_site_are_told(platform: RunsPlatform, tool: Tool) -> None:
    tool.list.write_text("a.example\nftp://b.example\n")
    assert await tool() == 0
    assert tool.report["failures"] == [
        {"site": "ftp://b.example", "part": None, "why": "unsupported_scheme: scheme ftp"}
    ]


async def test_the_token_is_in_no_file_and_no_line(
    platform: RunsPlatform, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await tool() == 0
    printed = capsys.readouterr()
    written = [file.read_text() for file in tool.out.rglob("*") if file.is_file()]
    assert len(written) >= 4
    assert all(TOKEN not in text for text in [*written, printed.out, printed.err])
