"""What being an Actor changes in the settings; nothing else in the project asks where it runs."""

import ipaddress
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from apify.log import ActorLogFormatter
from scrapy.settings import Settings
from typing_extensions import override

from sitemap_actor import settings as project

_AT_HOME = {
    "SITEMAP_SINK": "sitemap_actor.actor.sink.PlatformSink",
    "SITEMAP_RECORD_STORE": "sitemap_actor.actor.stores.PlatformRecordStore",
    "SITEMAP_STATE_STORE": "sitemap_actor.actor.stores.PlatformStateStore",
}
_ELSEWHERE = {
    "SITEMAP_SINK": "sitemap_actor.actor.sink.LocalSink",
    "SITEMAP_RECORD_STORE": "sitemap_actor.actor.stores.LocalRecordStore",
    "SITEMAP_STATE_STORE": "sitemap_actor.actor.stores.LocalStateStore",
}
_EXTENSIONS = {"sitemap_actor.actor.lifecycle.LifecycleExtension": 50}
_EXTENSIONS_AT_HOME = {"sitemap_actor.actor.resume.ResumeExtension": 25}  # after SettleExtension, which counts batches
_QUIET = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware", "scrapy.utils.log", "asyncio", "httpx", "websockets")
"""Loggers whose INFO lines say nothing about a run."""


def settings_of_the_actor(environment: Mapping[str, str], *, at_home: bool) -> Settings:
    """The project's settings with the Actor's overlay on them."""
    settings = Settings()
    settings.setmodule(project, priority="project")
    settings.setdict(_overlay(environment, at_home=at_home), priority="cmdline")
    return settings


def _overlay(environment: Mapping[str, str], *, at_home: bool) -> dict[str, Any]:
    return (_AT_HOME if at_home else _ELSEWHERE) | {
        "SITEMAP_ALLOW_PRIVATE_ADDRESSES": allows_private(environment, at_home=at_home),
        "SITEMAP_ROWS_AS_ITEMS": False,
        # `asyncio.run` instead of a reactor: exit codes are true, and nothing is left that could hang at the end.
        "TWISTED_REACTOR_ENABLED": False,
        "EXTENSIONS": project.EXTENSIONS | _EXTENSIONS | (_EXTENSIONS_AT_HOME if at_home else {}),
        "STATS_DUMP": False,  # REPORT has the figures
        "LOG_ENABLED": False,  # the SDK's handlers write the log
    }


def allows_private(environment: Mapping[str, str], *, at_home: bool) -> bool:
    """Whether private addresses may be read: as the operator says, but on the platform nothing allows it.

    At home the variable counts only where the platform's own API is on a loopback address, as it is in tests.
    """
    if environment.get("SITEMAP_ALLOW_PRIVATE_ADDRESSES") != "1":
        return False
    if not at_home:
        return True
    host = urlsplit(environment.get("APIFY_API_BASE_URL", "")).hostname
    return host is not None and _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class RunLogFormatter(ActorLogFormatter):
    """The SDK's format, without Scrapy's spider object, and without the API token, whoever should log it."""

    def __init__(self, secret: str | None) -> None:
        super().__init__()
        self._secret = secret

    @override
    def format(self, record: logging.LogRecord) -> str:
        record.__dict__.pop("spider", None)
        text = super().format(record)
        return text.replace(self._secret, "(token)") if self._secret else text


def set_up_logging(secret: str | None) -> None:
    """Let Scrapy's and our own log lines leave in the SDK's format, at INFO; `secret` never appears in any."""
    formatter = RunLogFormatter(secret)
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in ("apify", "apify_client", "crawlee"):
        for own in logging.getLogger(name).handlers:
            own.setFormatter(formatter)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
