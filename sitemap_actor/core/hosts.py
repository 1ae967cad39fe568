"""What this run knows of each host: its robots.txt, what closed it, what stopped it, how fast it may be asked.

A host is scheme, host and port; what is learnt of it holds across all sites of the run (spec section 5). Two states are
kept apart on purpose: a *closed* host gives no permission at all (its robots.txt could not be read, or forbids us
everything), so neither its files nor its pages are used; a *stopped* host answered like a closed door later on, so no more
requests go there, but its pages listed elsewhere are still judged by the robots.txt that was read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sitemap_actor.core.conduct import MAX_CRAWL_DELAY_SECS, MAX_OTHER_HOSTS
from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.core.report import HostReport
from sitemap_actor.core.robots import Rules


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an address is not used."""

    reason: SkipReason
    detail: str | None = None
    unread: bool = False
    """Not for what a robots.txt says, but because nobody knows what it says; another run may know."""


@dataclass(slots=True)
class Host:
    """One host's entry in the book. `rules` is None until its robots.txt was read."""

    key: str
    report: HostReport
    is_site: bool = False
    counted: bool = False
    rules: Rules | None = None
    closed: Refusal | None = None
    stopped: Refusal | None = None

    @property
    def known(self) -> bool:
        """Whether the question of its robots.txt is settled."""
        return self.rules is not None or self.closed is not None

    def refuses_file(self, url: str) -> Refusal | None:
        """Why a sitemap at `url` must not be requested; None is permission. Needs a known host."""
        if self.stopped is not None:
            return Refusal(SkipReason.HOST_CLOSED, self.stopped.detail)
        if self.closed is not None or self.rules is None:
            return self._closed()
        if not self.rules.allows(url):
            return Refusal(SkipReason.ROBOTS_TXT_DISALLOWED, self.rules.rule(url))
        return None

    def refuses_pages(self) -> Refusal | None:
        """Why no page of this host is used; None: its rules decide. Needs a known host."""
        return self._closed() if self.closed is not None or self.rules is None else None

    def _closed(self) -> Refusal:
        closed = self.closed or Refusal(SkipReason.HOST_CLOSED, "its robots.txt was not read", unread=True)
        if closed.reason in {SkipReason.PRIVATE_ADDRESS, SkipReason.MAX_HOSTS}:
            return closed
        detail = f"{closed.reason}: {closed.detail}" if closed.detail else closed.reason
        return Refusal(SkipReason.HOST_CLOSED, detail, closed.unread)


@dataclass(slots=True)
class HostBook:
    """The hosts of a run.

    `sites`: the hosts of the input. `gap_secs`: the least gap between requests to a host. At most `max_other_hosts` hosts
    beyond the sites are let in.
    """

    gap_secs: float
    sites: frozenset[str]
    max_other_hosts: int = MAX_OTHER_HOSTS
    hosts: dict[str, Host] = field(default_factory=dict)
    _others: int = 0

    @classmethod
    def of(cls, sites: Iterable[str], gap_secs: float) -> "HostBook":
        """A book for a run over `sites` (host keys)."""
        return cls(gap_secs, frozenset(sites))

    def get(self, key: str) -> Host:
        """The entry of the host `key`, made at the first mention."""
        host = self.hosts.get(key)
        if host is None:
            host = self.hosts[key] = Host(key, HostReport(key), is_site=key in self.sites)
        return host

    def peek(self, key: str) -> Host | None:
        """The entry of the host `key`, None where it was never mentioned."""
        return self.hosts.get(key)

    def admits(self, key: str) -> bool:
        """Let the host in: a site always, another host while there is a place among the 25. Asking again costs nothing."""
        known = self.hosts.get(key)
        if key in self.sites or (known is not None and known.counted):
            return True
        if self._others >= self.max_other_hosts:
            return False
        self._others += 1
        self.get(key).counted = True
        return True

    def opened(self, key: str, rules: Rules, *, status: int | None, has_file: bool) -> Host:
        """Settle the host by the rules that its robots.txt holds (or that it has none)."""
        host = self.get(key)
        host.rules = rules
        host.report.robots_txt = "rules" if has_file else "none"
        host.report.robots_txt_status = status
        host.report.crawl_delay_secs = rules.crawl_delay
        if rules.crawl_delay is not None and rules.crawl_delay > MAX_CRAWL_DELAY_SECS:
            self._close(host, SkipReason.CRAWL_DELAY_TOO_LONG, f"Crawl-delay {rules.crawl_delay:g} s")
        elif rules.disallows_all:
            self._close(host, SkipReason.SITE_DISALLOWS_ALL, f"group {rules.group}")
        return host

    def closed(self, key: str, reason: SkipReason, *, status: int | None = None, detail: str | None = None) -> Host:
        """Settle the host as closed: its robots.txt could not be read."""
        host = self.get(key)
        host.report.robots_txt = "unreadable"
        host.report.robots_txt_status = status
        self._close(host, reason, detail, unread=True)
        return host

    def stopped(self, key: str, reason: SkipReason, detail: str | None = None) -> Host:
        """No more requests to this host in this run: it answered like a closed door."""
        host = self.get(key)
        if host.stopped is None:
            host.stopped = Refusal(reason, f"{reason}: {detail}" if detail else str(reason))
            host.report.stopped_for = reason
        return host

    def gap(self, key: str) -> float:
        """Seconds between the end of one request to the host and the start of the next."""
        host = self.hosts.get(key)
        delay = host.report.crawl_delay_secs if host is not None else None
        return max(self.gap_secs, delay or 0.0)

    @staticmethod
    def _close(host: Host, reason: SkipReason, detail: str | None, *, unread: bool = False) -> None:
        host.closed = Refusal(reason, detail, unread)
        host.report.skipped_for = reason
