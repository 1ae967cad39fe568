"""REPORT.html in a real browser: what is seen, in both widths and both colour schemes, and that nothing runs or leaves."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from sitemap_actor.core.report import RunReport
from tests.page import runs
from tests.page.conftest import ADDRESS, Show

AXE = Path("node_modules/axe-core/axe.min.js")
RUNS = [runs.complete_run, runs.extract_run, runs.monitor_run, runs.problem_run, runs.stopped_run, runs.hostile_run]


def name(build: Callable[[], RunReport]) -> str:
    return build.__name__.removesuffix("_run")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("build", RUNS, ids=name)
def test_page_fits_says_nothing_and_asks_for_nothing(
    build: Callable[[], RunReport], width: int, scheme: str, show: Show
) -> None:
    shown = show(build(), width=width, scheme=scheme)
    shown.open_folds()
    assert shown.width() == width
    assert shown.console == []
    assert shown.asked == [ADDRESS]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
@pytest.mark.parametrize("build", [*RUNS, runs.empty_monitor_run, runs.running_run], ids=name)
def test_axe_finds_no_violation(build: Callable[[], RunReport], width: int, scheme: str, show: Show) -> None:
    shown = show(build(), width=width, scheme=scheme, bypass_csp=True)
    shown.open_folds()
    shown.page.evaluate(AXE.read_text("utf-8"))
    found = shown.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert found["violations"] == []
    assert len(found["passes"]) > 10


def test_axe_can_find_something(show: Show) -> None:
    shown = show(runs.complete_run(), bypass_csp=True)
    shown.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color:#ccc;background:#fff\">pale</p>')"
    )
    shown.page.evaluate(AXE.read_text("utf-8"))
    found = shown.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert [violation["id"] for violation in found["violations"]] == ["color-contrast", "region"]


def test_everything_is_readable_without_script(show: Show) -> None:
    shown = show(runs.extract_run(), scripts=False)
    assert shown.page.get_by_role("heading", level=1).inner_text() == "9,472 URLs from 4 sites"
    fold = shown.page.get_by_text("39 addresses")
    assert not shown.page.get_by_text("https://shop.example.com/cart/7", exact=True).is_visible()
    fold.click()
    assert shown.page.get_by_text("https://shop.example.com/cart/7", exact=True).is_visible()


def test_style_sheet_is_let_in_by_its_hash_and_nothing_else_is(show: Show) -> None:
    shown = show(runs.complete_run())
    assert shown.page.evaluate("getComputedStyle(document.querySelector('.pill')).borderTopLeftRadius") == "99px"
    shown.page.evaluate(
        """() => {
            const add = (name, values) => document.body.append(Object.assign(document.createElement(name), values));
            add('style', { textContent: 'h1 { color: rgb(1, 2, 3) }' });
            add('script', { textContent: 'document.title = "owned"' });
            add('img', { src: 'http://elsewhere.test/x.png' });
        }"""
    )
    assert shown.page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
    assert "owned" not in shown.page.title()
    assert shown.let_out == [ADDRESS]
    assert len([text for text in shown.console if "Content Security Policy" in text]) == 3


def test_schemes_differ_and_follow_the_reader(show: Show) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    assert show(runs.complete_run(), scheme="light").page.evaluate(background) == "rgb(251, 250, 247)"
    assert show(runs.complete_run(), scheme="dark").page.evaluate(background) == "rgb(18, 20, 23)"


def test_hostile_text_neither_runs_nor_becomes_markup_nor_a_wrong_link(show: Show) -> None:
    shown = show(runs.hostile_run())
    shown.open_folds()
    assert "owned" not in shown.page.title().split("–")[-1]
    assert shown.page.evaluate("document.querySelectorAll('script, img, iframe, object, form').length") == 0
    hrefs = shown.page.evaluate("[...document.querySelectorAll('a')].map(link => link.href)")
    assert hrefs
    assert all(href.startswith(("http://", "https://")) for href in hrefs)
    attributes = shown.page.evaluate("[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())")
    assert not [attribute for attribute in attributes if attribute.startswith("on")]


def test_right_to_left_text_leaves_the_rest_of_the_line_where_it_is(show: Show) -> None:
    shown = show(runs.hostile_run())
    shown.open_folds()
    text = shown.page.locator("main").inner_text()
    assert not set("\u202e\u202c\u2066\u200f") & set(text)
    assert "⟨U+202E⟩gpj.exe" in text
    row = shown.page.locator(".files tbody tr").filter(has_text="gpj.exe").first
    name_box, cell_box = row.locator("th").bounding_box(), row.locator("td").first.bounding_box()
    assert name_box
    assert cell_box
    assert cell_box["x"] >= name_box["x"] + name_box["width"] - 1


@pytest.mark.parametrize("width", [360, 1280])
def test_huge_run_is_laid_out_too(width: int, show: Show) -> None:
    shown = show(runs.huge_run(), width=width)
    assert shown.width() == width
    assert shown.console == []


def test_keyboard_reaches_the_report_and_its_folds_with_a_visible_focus(show: Show) -> None:
    shown = show(runs.extract_run())
    shown.page.keyboard.press("Tab")
    assert shown.page.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert shown.page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    shown.page.locator("summary").first.focus()
    shown.page.keyboard.press("Enter")
    assert shown.page.evaluate("document.querySelector('details').open") is True
    assert shown.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_headings_are_in_order_and_landmarks_are_there(show: Show) -> None:
    for build in (runs.extract_run, runs.monitor_run, runs.problem_run):
        shown = show(build())
        levels = shown.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        for role in ("banner", "main", "contentinfo", "navigation"):
            assert shown.page.get_by_role(role).count() == 1
        targets = shown.page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash)")
        assert targets
        assert [target for target in targets if not shown.page.locator(target).count()] == []


def test_tables_keep_their_meaning_on_a_narrow_screen(show: Show) -> None:
    shown = show(runs.extract_run(), width=360)
    row = shown.page.get_by_role("row").filter(has_text="https://docs.example.com/").first
    assert row.get_by_role("rowheader").count() == 1
    assert row.get_by_role("cell").filter(has_text="2,412").count() == 1


def test_it_prints_in_black_on_white_without_its_navigation(show: Show) -> None:
    shown = show(runs.extract_run(), scheme="dark")
    shown.page.emulate_media(media="print")
    assert shown.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not shown.page.get_by_role("navigation").is_visible()
    assert shown.page.pdf()[:4] == b"%PDF"
