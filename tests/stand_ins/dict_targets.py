"""`Targets` in memory."""

from __future__ import annotations

from collections.abc import MutableMapping

from attrs import field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, TargetRefused
from agent_memory.rules.section import TargetFile
from agent_memory.section.section_splice import section_in


@frozen
class DictTargets:
    """Files by path; what is in `refused` has a reason there for being refused. Real paths are as they are named."""

    files: MutableMapping[str, bytes] = field(factory=dict[str, bytes])
    refused: MutableMapping[str, str] = field(factory=dict[str, str])
    repositories: frozenset[str] = frozenset()
    """Paths that lie in a git work tree."""
    chains: MutableMapping[str, int] = field(factory=dict[str, int])
    """Bytes that are read together with a file, without its own."""
    written: set[str] = field(factory=set[str])
    kept: MutableMapping[str, str] = field(factory=dict[str, str])
    """Sections that somebody else wrote, by the path of the copy."""

    def read(self, path: str) -> Result[TargetFile, Error]:
        if path in self.refused:
            return Failure(TargetRefused(path, self.refused[path]))
        data = self.files.get(path)
        chain = self.chains[path] + len(data or b"") if path in self.chains else 0
        return Success(TargetFile(path, path, data, path in self.repositories, chain))

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        return self._unchanged(file).map(lambda _: self._put(file, data))

    def remove(self, file: TargetFile) -> Result[str | None, Error]:
        if file.path not in self.files:
            return Success(None)
        return self._unchanged(file).map(lambda _: self._put(file, None))

    def _put(self, file: TargetFile, data: bytes | None) -> str | None:
        before, after = (section_in(each or b"").lash(lambda _: Success(None)).unwrap() for each in (file.data, data))
        if data is None:
            del self.files[file.path]
        else:
            self.files[file.path] = data
        copy = None
        if before is not None and before != after and before not in self.written:
            copy = f"kept/{len(self.kept)}-{file.path.rpartition('/')[2]}"
            self.kept[copy] = before
        self.written.update([] if after is None else [after])
        return copy

    def _unchanged(self, file: TargetFile) -> Result[None, Error]:
        if self.files.get(file.path) != file.data:
            return Failure(TargetRefused(file.path, "it was changed at the same moment; run the command again"))
        return Success(None)
