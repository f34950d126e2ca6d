"""One download that can be interrupted: a part file beside the target, continued with an HTTP range request.

The class follows pooch's interface for downloaders; pooch itself compares the checksum and
moves the file into place.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from geodim.errors import DataFileError
from geodim.optional import require
from geodim.output import make_folder, naming, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import requests

__all__ = ["ResumingDownloader"]

_log = logging.getLogger(__name__)
# What has arrived of a piece is lost when the connection breaks, so pieces are small.
PIECE_BYTES = 64 << 10


def _check_redirect(response: requests.Response, **_settings: object) -> None:
    """Refuse redirects to files of this machine, and from encrypted addresses to ones that are not."""
    if response.is_redirect:
        target = urljoin(response.url, response.headers["Location"])
        scheme, before = urlsplit(target).scheme, urlsplit(response.url).scheme
        if scheme not in ("https", before) or scheme not in ("http", "https"):
            response.close()
            raise DataFileError(
                f"{response.url} redirects to {target}, which is not followed: it is not {before}"
            )


class ResumingDownloader:
    """Download over HTTP into a part file, and continue that file when it is already there.

    A part is continued only if the server still has the same file: its ETag or modification time, kept beside
    the part, goes along in ``If-Range``, and a server whose file has changed sends it whole.

    Parameters
    ----------
    part
        The part file; it stays when a download fails, and a second file ``<part>.json``
        holds the server's mark.
    limit
        The most bytes that are taken: a body without an end would fill the disk.
    progress
        Whether to show a progress bar on standard error.
    retries
        How many broken connections in a row, without anything new arriving, to accept before giving up.
    pause
        Seconds to wait before the first retry; doubled each time.
    timeout
        Seconds of silence after which a connection counts as broken.
    """

    def __init__(
        self,
        part: Path,
        *,
        limit: int,
        progress: bool = False,
        retries: int = 4,
        pause: float = 1.0,
        timeout: float = 30.0,
    ) -> None:
        self.part = part
        self.mark = part.with_name(f"{part.name}.json")
        self.limit = limit
        self.progress = progress
        self.retries = retries
        self.pause = pause
        self.timeout = timeout

    def __call__(
        self,
        url: str,
        output_file: str,
        pooch: object = None,  # noqa: ARG002 - part of pooch's interface
        check_only: bool = False,
    ) -> bool | None:
        """Download ``url`` to ``output_file``, as pooch asks.

        With ``check_only``, return whether it can be reached.
        """
        requests = require("requests", "data", "downloading data sets")
        if check_only:
            return bool(requests.head(url, timeout=self.timeout, allow_redirects=True).ok)
        broken = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
        failures = 0
        with requests.Session() as session:
            while True:
                before = self._state(url)[0]
                try:
                    self._continue(session, url)
                    break
                except broken as error:
                    # Only failures in a row count: a large file may need many connections.
                    failures = 1 if self._state(url)[0] > before else failures + 1
                    if failures > self.retries:
                        raise DataFileError(
                            f"downloading {url} failed ({error}); what has arrived is kept in {self.part}, "
                            "and the next attempt continues there"
                        ) from error
                    _log.info("the connection to %s broke, continuing: %s", url, error)
                    time.sleep(self.pause * 2 ** (failures - 1))
                except requests.RequestException as error:
                    raise DataFileError(f"downloading {url} failed: {error}") from error
        with naming(output_file):
            self.part.replace(output_file)
            self.mark.unlink(missing_ok=True)
        return None

    def _continue(self, session: requests.Session, url: str) -> None:
        """Make one request, and append what arrives to the part."""
        have, validator = self._state(url)
        # Without compression: a range counts bytes of what is sent.
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": validator}
        hooks = {"response": _check_redirect}
        with session.get(url, headers=headers, stream=True, timeout=self.timeout, hooks=hooks) as response:
            if response.status_code == 416 and have:
                # The part is as long as the file, or longer: complete, or of another file.
                if response.headers.get("Content-Range", "") == f"bytes */{have}":
                    return
                self._forget()
                self._continue(session, url)
                return
            response.raise_for_status()
            if response.headers.get("Content-Type", "").lower().startswith("text/html"):
                raise DataFileError(
                    f"{url}: the answer is a web page, not the file; does this network want a login first?"
                )
            resumed = response.status_code == 206 and response.headers.get("Content-Range", "").startswith(
                f"bytes {have}-"
            )
            if response.status_code == 206 and not resumed:
                raise DataFileError(f"{url}: the server answered with a range that was not asked for")
            if not resumed:
                have = 0
                self._remember(url, response.headers)
            self._receive(response, url, have)

    def _receive(self, response: requests.Response, url: str, have: int) -> None:
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() else None
        self._check_size(url, total or 0)
        make_folder(self.part.parent)
        with naming(self.part):
            file = self.part.open("ab" if have else "wb")
        size = have
        with file, self._bar(have, total) as advance:
            for piece in response.iter_content(PIECE_BYTES):
                with naming(self.part):
                    file.write(piece)
                    file.flush()
                advance(len(piece))
                size += len(piece)
                self._check_size(url, size)
        if total is not None and size != total:
            # requests reports a short body by itself only since urllib3 2.
            requests = require("requests", "data", "downloading data sets")
            raise requests.ConnectionError(f"{size} of {total} bytes arrived")

    def _check_size(self, url: str, size: int) -> None:
        if size > self.limit:
            self._forget()
            raise DataFileError(
                f"{url}: at least {size:,} bytes, but no more than {self.limit:,} "
                "are expected: this is another file"
            )

    def _state(self, url: str) -> tuple[int, str]:
        """Return how many bytes can be continued, and the server's mark for them."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            mark = json.loads(self.mark.read_text(encoding="utf-8"))
            if mark["url"] == url and mark["validator"] and self.part.is_file():
                return self.part.stat().st_size, str(mark["validator"])
        return 0, ""

    def _remember(self, url: str, headers: Mapping[str, str]) -> None:
        etag = headers.get("ETag", "")
        # A weak mark says "equivalent", not "byte for byte the same", and must not be
        # used with ranges (RFC 9110).
        validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified", "")
        make_folder(self.mark.parent)
        write_text(self.mark, json.dumps({"url": url, "validator": validator}))

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self.mark.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _bar(self, have: int, total: int | None) -> Iterator[Callable[[int], None]]:
        if not self.progress:
            yield lambda _count: None
            return
        # rich is slow to import and only a terminal needs it.
        rich_console = require("rich.console", "data", "a progress bar")
        rich_progress = require("rich.progress", "data", "a progress bar")
        with rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.DownloadColumn(),
            rich_progress.TransferSpeedColumn(),
            rich_progress.TimeRemainingColumn(),
            console=rich_console.Console(stderr=True),
        ) as progress:
            task = progress.add_task(self.part.name.removesuffix(".part"), total=total, completed=have)
            yield lambda count: progress.update(task, advance=count)
