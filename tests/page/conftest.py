"""A real browser for the page: Debian's Chromium, driven by playwright. Nothing it asks for leaves this process."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from sitemap_actor.core.report import RunReport
from sitemap_actor.exporters.page import page_bytes
from tests.page.runs import NOW

ADDRESS = "http://report.test/REPORT.html"
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str:
    """Where the browser is."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "the page is tested in Debian's Chromium: apt-get install chromium"
    return path


@dataclass
class Shown:
    """A page in the browser: what it said on the console, what it tried to ask for, and what of that its policy let out."""

    page: Page
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    let_out: list[str] = field(default_factory=list)

    def width(self) -> int:
        """How wide the document is laid out, in pixels."""
        return int(self.page.evaluate("document.documentElement.scrollWidth"))

    def open_folds(self) -> None:
        """Open every fold, as a reader could."""
        self.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")


Show = Callable[..., Shown]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser, for one file of tests: while playwright lives, its event loop keeps asyncio's tests from having theirs."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Show a report's page: `show(report, width=360, scheme="dark")`."""
    contexts = []

    def shown(
        report: RunReport,
        *,
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        bypass_csp: bool = False,
        scripts: bool = True,
    ) -> Shown:
        body = page_bytes(report, NOW)
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            bypass_csp=bypass_csp,
            java_script_enabled=scripts,
        )
        contexts.append(context)
        seen = Shown(context.new_page())

        def answer(route: Route) -> None:
            seen.let_out.append(route.request.url)
            if route.request.url == ADDRESS:
                route.fulfill(body=body, content_type="text/html; charset=utf-8")
            else:
                route.abort()

        context.route("**/*", answer)
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.on("console", lambda message: seen.console.append(message.text))
        seen.page.on("pageerror", lambda error: seen.console.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.console.append(f"dialog {dialog.message}"), dialog.dismiss()))
        seen.page.goto(ADDRESS)
        return seen

    yield shown
    for context in contexts:
        context.close()
