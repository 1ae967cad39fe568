"""The Retry-After header (RFC 9110 section 10.2.3)."""

from email.utils import parsedate_to_datetime


def retry_after_secs(header: bytes | None, now: float) -> float | None:
    """Seconds to wait from `now` (POSIX seconds), by a number or a date; None: absent or unreadable."""
    if header is None:
        return None
    text = header.decode("latin-1").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
