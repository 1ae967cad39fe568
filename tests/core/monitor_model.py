"""A small, slow model of the monitor rules: one page and one sitemap at a time, nothing clever.

It is written from spec section 7 and `seeds/monitor.txt`, in another style than the product on purpose: dictionaries and
loops where the product has queries.
"""

from dataclasses import dataclass, field

from sitemap_actor.core.changes.facts import Came
from sitemap_actor.core.lastmod import LastmodJudge

AGED_RUNS = 10


@dataclass
class Limits:
    stamp_pages: int = 10
    massive_pages: int = 100


@dataclass
class Map:
    """A remembered sitemap."""

    named_by: tuple[str, ...]
    whole: bool = False
    confirmed: int | None = None
    shrunk: bool = False
    not_there: int = 0
    failed: int = 0
    missing: int = 0
    stamped: int = 0
    rolling: bool = False
    gone: bool = False


@dataclass
class Page:
    """A remembered page. `told`: a row told of it, or it entered quietly. `at`: its listings, sitemap -> ord."""

    told: bool
    kept: str | None
    missing: int = 0
    stale: bool = False
    quiet: bool = False
    at: dict[str, float] = field(default_factory=dict)


@dataclass
class Listing:
    text: str | None
    ord: float


@dataclass
class Run:
    files: list
    now: float
    silent: dict[str, str]
    cap: int | None
    saved: int | None
    quota: int
    existing: bool
    readable: frozenset[str]
    confirm: int
    shrink: int


