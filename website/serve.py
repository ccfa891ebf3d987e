"""Serve the built site on localhost, on the first free port from 8000.

python website/serve.py _build/html
"""

import errno
import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST, FIRST, LAST = "127.0.0.1", 8000, 8099


class Handler(SimpleHTTPRequestHandler):
    """Files as they are, never from the browser's cache, and no line of log for each of them."""

    # The system's own table may know neither, and a module script with another type is refused by browsers.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
    }

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *args):
        pass


def server(folder: Path, ports=range(FIRST, LAST + 1)) -> ThreadingHTTPServer:
    """A server for the folder on the first of the ports that is free; port 0 means any."""
    handler = functools.partial(Handler, directory=str(folder))
    for port in ports:
        try:
            return ThreadingHTTPServer((HOST, port), handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise SystemExit(f"No free port between {ports[0]} and {ports[-1]}: stop another server and try again.")


def main(folder: Path) -> None:
    if not (folder / "index.html").is_file():
        raise SystemExit(f"{folder} holds no site: run `make site` first.")
    with server(folder) as httpd:
        print(f"\nThe book is at http://{HOST}:{httpd.server_port}/  (Ctrl-C to stop)", flush=True)
        try:
            httpd.serve_forever()
        except KeyboardInterrupt:
            print("\nStopped.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
