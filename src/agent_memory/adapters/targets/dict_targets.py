"""`Targets` in memory."""

from __future__ import annotations

from collections.abc import MutableMapping

from returns.result import Failure, Result, Success

from agent_memory.domain.target_file import TargetFile
from agent_memory.errors import Error, TargetRefused
from agent_memory.values import field, frozen


@frozen
class DictTargets:
    """Files by path; what is in `refused` has a reason there for being refused. Real paths are as they are named."""

    files: MutableMapping[str, bytes] = field(factory=dict[str, bytes])
    refused: MutableMapping[str, str] = field(factory=dict[str, str])
    repositories: frozenset[str] = frozenset()
    """Paths that lie in a git work tree."""
    chains: MutableMapping[str, int] = field(factory=dict[str, int])
    """Bytes that are read together with a file, without its own."""

    def read(self, path: str) -> Result[TargetFile, Error]:
        """See the port."""
        if path in self.refused:
            return Failure(TargetRefused(path, self.refused[path]))
        data = self.files.get(path)
        chain = self.chains[path] + len(data or b"") if path in self.chains else 0
        return Success(TargetFile(path, path, data, path in self.repositories, chain))

    def write(self, file: TargetFile, data: bytes) -> Result[None, Error]:
        """See the port."""
        return self._unchanged(file).map(lambda _: self.files.update({file.path: data}))

    def remove(self, file: TargetFile) -> Result[None, Error]:
        """See the port."""
        if file.path not in self.files:
            return Success(None)
        return self._unchanged(file).map(lambda _: self._dropped(file.path))

    def _dropped(self, path: str) -> None:
        del self.files[path]

    def _unchanged(self, file: TargetFile) -> Result[None, Error]:
        if self.files.get(file.path) != file.data:
            return Failure(TargetRefused(file.path, "it was changed at the same moment; run the command again"))
        return Success(None)
