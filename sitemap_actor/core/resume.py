"""What an earlier life of the same run left for this one, where the platform moved or killed it: the files it was done with.

A file is done with when it was read whole and every row of it is saved. It is not asked for again; its report, its share of
the counts and, for an index, its children come from here.
"""

from typing import Any, Protocol

from sitemap_actor.core.reading import SiteReading
from sitemap_actor.core.reasons import Fault, FileKind
from sitemap_actor.core.report import FileStatus, SitemapReport


class Resume(Protocol):
    """Asked by the spider before it asks for a file."""

    def restore(self, reading: SiteReading, file: SitemapReport) -> list[str] | None:
        """Fill in `file` from the earlier life and return its children; None where it has to be asked for."""


class NoResume:
    """The run begins here."""

    def restore(self, reading: SiteReading, file: SitemapReport) -> list[str] | None:
        """Ask for every file."""
        return None


_PLAIN = ("final_url", "http_status", "bytes", "unpacked_bytes", "listed", "children", "newest_lastmod", "rolling")


def file_to_dict(reading: SiteReading, file: SitemapReport) -> dict[str, Any]:
    """A file that is done with, as JSON values."""
    children = [other.url for other in reading.report.sitemaps if other.parent == file.url] if file.children else []
    return {name: getattr(file, name) for name in _PLAIN} | {
        "kind": file.kind,
        "faults": dict(file.faults),
        "tally": dict(file.tally),
        "childUrls": children,
    }


def file_from_dict(reading: SiteReading, file: SitemapReport, known: dict[str, Any]) -> list[str]:
    """Fill in `file` and its share of the counts; return its children.

    Its saved rows are not counted here: whoever knows the dataset counts them, as saved before.
    """
    for name in _PLAIN:
        setattr(file, name, known[name])
    file.kind = FileKind(known["kind"]) if known["kind"] else None
    file.faults.update({Fault(name): count for name, count in known["faults"].items()})
    reading.answered(file, file.final_url)
    file.conclude(FileStatus.OK, None, "read before the restart")
    counts, tally = reading.run.counts, known["tally"]
    for name, count in tally.items():
        if name not in {"saved", "saved_before"}:
            setattr(counts, name, getattr(counts, name) + count)
    rows = tally.get("saved", 0) + tally.get("saved_before", 0)
    counts.listed -= rows
    counts.sitemaps_fetched += 1
    reading.report.saved += rows
    file.tally.update(tally)
    return list(known["childUrls"])
