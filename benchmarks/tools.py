"""The tools beside which the product is measured, and where they are installed: below build/bench, each on its own.

What is not there yet is installed by `install`; with `offline`, only what is there takes part.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "bench"
PEERS = HERE / "peers"


@dataclass(frozen=True)
class Tool:
    """A runner, the packages it needs in an environment of its own (none: this project's environment has them), and what
    `letters` of the workloads it is run on. `without` says what its rows lack.
    """

    name: str
    packages: tuple[str, ...] = ()
    letters: str = "abcdenh"
    without: str = ""
    once: str = ""
    """The workloads on which it is measured in the first round only, because it takes minutes."""

    @property
    def node(self) -> bool:
        return self.name.startswith("npm_")

    @property
    def environment(self) -> str:
        return "node" if self.node else self.packages[0].partition("==")[0] if self.packages else ""

    def installed(self) -> bool:
        return not self.environment or (BUILD / self.environment / ".installed").exists()

    def command(self, origin: str, name: str, out: Path) -> list[str]:
        arguments = [origin, name, str(out)]
        if self.node:
            return ["node", str(PEERS / f"{self.name}.mjs"), *arguments, str(BUILD / "node")]
        python = str(BUILD / self.environment / "bin" / "python") if self.environment else sys.executable
        return [python, str(PEERS / f"{self.name}.py"), *arguments]


_CRAWLEE = ("crawlee==1.11.0", "httpx")
TOOLS = (
    Tool("scrapy_items", once="c"),
    Tool("scrapy_filter"),
    Tool("usp_tree", ("ultimate-sitemap-parser==1.8.1",)),
    Tool("advertools_df", ("advertools==0.18.0",)),
    Tool("crawlee_parse", _CRAWLEE),
    Tool("crawlee_loader", _CRAWLEE, letters="a", once="a", without="lastmod"),
    Tool("trafilatura_search", ("trafilatura==2.3.1",), without="lastmod"),
    Tool("npm_crawlee"),
    Tool("npm_sitemap"),
    Tool("npm_sitemapper"),
    Tool("npm_stream_parser", without="lastmod"),
)


def install() -> None:
    """Install what is missing; a tool that cannot be installed is left out, and said so."""
    for tool in TOOLS:
        if not tool.installed():
            try:
                _install(tool)
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"{tool.name} is left out: {error}", file=sys.stderr)


def _install(tool: Tool) -> None:
    folder = BUILD / tool.environment
    folder.mkdir(parents=True, exist_ok=True)
    print(f"installing {tool.environment} ...", file=sys.stderr, flush=True)
    if tool.node:
        if shutil.which("npm") is None:
            subprocess.run(["sh", str(ROOT / ".ci" / "apt"), "nodejs", "npm"], check=True)
        shutil.copy(PEERS / "package.json", folder)
        command = [
            "npm",
            "install",
            "--ignore-scripts",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]
        subprocess.run(command, cwd=folder, check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *tool.packages], check=True)
    (folder / ".installed").touch()
