"""Replies on disk: `runs/<run-id>/replies/<key>.json`, and `<key>.spent.json` once they were applied or refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, move_file, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.records.run_files import files_of_runs
from agent_memory.domain.run import KeptReply
from agent_memory.errors import Error
from agent_memory.formats.run_json import parse_reply_record, render_reply
from agent_memory.results import sealed


class RepliesFiles:
    """`Replies` in the directory `runs` of a root."""

    def __init__(self, root: Path) -> None:
        self._runs = root / "runs"

    def find_reply(self, key: str) -> Result[KeptReply | None, Error]:
        """See the port. The newest, should there be several."""
        try:
            paths = files_of_runs(self._runs, f"replies/{_slug(key)}.json")
            if not paths:
                return Success(None)
            text = paths[-1].read_bytes().decode("utf-8", "replace")
        except OSError as error:
            return Failure(store_io(error, "read", str(self._runs)))
        match sealed(parse_reply_record(text, str(paths[-1]))):
            case Success(reply):
                return Success(reply)
            case Failure(_):
                return self.spend_reply(key).bind(lambda _: self.find_reply(key))

    def keep_reply(self, run_id: str, key: str, reply: KeptReply) -> Result[None, Error]:
        """See the port."""
        return self.write(self._runs / run_id / "replies" / f"{_slug(key)}.json", render_reply(reply))

    def spend_reply(self, key: str) -> Result[None, Error]:
        """See the port: the file becomes `<key>.spent.json`."""
        try:
            for path in files_of_runs(self._runs, f"replies/{_slug(key)}.json"):
                move_file(str(path), str(path.with_suffix(".spent.json")))
        except OSError as error:
            return Failure(store_io(error, "move", str(self._runs)))
        return Success(None)

    def drop_reply(self, key: str) -> Result[None, Error]:
        """See the port."""
        try:
            for ending in (".json", ".spent.json"):
                for path in files_of_runs(self._runs, f"replies/{_slug(key)}{ending}"):
                    path.unlink(missing_ok=True)
                    fsync_directory(str(path.parent))
        except OSError as error:
            return Failure(store_io(error, "remove", str(self._runs)))
        return Success(None)

    def write(self, path: Path, text: str) -> Result[None, Error]:
        """Make a file under `runs/` hold `text`, durably."""
        try:
            make_directories(str(path.parent))
            replace_file(str(path), text.encode("utf-8", "replace"))
        except OSError as error:
            return Failure(store_io(error, "write", str(path)))
        return Success(None)


def _slug(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
