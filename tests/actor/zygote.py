"""Starts Actor processes cheaply: everything is imported once, each run is a fork of that, and goes through `__main__`.

`python -m tests.actor.zygote SOCKET` listens on a Unix socket. A connection is one run: a line of JSON with `env`, `cwd` and
`log` comes in; `pid N` goes out at once, `code N CPU` when the process has ended (negative:
the signal that killed it) after so many seconds of the processor.
"""

import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import warnings
from importlib import import_module

import sitemap_actor
import sitemap_actor.settings
from sitemap_actor.exporters import page

_BY_NAME = (
    "core.downloader",
    "core.engine",
    "downloadermiddlewares.stats",
    "dupefilters",
    "extensions.logstats",
    "squeues",
)
"""What Scrapy loads by name when a crawl begins."""


def _import_everything() -> None:
    for module in pkgutil.walk_packages(sitemap_actor.__path__, "sitemap_actor."):
        if "__main__" not in module.name:
            import_module(module.name)
    for name in _BY_NAME:
        import_module(f"scrapy.{name}")
    page.template()


def _run(order: dict[str, object]) -> None:
    """Be the Actor: the environment and the folder of the order, the log into its file."""
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sitemap_actor.settings.SITEMAP_MIN_GAP_SECS = order.get("gap", 0)
    sitemap_actor.settings.SITEMAP_LEASE_WAIT_SECS = 0.0
    sys.argv = ["sitemap_actor"]
    code = 0
    try:
        with warnings.catch_warnings(action="ignore"):
            runpy.run_module("sitemap_actor", run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 99
    sys.stderr.flush()
    os._exit(code)


def _keep(connection: socket.socket) -> None:
    """Start one run, tell its process id, wait for its end, tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    order = json.loads(connection.makefile().readline())
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(order)
    connection.sendall(f"pid {pid}\n".encode())
    _, status, used = os.wait4(pid, 0)
    cpu = used.ru_utime + used.ru_stime
    connection.sendall(f"code {os.waitstatus_to_exitcode(status)} {cpu:.3f}\n".encode())
    os._exit(0)


def main(path: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    _import_everything()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _keep(connection)
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1])
