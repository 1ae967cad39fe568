"""Takes the screenshots of docs/screenshots: `python -m tests.page.screenshots`. Look at them afterwards."""

import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.page import page_bytes
from tests.page import runs
from tests.page.conftest import ARGUMENTS, chromium

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SHOTS: list[tuple[str, RunReport, int, int, Literal["light", "dark"], str]] = [
    ("report", runs.extract_run(), 1280, 960, "light", ""),
    ("report-sites", runs.extract_run(), 1280, 900, "light", "#sites"),
    ("report-urls", runs.extract_run(), 1280, 960, "light", "#urls"),
    ("report-monitor-dark", runs.monitor_run(), 1280, 960, "dark", ""),
    ("report-phone", runs.monitor_run(), 390, 844, "light", ""),
    ("report-input-problem", runs.problem_run(), 1280, 640, "light", ""),
]


def main() -> None:
    """Write every screenshot."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        for name, report, width, height, scheme, part in SHOTS:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_content(page_bytes(report, runs.NOW).decode())
            if part:
                page.evaluate("part => document.querySelector(part).scrollIntoView()", part)
            page.screenshot(path=FOLDER / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