class Model:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pages: dict[str, Page] = {}
        self.maps: dict[str, Map] = {}
        self.whole = False

    # --- one run

    def run(self, run: Run) -> list[tuple[str, str, str | None, str | None]]:
        self.r = run
        self._listings()
        self._maps()
        self._migrate()
        self._stamps()
        self._massive()
        verdicts = {key: self._listed(key) for key in self.listed}
        verdicts |= {
            key: self._missing(key) for key in self.pages if key not in self.listed and key not in self.moved_from
        }
        return self._settle(verdicts)

    def _ord(self, text: str | None) -> float:
        instant = LastmodJudge(self.r.now).judge([text])[0]
        if instant is not None:
            return -2e15 if instant > self.r.now + 86_400 else instant
        return -3e15 if text is None else -1e15

    def _listings(self) -> None:
        """What each file lists, up to the cap on distinct pages."""
        self.listed: dict[str, dict[str, Listing]] = {}
        self.cut: set[str] = set()
        for file in self.r.files:
            if file.came not in {Came.WHOLE, Came.PARTIAL, Came.CUT}:
                continue
            for key, text in file.pages:
                if self.r.cap is not None and key not in self.listed and len(self.listed) >= self.r.cap:
                    self.cut.add(file.url)
                    break
                here = self.listed.setdefault(key, {})
                listing = Listing(text, self._ord(text))
                if file.url not in here or listing.ord > here[file.url].ord:
                    here[file.url] = listing

    def _maps(self) -> None:
        """What this run means for each sitemap."""
        run = self.r
        self.came = {file.url: Came.CUT if file.url in self.cut else file.came for file in run.files}
        readable = set(run.readable) | {url for url, came in self.came.items() if came is Came.WHOLE}
        self.before = {url: Map(**vars(m)) for url, m in self.maps.items()}
        absent: set[str] = set()
        for _ in range(len(self.maps) + 1):
            for url, m in self.maps.items():
                if url not in self.came and all(
                    n in readable or n in absent or (n in self.before and self.before[n].gone) for n in m.named_by
                ):
                    absent.add(url)
        for file in run.files:
            came = self.came[file.url]
            m = self.maps.setdefault(file.url, Map(file.named_by))
            m.named_by = file.named_by + tuple(n for n in m.named_by if n not in readable and n not in file.named_by)
            m.missing = 0
            if came is Came.WHOLE:
                m.not_there, m.failed, m.gone, m.rolling = 0, 0, False, file.rolling
            if came is Came.NOT_THERE:
                m.not_there, m.failed = m.not_there + 1, 0
            if came in {Came.FAILED, Came.PARTIAL}:
                m.not_there, m.failed = 0, m.failed + 1
            if came in {Came.PARTIAL, Came.CUT}:
                m.rolling = m.rolling or file.rolling
            if m.not_there >= 3 or m.failed >= 10:
                m.gone = True
        for url, m in self.maps.items():
            if url not in self.came:
                self.came[url] = Came.MISSING if url in absent else Came.UNKNOWN
                if url in absent:
                    m.missing += 1
                    m.gone = m.gone or m.missing >= 3
                else:
                    m.named_by = tuple(n for n in m.named_by if n not in readable)
        holders = [
            url for url, m in self.maps.items() if self.came[url] not in {Came.WHOLE, Came.LEFT_OUT} and not m.gone
        ]
        self.complete = not holders and not self.cut
        self.suspect = set()
        for url, m in self.maps.items():
            if self.came[url] is not Came.WHOLE:
                continue
            count = sum(1 for listings in self.listed.values() if url in listings)
            if not count and url in self.before and self.before[url].rolling:
                m.rolling = True
            if m.confirmed is not None and (m.confirmed - count) * 100 > run.shrink * m.confirmed:
                if not (m.shrunk and self.complete):
                    m.shrunk = True
                    if not self._rolls(url):
                        self.suspect.add(url)
                    continue
            m.shrunk, m.confirmed = False, count

    def _rolls(self, url: str) -> bool:
        return (
            self.maps[url].rolling
            or (url in self.before and self.before[url].rolling)
            or "news" in url.split("/", 3)[3]
        )

    def _fresh(self, url: str) -> bool:
        return url not in self.before

    def _unread(self, url: str, behind: tuple[str, ...] = ()) -> bool:
        if url in self.before:
            return not self.before[url].whole
        names = self.maps[url].named_by
        return (
            url not in behind and all(n in self.maps and self._unread(n, (*behind, url)) for n in names) and names != ()
        )

    # --- guards

    def _migrate(self) -> None:
        def bare(key: str) -> str:
            rest = key.split("://")[1]
            return rest[4:] if rest.startswith("www.") else rest

        self.moved_to: dict[str, Page] = {}
        self.moved_from: set[str] = set()
        self.unsure: set[str] = set()
        pairs: list[tuple[str, str]] = []
        for url in sorted(self.maps):
            lost = [k for k, p in self.pages.items() if k not in self.listed and url in p.at and not p.stale]
            gained = [k for k in self.listed if k not in self.pages and url in self.listed[k]]
            match = [(old, new) for old in lost for new in gained if bare(old) == bare(new)]
            if not match:
                continue
            if self.came[url] is not Came.WHOLE:
                self.unsure |= {new for _old, new in match}
            elif self._rolls(url) or {old for old, _new in match} == set(lost):
                pairs += match
        for old, new in pairs:
            if old not in self.moved_from and new not in self.moved_to:
                self.moved_from.add(old)
                self.moved_to[new] = self.pages[old]

    def _known(self, key: str) -> Page | None:
        return self.moved_to.get(key) or self.pages.get(key)

    def _stamps(self) -> None:
        self.stamped: dict[str, float] = {}
        self.stamped_maps: set[str] = set()
        for url in self.maps:
            known = [k for k, p in self.pages.items() if url in p.at and not p.stale]
            changed = []
            for key, page in self.pages.items():
                listing = self.listed.get(key, {}).get(url)
                old = page.at.get(url)
                if listing is None and key in self.listed:  # another file has it now
                    listing, old = self._best(key)[1], old and max(page.at.values())
                if listing and old is not None and not page.stale and listing.ord > -1e15 and old > -3e15:
                    if listing.ord != old:
                        changed.append((listing.ord, key))
            best: list[tuple[float, str]] = []
            for start, _key in sorted(changed):
                window = [item for item in changed if start <= item[0] <= start + 600]
                if len(window) > len(best):
                    best = window
            if len(best) >= self.limits.stamp_pages and len(best) * 2 > len(known):
                self.stamped_maps.add(url)
                for value, key in best:
                    self.stamped[key] = max(value, self.stamped.get(key, value))

    def _massive(self) -> None:
        self.massive: set[str] = set()
        if not self.whole:
            return
        counts: dict[str, int] = {}
        for key, listings in self.listed.items():
            if self._known(key) or self.r.silent.get(key, "unjudged") != "unjudged" or key in self.unsure:
                continue
            if all(self._fresh(url) for url in listings):
                source = self._best(key)[0]
                counts[source] = counts.get(source, 0) + 1
        known = len(self.pages)
        self.massive = {u for u, n in counts.items() if n > self.limits.massive_pages and n * 10 > known}

    def _best(self, key: str) -> tuple[str, Listing]:
        listings = self.listed[key]
        return min(listings.items(), key=lambda item: (-item[1].ord, item[1].text or "", item[0]))

    # --- verdicts

    def _listed(self, key: str) -> str:
        source, listing = self._best(key)
        listings = self.listed[key]
        cut = all(self.came[url] is Came.CUT for url in listings)
        doubt = all(
            self.came[url] is Came.CUT or (self.came[url] is Came.PARTIAL and self.maps[url].gone) for url in listings
        )
        page, silent = self._known(key), self.r.silent.get(key)
        if silent == "unjudged":
            return self._unjudged(key)
        if page is None:
            if silent:
                return "silent_new"
            if key in self.unsure or (doubt and any(u in self.before and self.before[u].whole for u in listings)):
                return "held_new"
            if not self.whole or any(self._unread(url) for url in listings):
                return "baseline"
            if all(self._fresh(url) for url in listings) and source in self.massive:
                return "baseline"
            return "new"
        relation = self._relation(key, page, listing)
        if silent:
            return "silent_moved" if relation in {"newer", "gained"} else "silent"
        if not page.told:
            return "baseline"
        if relation == "newer":
            if key in self.moved_to:
                return "migrated"
            if key in self.stamped and self.stamped[key] >= listing.ord:
                return "stamped"
            return "held_modified" if cut else "modified"
        return "gained" if relation == "gained" else "same"

    def _unjudged(self, key: str) -> str:
        """What nobody could judge is as if it had not been read, but for what would have moved on without a row."""
        before, self.r.silent = self.r.silent, {k: why for k, why in self.r.silent.items() if k != key}
        verdict = self._listed(key)
        self.r.silent = before
        if verdict in {"held_new", "new", "modified", "held_modified"}:
            return "waits"
        if verdict == "baseline":
            return "silent" if self._known(key) else "silent_new"
        return "silent_moved" if verdict in {"migrated", "stamped"} else "silent"

    def _relation(self, key: str, page: Page, listing: Listing) -> str:
        if listing.ord < -1e15:
            return "nothing"
        if page.kept is None:
            return "gained"
        kept = self._ord(page.kept)
        if listing.ord > -1e15 and kept > -1e15:
            return "newer" if listing.ord > kept else "older or same"
        return "newer" if listing.text != page.kept else "same"

    def _missing(self, key: str) -> str:
        page = self.pages[key]
        fates = {self._fate(url) for url in page.at}
        told = page.told and not page.quiet
        if "unknown" in fates:
            return "unknown"
        if "held" in fates or ("missing" in fates and not self.complete):
            return "held" if told else "unknown"
        if "missing" in fates or not fates:
            if page.missing + 1 < self.r.confirm:
                return "pending"
            return "removed" if told else "dropped"
        if "aged" in fates:
            return "aged" if page.missing < AGED_RUNS else "dropped"
        return "dropped"

    def _fate(self, url: str) -> str:
        m, came = self.maps[url], self.came[url]
        if m.gone and came is not Came.LEFT_OUT:
            return "missing" if self.before[url].whole and not self._rolls(url) else "silent"
        if came is Came.MISSING:
            return "aged" if self._rolls(url) else "held"
        if came is not Came.WHOLE:
            return "unknown"
        if self._rolls(url):
            return "aged"
        return "held" if url in self.suspect else "missing"

    # --- the state moves on

    def _settle(self, verdicts: dict[str, str]) -> list[tuple[str, str, str | None, str | None]]:
        order = {
            key: place for place, key in enumerate([*self.pages, *(k for k in self.listed if k not in self.pages)])
        }
        due = []
        left = self.r.quota
        for kind in ("new", "modified", "removed", "baseline"):
            keys = sorted((key for key, verdict in verdicts.items() if verdict == kind), key=order.__getitem__)
            if kind != "baseline":
                keys = keys[:left]
                left -= len(keys)
            due += [(kind, key) for key in keys]
        unchanged = {"same", "stamped", "gained", "migrated"}
        existing = [key for key in sorted(self.listed, key=order.__getitem__) if verdicts[key] in unchanged]
        rows = due + ([("existing", key) for key in existing] if self.r.existing else [])
        done = rows if self.r.saved is None else rows[: self.r.saved]
        printed = [self._row(kind, key) for kind, key in done]
        saved = {key for _kind, key in done}
        after: dict[str, Page] = {}
        for key in order:
            page = self._after(key, verdicts.get(key), saved)
            if page is not None:
                after[key] = page
        self._settle_maps(verdicts, saved, after)
        self.pages = after
        return printed

    def _row(self, kind: str, key: str) -> tuple[str, str, str | None, str | None]:
        page = self._known(key)
        if kind == "removed":
            assert page is not None
            return kind, key, page.kept, None
        text = self._best(key)[1].text
        return kind, key, text, page.kept if kind == "modified" and page is not None else None

    def _after(self, key: str, verdict: str | None, saved: set[str]) -> Page | None:
        """The page as it is remembered from now on; None where it is not."""
        if key in self.moved_from or verdict == "dropped" or (verdict == "removed" and key in saved):
            return None
        if key not in self.listed:
            page = self.pages[key]
            missing = page.missing + 1 if verdict in {"pending", "aged"} else page.missing
            # Known to be missing only if none of its sitemaps may still hold it; else a sitemap read without it is let go.
            gone = {url for url in page.at if self.came[url] is Came.WHOLE or self.maps[url].gone}
            stale = gone == set(page.at)
            at = dict(page.at) if stale else {url: v for url, v in page.at.items() if url not in gone}
            return Page(page.told, page.kept, missing, stale, page.quiet or verdict == "aged", at)
        before = self._known(key)
        if before is None and (
            verdict in {"held_new", "waits"} or (verdict in {"new", "baseline"} and key not in saved)
        ):
            return None
        listing = self._best(key)[1]
        told = verdict != "silent_new" and ((before is not None and before.told) or key in saved)
        kept = before.kept if before is not None else None
        moves = verdict in {"stamped", "gained", "migrated", "silent_new", "silent_moved"} or (
            verdict in {"new", "baseline", "modified"} and key in saved
        )
        if moves and listing.ord >= -1e15:
            older = (
                kept is not None and self._ord(kept) > -1e15 and listing.ord > -1e15 and listing.ord <= self._ord(kept)
            )
            kept = kept if older else listing.text
        at = {url: item.ord for url, item in self.listed[key].items()}
        if key in self.pages:
            for url, value in self.pages[key].at.items():
                if url not in at and self.came[url] is not Came.WHOLE and not self.maps[url].gone:
                    at[url] = value
        quiet = key in self.r.silent
        if self.r.silent.get(key) == "unjudged":
            quiet = key in self.pages and self.pages[key].quiet
        return Page(told, kept, 0, False, quiet, at)

    def _settle_maps(self, verdicts: dict[str, str], saved: set[str], after: dict[str, Page]) -> None:
        unsaved = [key for key, verdict in verdicts.items() if verdict == "baseline" and key not in saved]
        lacking = {url for key in unsaved for url in self.listed[key]}
        lacking |= {url for key in unsaved if key in self.pages for url in self.pages[key].at}
        self.whole = self.whole or (self.complete and not unsaved)
        for url, m in list(self.maps.items()):
            came = self.came[url]
            if came is Came.WHOLE:
                m.whole = m.whole or url not in lacking
            if came in {Came.WHOLE, Came.PARTIAL, Came.CUT}:
                m.stamped = m.stamped + 1 if url in self.stamped_maps else 0
            needed = any(url in page.at for key, page in after.items() if key not in self.listed)
            if m.gone and came is Came.MISSING and not needed:
                del self.maps[url]
