"""One spelling for the paths of rules and URLs, so that text comparison decides.

What no URL may hold is percent-encoded, escapes of ordinary characters are decoded, hex digits are upper case. Three
things are written in a way of our own, `%` and a letter that is no hex digit, because Protego would otherwise read them
generously: it treats all bytes that are no UTF-8 as the same, takes `$` in the middle of a rule for an anchor as well,
and so would let an Allow reach further than written. The lengths that decide between rules stay as they are.
"""

import re

_foreign = re.compile(r"[^\n\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+")
# Escapes of characters that may stand in a path as they are; `#`, `%`, `*` and `/` mean something else when decoded.
# An escape that follows a stray `%` stays, or decoding would make another escape of the two.
_needless = re.compile(r"(?<!%)(?<!%[0-9A-F])%(?:2[146789BCDE]|3[0-9ABDF]|[46][1-9A-F]|5[0-9ABDF]|7[0-9AE]|40)")
_lower_hex = re.compile(r"%(?:[a-f][0-9A-Fa-f]|[0-9A-Fa-f][a-f])")
_fragment = re.compile(r"#[^\n]*")
_high_byte = re.compile(r"%([89A-F])([0-9A-F])")
_HIGH = dict(zip("89ABCDEF", "ghijklmn", strict=True))
_DOLLAR = "%s4"

ORDINARY = bytes(code for code in range(0x21, 0x7F) if code not in b'"#$%*<>\\^`{|}')


def comparable(text: str) -> str:
    """Return a path (or many, a line each) in the spelling used for comparison; `*` is left to the callers."""
    if _foreign.search(text):
        # Lone surrogates stand for single bytes (see `lines`); others, which no judged URL holds, may become anything.
        data = text.encode("utf-8", "surrogatepass" if _not_bytes(text) else "surrogateescape")
        text = _foreign.sub(_encoded, data.decode("latin-1"))
    if "%" in text:
        text = _lower_hex.sub(lambda found: found[0].upper(), text)
        text = _needless.sub(lambda found: chr(int(found[0][1:], 16)), text)
        text = _high_byte.sub(lambda found: f"%{_HIGH[found[1]]}{found[2]}", text)
    return text.replace("$", _DOLLAR) if "$" in text else text


def rule_path(value: str) -> str | None:
    """Return a rule's path in that spelling, its stars and its final `$` kept; None where it can match no URL."""
    if not value.startswith(("/", "*")):
        return None
    if value.endswith("$"):
        return comparable(value[:-1]) + "$"
    return comparable(value)


def url_path(rest: str) -> str:
    """Return a URL's path and query (no fragment) in that spelling."""
    path = comparable(rest.replace("\n", "%0A")).replace("*", "%2A")
    return path if path.startswith("/") else f"/{path}"


def url_lines(joined: str) -> str:
    """Do the same for many URLs of one plain ASCII host, each after a newline; fragments are dropped."""
    if "#" in joined:
        joined = _fragment.sub("", joined)
    return comparable(joined).replace("*", "%2A")


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


def readable(path: str) -> str:
    """Return a rule's path for people: our own spellings undone."""
    back = {letter: digit for digit, letter in _HIGH.items()}
    path = re.sub(r"%([g-n])([0-9A-F])", lambda found: f"%{back[found[1]]}{found[2]}", path)
    return path.replace(_DOLLAR, "$")


def _encoded(found: re.Match[str]) -> str:
    return "".join(f"%{ord(character):02X}" for character in found[0])


def _not_bytes(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" for c in text)
