"""Records and state as files under SITEMAP_STORAGE_DIR: plain Scrapy, scrapyd, Scrapy Cloud (with DotScrapy persistence)."""

import os
import tempfile
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, unquote

from scrapy.crawler import Crawler

from sitemap_actor import process
from sitemap_actor.run import run_of


def storage_dir(crawler: Crawler) -> Path:
    """The folder that the setting SITEMAP_STORAGE_DIR names."""
    return Path(crawler.settings["SITEMAP_STORAGE_DIR"])


_EXTENSIONS = {"application/json": ".json", "text/html": ".html", "application/atom+xml": ".atom"}


def write_whole(path: Path, body: bytes) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class FileRecordStore:
    """RecordStore on `SITEMAP_STORAGE_DIR/records/`. The file's ending follows from the content type where it has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the folder that the settings name."""
        return cls(storage_dir(crawler) / "records")

    def _path(self, name: str, content_type: str = "application/json") -> Path:
        ending = "" if "." in name else _EXTENSIONS.get(content_type.partition(";")[0], "")
        return self._folder / (name + ending)

    def write_now(self, name: str, body: bytes, content_type: str) -> None:
        """As `write`, for callers outside the event loop."""
        write_whole(self._path(name, content_type), body)

    async def write(self, name: str, body: bytes, content_type: str) -> None:
        """Write one record, replacing an earlier one of that name."""
        self.write_now(name, body, content_type)

    async def begin(self) -> None:
        """Delete an earlier run's records: its SKIPPED-2 would not be this run's."""
        self.begin_now()

    def begin_now(self) -> None:
        """As `begin`, for callers outside the event loop."""
        for pattern in ("REPORT*", "SKIPPED*", "SUMMARY*", "CHANGES*"):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def where(self) -> str:
        """The folder, as a person would type it."""
        return str(self._folder)


class FileStateStore:
    """StateStore on `SITEMAP_STORAGE_DIR/state/<stateKey>/`, one file per key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run = process.new_identity()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Use the folder that the settings and the job's `stateKey` name."""
        return cls(storage_dir(crawler) / "state" / run_of(crawler).job.state_key)

    def _path(self, key: str) -> Path:
        return self._folder / quote(key, safe="")

    async def read(self, key: str) -> bytes | None:
        """The record under `key`, None where there is none."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    async def write(self, key: str, body: bytes) -> None:
        """Write one record in one step."""
        write_whole(self._path(key), body)

    async def delete(self, key: str) -> None:
        """Delete a record, if it is there."""
        self._path(key).unlink(missing_ok=True)

    async def keys(self, prefix: str) -> list[str]:
        """All keys that start with `prefix`, sorted; half-written files are none."""
        if not self._folder.is_dir():
            return []
        names = (unquote(path.name) for path in self._folder.iterdir() if not path.name.startswith(".new-"))
        return sorted(name for name in names if name.startswith(prefix))

    def identity(self) -> tuple[str, str | None]:
        """This crawl in this process; rows leave by feeds, where no later run can look them up."""
        return self._run, None

    async def has_ended(self, run_id: str) -> bool | None:
        """Whether the process of that id is gone; None where it ran on another machine."""
        return process.has_ended(run_id)

    async def rows_of(self, place: str, offset: int, limit: int) -> list[dict[str, Any]] | None:
        """Nothing can be looked up."""
        return None
