"""The closing lines of a run: a short table of its sites, its outcome, and where the records are."""

from sitemap_actor.core.report import RunReport, SiteReport

MAX_SITES = 20
_WIDEST = (44, 9, 7, 9, 60)
_HEAD = ("Site", "Status", "Files", "URLs", "Note")
_RIGHT = (False, False, True, True, False)


def closing_lines(report: RunReport, where: str) -> list[str]:
    """The lines to print when a run has ended. `where` is the place of the records, as a person would look it up.

    The sites that went least well come first; past `MAX_SITES` they are only counted. Plain text, one line each, nothing of
    the network's in it that could move a terminal's cursor.
    """
    lines = []
    if report.sites:
        order = {"failed": 0, "skipped": 1, "partial": 2, "truncated": 3, "ok": 4}
        sites = sorted(report.sites, key=lambda site: order.get(site.status, 0))
        lines += _table([_cells(site) for site in sites[:MAX_SITES]])
        if len(sites) > MAX_SITES:
            lines.append(f"... and {len(sites) - MAX_SITES:,} more sites in REPORT")
    if report.message:
        lines.append(_plain(report.message, 1_000))
    lines.append(f"Records: {where}")
    return lines


def _cells(site: SiteReport) -> tuple[str, ...]:
    read = sum(file.status in {"ok", "partial", "unchanged"} for file in site.sitemaps)
    files = f"{read}/{len(site.sitemaps) + site.unread_files}"
    values = (site.entry.removesuffix("/"), site.status, files, f"{site.saved:,}", site.message)
    return tuple(_plain(value, width) for value, width in zip(values, _WIDEST, strict=True))


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in [_HEAD, *rows]) for column in range(len(_HEAD))]
    rule = tuple("-" * width for width in widths)
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, _RIGHT, strict=True)
        ).rstrip()
        for row in [_HEAD, rule, *rows]
    ]


def _plain(text: str, width: int) -> str:
    """`text` in printable characters only, cut to `width`."""
    line = "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
    return line if len(line) <= width else line[: width - 3] + "..."
