"""The layers of the package (docs: arrows point down only), read from the imports of every module.

actor/   jobs/                         implement the ports; neither knows the other
spiders/ middlewares/ pipelines/ ...   Scrapy
core/                                  bytes and values in, values out
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sitemap_actor"

PLATFORMS = {"actor", "jobs"}
PLATFORM_LIBRARIES = {"apify", "apify_client", "apify_shared", "crawlee"}
# Scrapy and sockets, the clock and the logger, other processes and chance: what core may not know.
OUTSIDE_CORE = PLATFORM_LIBRARIES | {
    "scrapy", "twisted", "aiohttp", "itemadapter", "tqdm", "jinja2", "asyncio", "socket", "ssl", "select", "selectors",
    "http", "urllib.request", "subprocess", "multiprocessing", "threading", "signal", "time", "sched", "logging",
    "random", "secrets",
}  # fmt: skip
CLOCK_CALLS = {"now", "utcnow", "today"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def layer(module: str) -> str:
    """The folder of the package that a dotted module name stands in; '' for modules at the top."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else ""


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(file: Path) -> Iterator[str]:
    """Every module that `file` imports, wherever in it; `from a import b` counts as a.b, which may be a module."""
    package = name_of(file).split(".") if file.name == "__init__.py" else name_of(file).split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def breach(importer: str, imported: str) -> str | None:
    """Why `importer` may not import `imported`, or None."""
    here, there = layer(importer), layer(imported)
    library = imported.split(".", maxsplit=1)[0]
    if library != "sitemap_actor":
        if here == "core" and any(imported == name or imported.startswith(f"{name}.") for name in OUTSIDE_CORE):
            return "core is pure"
        if library in PLATFORM_LIBRARIES and here != "actor":
            return "only actor/ knows Apify"
        return None
    if there == "demo" and here != "demo":
        return "demo is a tool on top"
    if here == "core" and there != "core":
        return "core knows nothing above it"
    if there in PLATFORMS and here not in {there, "demo"} and importer != "sitemap_actor.__main__":
        return "arrows point down only"
    if here == "demo" and there != "demo":
        return "demo starts the product as a user does"
    return None


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("sitemap_actor.core.rows", "scrapy.http"),
        ("sitemap_actor.core.robots", "urllib.request"),
        ("sitemap_actor.core.rows", "logging"),
        ("sitemap_actor.core.rows", "sitemap_actor.download.gate"),
        ("sitemap_actor.core.rows", "sitemap_actor.run.Run"),
        ("sitemap_actor.pipelines.deliver", "apify"),
        ("sitemap_actor.pipelines.deliver", "sitemap_actor.actor.sink"),
        ("sitemap_actor.settings", "sitemap_actor.jobs.files"),
        ("sitemap_actor.actor.sink", "sitemap_actor.jobs.files"),
        ("sitemap_actor.jobs.files", "sitemap_actor.actor.stores"),
        ("sitemap_actor.jobs.files", "sitemap_actor.demo.site"),
    ],
)
def test_an_arrow_that_points_up_is_seen(importer: str, imported: str) -> None:
    assert breach(importer, imported) is not None


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("sitemap_actor.core.robots", "protego.Protego"),
        ("sitemap_actor.core.urls", "urllib.parse.urlsplit"),
        ("sitemap_actor.pipelines.deliver", "sitemap_actor.core.ports.Sink"),
        ("sitemap_actor.actor.sink", "apify.Actor"),
        ("sitemap_actor.actor.main", "sitemap_actor.spiders.sitemap"),
        ("sitemap_actor.__main__", "sitemap_actor.actor.main"),
    ],
)
def test_an_arrow_that_points_down_is_free(importer: str, imported: str) -> None:
    assert breach(importer, imported) is None


def test_arrows_point_down_only() -> None:
    found = {(name_of(file), imported) for file in MODULES for imported in imports(file)}
    assert len(found) > len(MODULES)  # the walk saw something
    assert [f"{a} imports {b}: {why}" for a, b in sorted(found) if (why := breach(a, b))] == []


def test_core_does_not_look_at_the_clock() -> None:
    looks = [
        f"{name_of(file)}:{node.lineno}"
        for file in MODULES
        if layer(name_of(file)) == "core"
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_CALLS
    ]
    assert looks == []


def test_the_mode_is_read_in_job_alone() -> None:
    """Everywhere else a component is there or not, and numbers come from the job's table."""
    compared = [
        f"{name_of(file)}:{node.lineno}"
        for file in MODULES
        if name_of(file) != "sitemap_actor.core.job"
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if (isinstance(side, ast.Attribute) and side.attr == "mode")
        or (isinstance(side, ast.Attribute) and isinstance(side.value, ast.Name) and side.value.id == "Mode")
    ]
    assert compared == []


def test_scrapy_list_does_not_import_apify() -> None:
    code = (
        "import sys\n"
        "from scrapy.cmdline import execute\n"
        "try:\n"
        "    execute(['scrapy', 'list'])\n"
        "except SystemExit as ended:\n"
        "    print('exit', ended.code)\n"
        f"print('loaded', sorted({{m.split('.')[0] for m in sys.modules}} & {PLATFORM_LIBRARIES!r}))\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCRAPY_", "APIFY_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=180
    )
    assert done.stdout.splitlines() == ["sitemap", "exit 0", "loaded []"], done.stderr
