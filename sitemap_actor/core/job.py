"""The job: the one validated form of the Actor's input and of `-a` spider arguments (spec section 1).

`Job.read` takes JSON values and strings alike. What makes the run meaningless raises `InputProblem`; a number out of range
is clamped and a field that is not known is left out, both told as adjustments; a bad entry of a list is skipped and told.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from sitemap_actor.core import conduct, lastmod, patterns, urls
from sitemap_actor.core.conduct import CONDUCT, Conduct, Mode
from sitemap_actor.core.errors import InputProblem
from sitemap_actor.core.reasons import SkipReason

MAX_LIST_ENTRIES = 1_000

Extension = Literal["alternates", "images", "videos", "news"]


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """What the input schema must say of a field too: its JSON type, default, limits and choices."""

    type: str
    default: Any
    minimum: int | None
    maximum: int | None
    choices: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A value that was not used as given (REPORT.adjustments)."""

    field: str
    value: Any
    used: Any
    message: str


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """An entry of a list that was not used (SKIPPED, stage `input`)."""

    field: str
    value: str
    reason: SkipReason
    detail: str


@dataclass(slots=True)
class Notes:
    """What reading the input noticed: problems stop the run, the rest is told in the records."""

    problems: list[InputProblem] = field(default_factory=list)
    adjustments: list[Adjustment] = field(default_factory=list)
    skipped: list[SkippedEntry] = field(default_factory=list)


class InputProblems(ValueError):
    """The input makes the run meaningless. `notes` holds every problem found, for REPORT."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(" ".join(problem.message for problem in notes.problems))
        self.notes = notes


@dataclass(frozen=True, slots=True)
class Site:
    """One site of the run: a host, or a sitemap given directly; each has its own state in monitor mode.

    `entry` is the host's root or the sitemap's URL; `key` its scheme and host. `discover`: robots.txt's Sitemap lines and
    the common paths are used.
    """

    key: str
    entry: str
    sitemap_urls: tuple[str, ...]
    discover: bool


class Job(BaseModel):
    """Every input field as used. Attribute names are the input's, in snake case."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, arbitrary_types_allowed=True, extra="forbid"
    )

    mode: Mode = Mode.EXTRACT
    sites: tuple[str, ...] = ()
    sitemap_urls: tuple[str, ...] = ()
    include_url_patterns: tuple[str, ...] = ()
    exclude_url_patterns: tuple[str, ...] = ()
    changed_since: str | None = None
    include_urls_without_lastmod: bool = False
    max_urls: int = Field(1_000, ge=1, le=500_000)
    max_urls_per_site: int | None = Field(None, ge=1, le=500_000)
    max_changes: int = Field(2_000, ge=1, le=20_000)
    include_existing: bool = False
    include_profile_urls: bool = False
    removal_confirm_runs: int = Field(1, ge=1, le=5)
    extensions: tuple[Extension, ...] = ()
    rolling_sitemaps: tuple[str, ...] = ()
    state_key: str = Field("default", pattern=r"^[a-z0-9-]{1,40}$")
    shrink_guard_percent: int = Field(50, ge=10, le=100)
    max_sitemaps: int | None = Field(None, ge=1, le=5_000)
    max_sitemap_depth: int = Field(3, ge=0, le=10)
    try_common_paths: bool = True
    request_timeout_secs: int = Field(30, ge=5, le=120)

    site_list: tuple[Site, ...] = Field((), exclude=True)
    changed_since_instant: float | None = Field(None, exclude=True)

    @field_validator("state_key", mode="after")
    @classmethod
    def _no_trailing_newline(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z0-9-]{1,40}", value):
            raise ValueError("only a-z, 0-9 and '-' are allowed")
        return value

    @property
    def conduct(self) -> Conduct:
        """The numbers that differ by mode."""
        return CONDUCT[self.mode]

    @property
    def sitemap_cap(self) -> int:
        """`maxSitemaps` as used: per run or per site, as `conduct.sitemap_cap_per_site` says."""
        return self.max_sitemaps or self.conduct.default_max_sitemaps

    @property
    def urls_per_site(self) -> int | None:
        """`maxUrlsPerSite` as used; None is no limit."""
        return self.max_urls_per_site or self.conduct.default_max_urls_per_site

    @property
    def row_cap(self) -> int | None:
        """`maxUrls`, where the run saves what is listed; a run that compares has `maxChanges` instead."""
        return None if self.conduct.remembers else self.max_urls

    @classmethod
    def fields(cls) -> dict[str, FieldFacts]:
        """The input fields by name, for whoever must agree with them (the Actor's input schema)."""
        return {name: _facts(info) for name, info in _input_fields().items()}

    @classmethod
    def read(cls, given: Mapping[str, Any], *, allow_private: bool = False) -> tuple["Job", Notes]:
        """Validate `given` (input field -> JSON value or string); return the job and what to tell.

        `allow_private` accepts private and local addresses (only where the operator allowed them).
        Raises `InputProblems` where the run would be meaningless.
        """
        notes = Notes()
        values = _coerced(given, notes)
        try:
            job = cls(**values)
        except ValidationError as error:
            notes.problems += [_problem_of(item, given) for item in error.errors()]
            raise InputProblems(notes) from error
        since = _since(job, notes)
        _check_patterns(job, notes)
        sites = _sites(job, notes, allow_private=allow_private)
        if notes.problems:
            raise InputProblems(notes)
        return job.model_copy(update={"site_list": sites, "changed_since_instant": since}), notes

    def settings(self) -> dict[str, Any]:
        """Every input field as used and the fixed caps, for REPORT."""
        used = self.model_dump(mode="json", by_alias=True)
        used["maxSitemaps"] = self.sitemap_cap
        used["maxUrlsPerSite"] = self.urls_per_site
        for name in ("sites", "sitemapUrls"):
            used[name] = [_shown(entry) for entry in used[name]]  # without passwords
        return used | {
            "userAgent": conduct.USER_AGENT,
            "maxFileBytes": conduct.MAX_FILE_BYTES,
            "maxRobotsTxtBytes": conduct.MAX_ROBOTS_BYTES,
            "maxRedirects": conduct.MAX_REDIRECTS,
            "maxOtherHosts": conduct.MAX_OTHER_HOSTS,
            "maxCrawlDelaySecs": conduct.MAX_CRAWL_DELAY_SECS,
            "minGapSecs": self.conduct.gap_secs,
            "sitesAtOnce": self.conduct.sites_at_once,
        }


