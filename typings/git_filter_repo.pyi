from collections.abc import Callable, Sequence

class Blob:
    id: int
    def __init__(self, data: bytes) -> None: ...

class FileChange:
    type: bytes
    filename: bytes
    mode: bytes | None
    blob_id: bytes | int | None

class Commit:
    message: bytes
    file_changes: list[FileChange]

class Tag:
    message: bytes

class FilteringOptions:
    @staticmethod
    def parse_args(input_args: Sequence[str]) -> object: ...

class RepoFilter:
    def __init__(
        self,
        args: object,
        *,
        commit_callback: Callable[[Commit, object], None],
        tag_callback: Callable[[Tag, object], None],
    ) -> None: ...
    def insert(self, obj: Blob) -> None: ...
    def run(self) -> None: ...
    def cleanup(
        self, repo: bytes, repack: bool, reset: bool, run_quietly: bool = ..., show_debuginfo: bool = ...
    ) -> None: ...
