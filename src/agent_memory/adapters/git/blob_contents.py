"""What objects of a repository hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from returns.result import Result, Success

from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.errors import Error


def contents_of(git: GitProcess, ids: Iterable[str]) -> Result[Mapping[str, bytes], Error]:
    """What the blobs among these objects hold, by id; one that is missing is not among them."""
    wanted = sorted(ids)
    if not wanted:
        return Success({})
    asked = git.must("cat-file", "--batch", input="".join(f"{id}\n" for id in wanted).encode())
    return asked.map(_read_batch)


def _read_batch(output: bytes) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        words = output[at:end].split(b" ")
        at = end + 1
        if len(words) == 3 and words[1] != b"missing":
            size = int(words[2])
            if words[1] == b"blob":
                found[words[0].decode("ascii")] = output[at : at + size]
            at += size + 1
    return found
