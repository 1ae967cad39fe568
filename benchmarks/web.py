"""A static web server on loopback, a process of its own: one port for each workload's folder.

`python -m benchmarks.web ROOT FIRST_PORT SECONDS` ends by itself after SECONDS at the latest. It prints `ready`.
"""

import mimetypes
import os
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.workloads import LETTERS


class Handler(SimpleHTTPRequestHandler):
    """Files as they are: a .gz file is its own type and no content coding."""

    protocol_version = "HTTP/1.1"
    extensions_map = {".xml": "application/xml", ".gz": "application/gzip", ".txt": "text/plain", ".html": "text/html"}  # noqa: RUF012

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass

    def copyfile(self, source, outputfile) -> None:  # type: ignore[no-untyped-def]
        outputfile.flush()
        size, sent = os.fstat(source.fileno()).st_size, 0
        try:
            while sent < size:
                sent += os.sendfile(self.connection.fileno(), source.fileno(), sent, size - sent)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server(ThreadingHTTPServer):
    """Serves one folder."""

    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is no event."""


def main() -> None:
    root, first_port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    mimetypes.init()
    for number, letter in enumerate(LETTERS):
        handler = partial(Handler, directory=os.path.join(root, letter))
        server = Server(("127.0.0.1", first_port + number), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait(seconds)


if __name__ == "__main__":
    main()
