"""Says in our words what went wrong in aiohttp's: which reason, whether another try may help, and a plain sentence."""

import errno
import os
import ssl

import aiohttp

from sitemap_actor.core.errors import (
    AddressError,
    BadHttpError,
    DnsError,
    FetchError,
    NetworkError,
    PrivateAddressError,
    TimeoutFetchError,
    TlsError,
)


def fetch_error(error: Exception, host: str) -> FetchError:
    """Translate an exception of a request to `host` that brought no response. Time-outs of ours are not seen here."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = error.certificate_error
        return TlsError(f"the certificate was not accepted ({getattr(why, 'verify_message', None) or why})")
    if isinstance(error, aiohttp.ClientConnectorError):
        return _no_connection(error, host)
    if isinstance(error, aiohttp.ClientResponseError):
        return BadHttpError(f"the answer is not valid HTTP ({_headline(error.message)})")
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return AddressError("the address is not one that can be dialled")
    if isinstance(error, OSError) and _is_tls(error):
        return TlsError(f"the encrypted connection failed ({_reason(error)})")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return NetworkError("the server closed the connection without an answer")
    if isinstance(error, aiohttp.ClientOSError):
        return NetworkError(f"the connection broke before an answer ({_reason(error)})")
    return NetworkError(_short(str(error)) or type(error).__name__)


def _no_connection(error: aiohttp.ClientConnectorError, host: str) -> FetchError:
    cause = error.os_error
    if isinstance(cause, PrivateAddressError):
        return cause
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return DnsError(f"{host} could not be resolved ({_reason(cause)})")
    if isinstance(error, aiohttp.ClientSSLError) or _is_tls(cause):
        return TlsError(f"the encrypted connection could not be set up ({_reason(cause)})")
    if cause.errno == errno.ETIMEDOUT or "handshake is taking longer" in str(cause):
        return TimeoutFetchError("no connection: the network gave up waiting")
    return NetworkError(f"no connection ({_reason(cause)})")


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__
    return False


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "TLS error").replace("_", " ").lower()
    number = error.errno
    if number is not None and number > 0 and number in errno.errorcode:
        return os.strerror(number).lower()  # the exception's own text names addresses and sockets
    return _short(error.strerror or str(error)).lower()


def _headline(message: str) -> str:
    """The first line of the parser's message; what follows quotes the server's bytes."""
    first = message.strip().partition("\n")[0].rstrip(":. ").lower()
    return first or "unreadable"


def _short(text: str) -> str:
    return " ".join(text.split())[:120]
