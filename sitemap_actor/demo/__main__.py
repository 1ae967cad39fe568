"""`python -m sitemap_actor.demo`: serve the demo site, or run a job on it or on sites of your own."""

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path

from sitemap_actor.demo import runs, site


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    options = _parser().parse_args(argv)
    with contextlib.suppress(KeyboardInterrupt):
        match options.command:
            case "run" if options.sites:
                return asyncio.run(runs.run_sites(_split(options.sites), options.arguments, options.out))
            case "run":
                return asyncio.run(runs.run_demo(options.arguments, options.out))
            case "monitor":
                return asyncio.run(runs.run_two_days(options.arguments, options.out))
            case _:
                asyncio.run(runs.serve(options.day))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sitemap_actor.demo", description=__doc__)
    parser.set_defaults(command="serve", day=1)
    commands = parser.add_subparsers()
    serve = commands.add_parser("serve", help="serve the demo site until interrupted (the default)")
    serve.add_argument("--day", type=int, choices=site.DAYS, default=1, help="which of its two days it shows")
    run = commands.add_parser("run", help="list the URLs of the demo site, or of --sites")
    run.add_argument("--sites", default="", help="sites to read instead, separated by commas or spaces")
    run.set_defaults(command="run")
    monitor = commands.add_parser("monitor", help="monitor the demo site on two days and show the changes")
    monitor.set_defaults(command="monitor")
    for command, out in ((run, "out"), (monitor, "out/monitor")):
        command.add_argument("--out", type=Path, default=Path(out), help=f"folder for the results (default: {out})")
        command.add_argument(
            "-a", dest="arguments", action="append", default=[], metavar="NAME=VALUE", help="a further spider argument"
        )
    return parser


def _split(sites: str) -> list[str]:
    return sites.replace(",", " ").split()


if __name__ == "__main__":
    sys.exit(main())