def _input_fields() -> dict[str, FieldInfo]:
    return {to_camel(name): info for name, info in Job.model_fields.items() if not info.exclude}


def _limits(info: FieldInfo) -> tuple[int | None, int | None]:
    low = next((item.ge for item in info.metadata if hasattr(item, "ge")), None)
    high = next((item.le for item in info.metadata if hasattr(item, "le")), None)
    return low, high


_TYPES = {str: "string", Mode: "string", int: "integer", bool: "boolean"}


def _facts(info: FieldInfo) -> FieldFacts:
    kind = _kind(info)
    low, high = _limits(info)
    choices: tuple[str, ...] | None = None
    if kind is Mode:
        choices = tuple(Mode)
    elif info.annotation == tuple[Extension, ...]:
        choices = get_args(Extension)
    default = list(info.default) if isinstance(info.default, tuple) else info.default
    return FieldFacts(_TYPES.get(kind, "array"), default, low, high, choices)


def _kind(info: FieldInfo) -> type:
    """The plain type of a field: str, int, bool, Mode, or tuple for a list."""
    annotation: Any = info.annotation
    if isinstance(annotation, type) and annotation in _TYPES:
        return annotation
    plain = next((item for item in get_args(annotation) if item in (str, int)), None)
    is_list = getattr(annotation, "__origin__", None) is tuple
    return tuple if is_list or plain is None else plain


# --- values as given -> values as typed


