"""Ends a request quietly: Scrapy logs no traceback for an IgnoreRequest, and the errback still learns the reason."""

from scrapy.exceptions import IgnoreRequest

from sitemap_actor.core.reasons import SkipReason


class Refusal(IgnoreRequest):
    """A request that is not made, or not finished: `reason` for the records, `detail` in plain words or None.

    Raised by middlewares before a request leaves, and given to the gate for those that wait in it.
    """

    retryable = False

    def __init__(self, reason: SkipReason, detail: str | None = None) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value
