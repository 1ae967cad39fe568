"""A web server on loopback that makes what it serves: `python -m benchmarks.made FIRST_PORT SECONDS`. It prints `ready`.

Port FIRST_PORT + n, for n from 0 to 4, is one of five sites with a sitemap of 52,428,800 bytes each, the largest there may be.
Port FIRST_PORT + 5 is a site of many sitemaps: /index-N.xml lists N gzipped files of 50,000 URLs, all of them from 2020, but
for ten pages of this year in the last file.
"""

import gzip
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LIMIT = 52_428_800
SITES = 5
_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
_TAIL = b"</urlset>\n"


def large(origin: str) -> Iterator[bytes]:
    """A sitemap of exactly the largest size, filled up with white space."""
    size, number = len(_HEAD), 0
    yield _HEAD
    while True:
        entries = "".join(
            f" <url>\n  <loc>{origin}/shop/department-{n % 97}/some-longer-name-of-a-product-number-{n}</loc>\n"
            f"  <lastmod>2026-{n % 11 + 1:02d}-{n % 28 + 1:02d}T10:{n % 60:02d}:00+00:00</lastmod>\n </url>\n"
            for n in range(number, number + 500)
        ).encode()
        if size + len(entries) + len(_TAIL) > LIMIT:
            break
        yield entries
        size, number = size + len(entries), number + 500
    yield b" " * (LIMIT - size - len(_TAIL)) + _TAIL


def packed(origin: str, *, recent: int) -> bytes:
    """50,000 old URLs, and some of this year."""
    entries = [
        f"<url><loc>{origin}/archive/{n % 89}/an-old-page-{n}</loc><lastmod>2020-{n % 12 + 1:02d}-11</lastmod></url>"
        for n in range(50_000)
    ]
    for n in range(recent):
        entries[n * 777] = f"<url><loc>{origin}/news/page-{n}</loc><lastmod>2026-11-{n + 1:02d}</lastmod></url>"
    return gzip.compress(_HEAD + "\n".join(entries).encode() + _TAIL, mtime=0)


class Handler(BaseHTTPRequestHandler):
    """Answers as the module says."""

    protocol_version = "HTTP/1.1"
    files: dict[str, bytes] = {}  # noqa: RUF012 - shared on purpose
    first_port = 0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass

    def do_GET(self) -> None:
        port = self.server.server_address[1]  # type: ignore[index]
        origin, path = f"http://127.0.0.1:{port}", self.path
        many = port == self.first_port + SITES
        if path == "/robots.txt":
            rules = b"User-agent: *\nDisallow: /private/\n"
            self._send([rules if many else rules + f"Sitemap: {origin}/large.xml\n".encode()], "text/plain")
        elif path == "/large.xml" and not many:
            self._send(large(origin), "application/xml", LIMIT)
        elif path.startswith("/index-") and many:
            count = int(path.removeprefix("/index-").removesuffix(".xml"))
            names = [f"old-{n}.xml.gz" for n in range(count - 1)] + ["last.xml.gz"]
            entries = "".join(f"<sitemap><loc>{origin}/{name}</loc></sitemap>\n" for name in names)
            index = _HEAD.replace(b"urlset", b"sitemapindex") + entries.encode() + b"</sitemapindex>\n"
            self._send([index], "application/xml")
        elif path.endswith(".gz") and many:
            self._send([self.files["last" if "last" in path else "old"]], "application/gzip")
        else:
            self.send_error(404)

    def _send(self, pieces: Iterator[bytes] | list[bytes], kind: str, size: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        pieces = list(pieces) if size is None else pieces
        self.send_header("Content-Length", str(sum(map(len, pieces)) if isinstance(pieces, list) else size))
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


def main() -> None:
    Handler.first_port, seconds = int(sys.argv[1]), float(sys.argv[2])
    origin = f"http://127.0.0.1:{Handler.first_port + SITES}"
    Handler.files.update(old=packed(origin, recent=0), last=packed(origin, recent=10))
    for number in range(SITES + 1):
        server = ThreadingHTTPServer(("127.0.0.1", Handler.first_port + number), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    time.sleep(seconds)


if __name__ == "__main__":
    main()
