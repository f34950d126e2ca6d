"""A web server on this machine for tests of downloads."""

from __future__ import annotations

import re
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Server:
    """A file server with ranges, marks and faults."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None, int]] = []
        # The connection breaks after so many bytes of the answer, once for each entry.
        self.breaks: list[int] = []
        self.ranges = True
        self.mark = '"first"'
        self.mark_header = "ETag"
        self.wrong_range = False
        self.headers: dict[str, str] = {}  # sent besides, or instead of others
        self.redirects: dict[str, str] = {}
        self.endless = False
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.lstrip("/")
        if name in self.redirects:
            handler.send_response(302)
            handler.send_header("Location", self.redirects[name])
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        content = self.files.get(name)
        wanted = handler.headers.get("Range")
        if content is None:
            self.requests.append((name, wanted, 404))
            handler.send_error(404)
            return
        start, status, extra = 0, 200, {}
        same = handler.headers.get("If-Range") == self.mark
        if wanted and self.ranges and same and (match := re.fullmatch(r"bytes=(\d+)-", wanted)):
            start = int(match[1])
            status, extra = 206, {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            if self.wrong_range:
                extra = {"Content-Range": f"bytes 0-{len(content) - 1}/{len(content)}"}
            if start >= len(content):
                status, extra = 416, {"Content-Range": f"bytes */{len(content)}"}
        self.requests.append((name, wanted, status))
        body = b"" if status == 416 else content[start:]
        handler.send_response(status)
        headers = {"Content-Length": str(len(body)), self.mark_header: self.mark, **extra, **self.headers}
        if self.endless:
            del headers["Content-Length"]
            handler.close_connection = True
        for key, value in headers.items():
            handler.send_header(key, value)
        handler.end_headers()
        if handler.command == "HEAD":
            return
        while self.endless:
            handler.wfile.write(body)
        cut = self.breaks.pop(0) if self.breaks else len(body)
        handler.wfile.write(body[:cut])
        if cut < len(body):
            handler.close_connection = True


@contextmanager
def serving() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            state.answer(self)

        do_HEAD = do_GET

        def log_message(self, *_args: object) -> None:
            pass

    class QuietServer(ThreadingHTTPServer):
        def handle_error(self, *_args: object) -> None:
            """A client that hangs up is part of these tests."""

    with QuietServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        state.url = f"http://127.0.0.1:{http.server_address[1]}/"
        yield state
        http.shutdown()
        thread.join()


def zipped(folder: Path, top: str) -> bytes:
    """Zip a folder as OGB does: everything under one top folder."""
    archive = folder.parent / f"{top}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, f"{top}/{path.relative_to(folder)}")
    return archive.read_bytes()