def _coerced(given: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    """The known fields of `given` in their types, numbers clamped, lists cut; wrong types become problems."""
    values: dict[str, Any] = {}
    known = _input_fields()
    for name, value in given.items():
        info = known.get(name)
        if info is None:
            if not name.startswith("_"):
                notes.adjustments.append(
                    Adjustment(name, _shown(value), None, f"{name} is not an input field; ignored.")
                )
            continue
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        try:
            values[name] = _COERCE[_kind(info)](name, value, info, notes)
        except _WrongTypeError as error:
            notes.problems.append(InputProblem(name, _shown(value), f"{name}: {error}"))
    return values


class _WrongTypeError(ValueError):
    pass


def _to_text(_name: str, value: Any, _info: FieldInfo, _notes: Notes) -> str:
    if not isinstance(value, str):
        raise _WrongTypeError(f"a text is needed, not {_shown(value)}.")
    return value.strip()


def _to_int(name: str, value: Any, info: FieldInfo, notes: Notes) -> int:
    number = _number(value)
    low, high = _limits(info)
    used = max(low or 0, min(number, high or number))
    if used != number:
        message = f"{name} must be from {low:,} to {high:,}; {used:,} is used instead of {_shown(value)}."
        notes.adjustments.append(Adjustment(name, _shown(value), used, message))
    return used


def _number(value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise _WrongTypeError(f"a whole number is needed, not {_shown(value)}.")


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _to_bool(_name: str, value: Any, _info: FieldInfo, _notes: Notes) -> bool:
    if isinstance(value, bool):
        return value
    read = _BOOLEANS.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if read is None:
        raise _WrongTypeError(f"true or false is needed, not {_shown(value)}.")
    return read


def _to_list(name: str, value: Any, info: FieldInfo, notes: Notes) -> tuple[str, ...]:
    entries = _entries(value)
    if len(entries) > MAX_LIST_ENTRIES:
        message = f"{name} holds {len(entries):,} entries; only the first {MAX_LIST_ENTRIES:,} are used."
        notes.adjustments.append(Adjustment(name, len(entries), MAX_LIST_ENTRIES, message))
        for entry in entries[MAX_LIST_ENTRIES:]:
            notes.skipped.append(
                _skipped(name, entry, SkipReason.TOO_MANY_ENTRIES, f"past the first {MAX_LIST_ENTRIES}")
            )
        entries = entries[:MAX_LIST_ENTRIES]
    good = list(_good_entries(name, entries, _facts(info).choices, notes))
    if entries and not good:
        notes.problems.append(InputProblem(name, _shown(value), f"{name}: no entry of the list can be used."))
    return tuple(dict.fromkeys(good))


def _entries(value: Any) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise _WrongTypeError(f"the list is not readable as JSON ({error}).") from None
    if isinstance(value, str):
        return [entry for entry in re.split(r"[,\r\n]+", value) if entry.strip()]
    if isinstance(value, list | tuple):
        return [entry for entry in value if not (isinstance(entry, str) and not entry.strip())]
    raise _WrongTypeError(f"a list of texts is needed, not {_shown(value)}.")


def _good_entries(name: str, entries: Iterable[Any], choices: tuple[str, ...] | None, notes: Notes) -> Iterable[str]:
    for entry in entries:
        if not isinstance(entry, str):
            notes.skipped.append(_skipped(name, entry, SkipReason.UNKNOWN_VALUE, "not a text"))
        elif choices and entry.strip() not in choices:
            notes.skipped.append(
                _skipped(name, entry, SkipReason.UNKNOWN_VALUE, f"one of {', '.join(choices)} is needed")
            )
        else:
            yield entry.strip(" \t\r\n")


_COERCE = {str: _to_text, Mode: _to_text, int: _to_int, bool: _to_bool, tuple: _to_list}


def _shown(value: Any) -> Any:
    """A value as the records repeat it: short, and JSON."""
    if value is None or isinstance(value, int | float | bool):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    text = urls.redacted(text)
    return text if len(text) <= 200 else text[:197] + "..."


def _skipped(name: str, entry: Any, reason: SkipReason, detail: str) -> SkippedEntry:
    return SkippedEntry(name, str(_shown(entry)), reason, f"{name}: {detail}")


def _problem_of(error: Any, given: Mapping[str, Any]) -> InputProblem:
    name = to_camel(str(error["loc"][0]))
    value = _shown(given.get(name))
    wanted = {
        "mode": "one of extract, monitor is needed",
        "stateKey": "1 to 40 characters of a-z, 0-9 and '-' are needed",
    }.get(name, str(error["msg"]))
    return InputProblem(name, value, f"{name}: {wanted}, not {value!r}.")


# --- what the values mean


def _since(job: Job, notes: Notes) -> float | None:
    if job.changed_since is None:
        return None
    try:
        return lastmod.parse_since(job.changed_since)
    except ValueError:
        shown = _shown(job.changed_since)
        message = (
            f"changedSince: {shown!r} is not a date the Actor can read; YYYY-MM-DD or an ISO date and time is needed."
        )
        notes.problems.append(InputProblem("changedSince", shown, message))
        return None


def _check_patterns(job: Job, notes: Notes) -> None:
    for name, given in (
        ("includeUrlPatterns", job.include_url_patterns),
        ("excludeUrlPatterns", job.exclude_url_patterns),
    ):
        for pattern in given:
            try:
                patterns.Patterns([pattern], [])
            except patterns.PatternError as error:
                notes.problems.append(InputProblem(name, _shown(pattern), f"{name}: {error}"))
                notes.skipped.append(_skipped(name, pattern, SkipReason.INVALID_PATTERN, str(error)))


def _sites(job: Job, notes: Notes, *, allow_private: bool) -> tuple[Site, ...]:
    """The sites of the run in the order given; a host named twice counts once."""
    named = list(_parsed("sites", job.sites, notes, allow_private=allow_private, direct=False))
    direct = list(_parsed("sitemapUrls", job.sitemap_urls, notes, allow_private=allow_private, direct=True))
    hosts: dict[str, list[str]] = {}
    sites: dict[str, Site] = {}
    for entry in named:
        address = entry.url if entry.is_sitemap else entry.site + "/"
        if entry.is_sitemap:
            sites.setdefault(address, Site(entry.site, address, (address,), discover=False))
        else:
            hosts.setdefault(entry.site, [])
            sites.setdefault(address, Site(entry.site, address, (), discover=True))
    for entry in direct:
        root = entry.site + "/"
        hosts.setdefault(entry.site, []).append(entry.url)
        sites.setdefault(root, Site(entry.site, root, (), discover=False))
    if not sites:
        message = "No website to read: sites and sitemapUrls hold no usable address."
        notes.problems.append(InputProblem("sites", [_shown(entry) for entry in job.sites[:5]], message))
    return tuple(
        Site(site.key, site.entry, tuple(dict.fromkeys(hosts[site.key])), site.discover)
        if site.entry == site.key + "/"
        else site
        for site in sites.values()
    )


def _parsed(
    name: str, given: Iterable[str], notes: Notes, *, allow_private: bool, direct: bool
) -> Iterable[urls.Entry]:
    for text in given:
        try:
            yield urls.parse_entry(text, allow_private=allow_private, direct=direct)
        except urls.UrlError as error:
            notes.skipped.append(_skipped(name, text, error.reason, error.detail))
