"""What being an Actor changes in the settings, and what reaches the log."""

import logging

import pytest

from sitemap_actor.actor.overlay import RunLogFormatter, allows_private, settings_of_the_actor
from sitemap_actor.actor.stores import store_name

ALLOW = "SITEMAP_ALLOW_PRIVATE_ADDRESSES"


@pytest.mark.parametrize(
    ("env", "at_home", "allowed"),
    [
        ({}, False, False),
        ({ALLOW: "0"}, False, False),
        ({ALLOW: "1"}, False, True),
        ({ALLOW: "1"}, True, False),
        ({ALLOW: "1", "APIFY_API_BASE_URL": "https://api.apify.com"}, True, False),
        ({ALLOW: "1", "APIFY_API_BASE_URL": "http://10.0.0.1:8010"}, True, False),
        ({ALLOW: "1", "APIFY_API_BASE_URL": "http://127.0.0.1.example.com"}, True, False),
        ({ALLOW: "1", "APIFY_API_BASE_URL": "http://127.0.0.1:8010"}, True, True),
        ({ALLOW: "1", "APIFY_API_BASE_URL": "http://[::1]:8010"}, True, True),
        ({"APIFY_API_BASE_URL": "http://127.0.0.1:8010"}, True, False),
    ],
)
def test_private_addresses_at_home_only_where_the_api_is_on_loopback(
    env: dict[str, str], at_home: bool, allowed: bool
) -> None:
    assert allows_private(env, at_home=at_home) is allowed
    assert settings_of_the_actor(env, at_home=at_home).getbool(ALLOW) is allowed


def test_the_overlay_changes_ports_and_reactor_and_nothing_of_the_conduct() -> None:
    plain, actor = (settings_of_the_actor({}, at_home=where) for where in (False, True))
    changed = {name for name in actor if actor[name] != plain[name]}
    assert changed == {"SITEMAP_SINK", "SITEMAP_RECORD_STORE", "SITEMAP_STATE_STORE", "EXTENSIONS"}
    assert not actor.getbool("TWISTED_REACTOR_ENABLED")


def test_the_store_of_the_state_has_the_name_of_the_spec() -> None:
    assert store_name("default") == "sitemap-monitor-default-state"


def test_the_token_never_reaches_a_log_line() -> None:
    formatter = RunLogFormatter("tok-123")
    try:
        raise ValueError("bearer tok-123")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "f", 1, "with %s", ("tok-123",), (type(error), error, None))
    record.__dict__["url"] = "https://x.example/?token=tok-123"
    text = formatter.format(record)
    assert "tok-123" not in text
    assert text.count("(token)") == 3
