"""One spelling for the paths of rules and URLs, so that text comparison decides.

What no URL may hold is percent-encoded, escapes of ordinary characters are decoded, hex digits are upper case; `$` and,
in a URL, `*` are escaped, so that in a rule's path only the anchor and the wildcard are left bare. An ordinary URL is
in this spelling already, which one look at a whole batch tells.
"""

import re

# Bytes that need no change, in a URL; a `%` needs a second look.
ORDINARY = bytes(code for code in range(0x21, 0x7F) if code not in b'"#$*<>\\^`{|}')

_URL_BYTES = bytes(code for code in range(0x21, 0x7F) if code not in b'"<>\\^`{|}') + b"\n"
_foreign = re.compile(r"[^\n\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+")
_run = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Escapes of what may stand in a path as it is. Not of `#`, `$`, `%`, `*`, `/`, which mean something else when decoded.
# An escape that follows a stray `%` stays, or decoding would make another escape of the two.
_needless = re.compile(r"(?<!%)(?<!%[0-9A-F])%(?:2[16789BCDE]|3[0-9ABDF]|[46][1-9A-F]|5[0-9ABDF]|7[0-9AE]|40)")
_not_high = re.compile(r"%(?![89A-F][0-9A-F])").search  # finds nothing where all escapes are bytes of non-ASCII text
_lower_hex = re.compile(r"%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])").search
_fragment = re.compile(r"#[^\n]*")
_high_byte = re.compile(r"%([89A-F])(?=[0-9A-F])")
_HIGH = dict(zip("89ABCDEF", "ghijklmn", strict=True))
_ESCAPES = [f"%{code:02X}" for code in range(256)]


def rule_path(value: str) -> str | None:
    """Return a rule's path in this spelling, its stars and its final `$` kept; None where it can match no URL."""
    if not value.startswith(("/", "*")):
        return None
    return f"{_comparable(value[:-1])}$" if value.endswith("$") else _comparable(value)


def url_path(rest: str) -> str:
    """Return a URL's path and query (no fragment) in this spelling."""
    path = _comparable(rest.replace("\n", "%0A")).replace("*", "%2A")
    return path if path.startswith("/") else f"/{path}"


def url_lines(joined: str) -> str:
    """Do the same for many URLs of one plain ASCII host, each after a newline; fragments are dropped."""
    if "#" in joined:
        joined = _fragment.sub("", joined)
    return _comparable(joined).replace("*", "%2A")


def for_protego(path: str) -> str:
    """Return a path in a spelling that Protego takes literally.

    Protego treats all bytes that are no UTF-8 alike, and a final `$` as a character as well as an anchor, so that an
    Allow would reach further than written. A `%` before a letter that is no hex digit is never decoded; the lengths,
    by which Protego decides between rules, stay the same.
    """
    return _high_byte.sub(lambda found: f"%{_HIGH[found[1]]}", path).replace("%24", "%s4")


def without_dots(path: str) -> str:
    """Return a path with its dot segments resolved (RFC 3986, 5.2.4), its query untouched."""
    before, mark, query = path.partition("?")
    kept: list[str] = []
    segments = before.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return f"/{'/'.join(kept)}{mark}{query}"


def _comparable(text: str) -> str:
    if not text.isascii() or text.encode("ascii").translate(None, _URL_BYTES):
        text = _foreign.sub(_encoded, text)
    if "%" in text and _not_high(text):
        if _lower_hex(text):
            text = _run.sub(lambda found: found[0].upper(), text)
        if _needless.search(text):
            text = _needless.sub(lambda found: chr(int(found[0][1:], 16)), text)
    return text.replace("$", "%24") if "$" in text else text


def _encoded(found: re.Match[str]) -> str:
    # A lone surrogate stands for a single byte here (see `lines`); other ones are in no valid URL.
    try:
        data = found[0].encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = found[0].encode("utf-8", "replace")
    return "".join([_ESCAPES[byte] for byte in data])
