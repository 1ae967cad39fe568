"""What can go wrong, as data: each error says what it concerns, and its message is derived from that.

    SitemapActorError
    ├── InputProblem            a value of the input makes the run meaningless: field, value, message
    ├── DeliveryError           rows could not be saved, or not charged: saved, why
    └── FetchError              a request brought no answer: reason, detail, retryable
        ├── TimeoutFetchError   a step, or the whole file, took too long                (timeout, retryable)
        ├── DnsError            the name has no address                                 (dns_error, retryable)
        ├── TlsError            no trusted, encrypted connection came about             (tls_error)
        ├── NetworkError        refused, reset or closed before an answer               (network_error, retryable)
        │   └── BadHttpError    what came is not HTTP that could be understood          (network_error, retryable)
        ├── AddressError        the URL cannot be requested at all                      (invalid_url)
        └── PrivateAddressError the address is not public; also an OSError, because the dialler expects one
                                                                                        (private_address)

Errors are copied with `copy.copy`, so everything a constructor takes stands in `args`.
"""

from typing import Any, ClassVar

from sitemap_actor.core.reasons import SkipReason


class SitemapActorError(Exception):
    """The root: every error that this project raises on purpose."""


class InputProblem(SitemapActorError):
    """The run must not start: `field` holds `value`, and `message` says in one sentence why that cannot be."""

    def __init__(self, field: str, value: Any, message: str) -> None:
        super().__init__(field, value, message)
        self.field = field
        self.value = value
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class DeliveryError(SitemapActorError):
    """The place that rows go to gave out: the first `saved` of the rows given are settled, the others are not saved."""

    def __init__(self, saved: int, why: str) -> None:
        super().__init__(saved, why)
        self.saved = saved
        self.why = why

    def __str__(self) -> str:
        return self.why


class FetchError(SitemapActorError):
    """A request that brought no answer: `reason` for the records, `detail` in plain words.

    `retryable` says whether the same request may do better a little later; how often is up to the table of conduct.
    """

    reason: SkipReason
    retryable: ClassVar[bool] = False

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}"


class _SettledError(FetchError):
    """A fetch error whose class settles the reason, so that only the detail is left to say."""

    settled: ClassVar[SkipReason]

    def __init__(self, detail: str) -> None:
        super(FetchError, self).__init__(detail)  # one argument: OSError would take two for errno and message
        self.reason = self.settled
        self.detail = detail


class TimeoutFetchError(_SettledError):
    """A step or the whole file took longer than allowed; the detail names which."""

    settled = SkipReason.TIMEOUT
    retryable = True


class DnsError(_SettledError):
    """The host's name could not be resolved."""

    settled = SkipReason.DNS_ERROR
    retryable = True


class TlsError(_SettledError):
    """The certificate or the handshake failed: another try meets the same server."""

    settled = SkipReason.TLS_ERROR


class NetworkError(_SettledError):
    """The connection was refused, reset, or closed before an answer."""

    settled = SkipReason.NETWORK_ERROR
    retryable = True


class BadHttpError(NetworkError):
    """The server's answer breaks HTTP in a way that leaves its meaning open (the detail says how)."""


class AddressError(_SettledError):
    """The URL names nothing that can be dialled."""

    settled = SkipReason.INVALID_URL


class PrivateAddressError(_SettledError, OSError):
    """The host is, or resolves to, an address that is not public (spec 5)."""

    settled = SkipReason.PRIVATE_ADDRESS
