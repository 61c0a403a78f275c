"""The git history of a store, written anew without some of its files (P28).

The old repository stays in its place until the new one is complete and verified; then they change places, and the old
one goes with all its objects. Nothing of it has to be repeated by hand, and nothing but git is needed. The caller holds
both locks: a commit that came between would be lost.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_there, lies_there
from agent_memory.adapters.git.git_process import GitOutput, GitProcess, failed
from agent_memory.adapters.git.purge_choice import Decided, PurgeRules, decide_purge
from agent_memory.adapters.git.purge_swap import PURGE, finish_swap, new_repository, old_repository, swap
from agent_memory.adapters.surroundings.root import is_directory
from agent_memory.domain.redaction import redact
from agent_memory.errors import Error, PathRefused, RecorderFailed
from agent_memory.formats.export_stream import Choice, StreamBroken, filtered_export

_COPIED = ("config", "description", "info/exclude", "info/attributes")
_EXPORT = ("fast-export", "--all", "--show-original-ids", "--use-done-feature", "--reencode=no", "--signed-tags=strip")
_IMPORT = ("fast-import", "--quiet", "--force", "--done", "--date-format=raw-permissive")
_SAID_CHARS = 400


def purge_history(root: Path, environ: Mapping[str, str], rules: PurgeRules) -> Result[None, Error]:
    """Rewrite every reachable commit; nothing where there is no repository. On a failure the old one is in its place."""
    try:
        finish_swap(root)
        present = is_there(str(root / ".git"))
        if present != Success(True):  # that nobody may look does not mean that there is nothing to rewrite (P28)
            return present.map(lambda _: None)
        if not stat.S_ISDIR(os.lstat(root / ".git").st_mode):
            return Failure(
                PathRefused(str(root / ".git"), "it leads to a repository elsewhere, which is to be purged there")
            )
        if is_directory(str(old_repository(root))):
            if is_directory(str(new_repository(root))):
                made = "it was made while the history was being rewritten; move it away, and run the command again"
                return Failure(PathRefused(str(root / ".git"), made))
            return _settled(root, environ)  # the exchange was made, and only tidying up was left
        if is_directory(str(new_repository(root))):
            shutil.rmtree(new_repository(root))
        make_directories(str(root / PURGE))
    except OSError as error:
        return Failure(store_io(error, "rewrite", str(root / ".git")))
    old = GitProcess(root, environ)
    new = GitProcess(root, environ, new_repository(root))
    return (
        _begun(old, new)
        .bind(lambda _: decide_purge(old, rules))
        .bind(lambda decided: _rewritten(old, new, decided).bind(lambda _: verify_purge(old, new, decided)))
        .bind(lambda _: _swapped(root, environ))
    )


# -- writing ----------------------------------------------------------------------------------------------------------


def _begun(old: GitProcess, new: GitProcess) -> Result[None, Error]:
    """An empty repository with the old one's settings."""

    def made(object_format: str) -> Result[None, Error]:
        begun = new.init_directory(object_format).bind(
            lambda output: Success(None) if output.ok else Failure(failed(("init",), output))
        )
        return begun.bind(lambda _: _with_settings(old, new))

    return old.run("rev-parse", "--show-object-format").map(_format_of).bind(made)


def _format_of(output: GitOutput) -> str:
    return output.stdout.decode("ascii", "replace").strip() or "sha1" if output.ok else "sha1"


def _with_settings(old: GitProcess, new: GitProcess) -> Result[None, Error]:
    try:
        for name in _COPIED:
            source = old.directory / name
            if lies_there(str(source)) and stat.S_ISREG(os.lstat(source).st_mode):
                make_directories(str((new.directory / name).parent))
                shutil.copyfile(source, new.directory / name)
        if is_directory(str(old.directory / "hooks")):
            shutil.copytree(old.directory / "hooks", new.directory / "hooks", symlinks=True, dirs_exist_ok=True)
    except OSError as error:
        return Failure(store_io(error, "copy", str(new.directory)))
    return old.run("symbolic-ref", "--quiet", "HEAD").bind(
        lambda output: (
            new.must("symbolic-ref", "HEAD", output.stdout.decode().strip()).map(lambda _: None)
            if output.ok
            else Success(None)
        )
    )


def _rewritten(old: GitProcess, new: GitProcess, decided: Decided) -> Result[None, Error]:
    """The new repository with every commit of the old one, packed, and nothing unreachable in it."""
    return _piped(old, new, decided.choice).bind(lambda _: new.must("gc", "--quiet", "--prune=now").map(lambda _: None))


def _piped(old: GitProcess, new: GitProcess, choice: Choice) -> Result[None, Error]:
    source = old.start(*_EXPORT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    target = new.start(*_IMPORT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    if source is None or target is None or source.stdout is None or target.stdin is None:
        for process in (source, target):
            if process is not None:
                _ended(process)
        return Failure(RecorderFailed("git fast-export", 127, "git could not be started"))
    broken = ""
    try:
        for piece in filtered_export(source.stdout, choice):
            target.stdin.write(piece)
        target.stdin.close()
    except StreamBroken as error:
        broken = str(error)
    except OSError as error:  # fast-import ended before its time, and says why
        broken = error.strerror or str(error)
    said = {"fast-export": _ended(source), "fast-import": _ended(target)}
    for command, (status, stderr) in said.items():
        if status != 0 or broken:
            tail = redact(stderr.strip()).text[-_SAID_CHARS:]
            return Failure(RecorderFailed(f"git {command}", status, tail or broken))
    return Success(None)


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Its status and what it said of errors; whatever still runs is ended."""
    with process:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was buffered for a reader that is gone
                    continue
        said = b"" if process.stderr is None else process.stderr.read()
        return process.wait(), said.decode("utf-8", "replace")


# -- exchanging -------------------------------------------------------------------------------------------------------


def _swapped(root: Path, environ: Mapping[str, str]) -> Result[None, Error]:
    try:
        swap(root)
    except OSError as error:
        return Failure(store_io(error, "exchange", str(root / ".git")))
    return _settled(root, environ)


def _settled(root: Path, environ: Mapping[str, str]) -> Result[None, Error]:
    """An index for the new repository, and the old one gone."""

    def removed(_: object) -> Result[None, Error]:
        try:
            if is_directory(str(root / PURGE)):
                shutil.rmtree(root / PURGE)
        except OSError as error:
            return Failure(store_io(error, "remove", str(root / PURGE)))
        return Success(None)

    git = GitProcess(root, environ)
    head = git.run("rev-parse", "--quiet", "--verify", "HEAD")
    return head.bind(lambda known: git.run("read-tree", "HEAD") if known.ok else Success(known)).bind(removed)


def verify_purge(old: GitProcess, new: GitProcess, decided: Decided) -> Result[None, Error]:
    """Failure where git finds something wrong, where a ref, a commit or a file is missing that should be there, or where
    something is there that should not."""
    return (
        new.must("fsck", "--full", "--no-progress", "--no-dangling")
        .bind(lambda _: _same(old, new, ("for-each-ref", "--format=%(refname)"), "the refs differ"))
        .bind(lambda _: _same(old, new, ("rev-list", "--all", "--count"), "the number of commits differs"))
        .bind(lambda _: _same_tree(old, new, decided))
        .bind(lambda _: _nothing_left(new, decided.gone))
    )


def _same(old: GitProcess, new: GitProcess, words: tuple[str, ...], otherwise: str) -> Result[None, Error]:
    return old.must(*words).bind(
        lambda before: new.must(*words).bind(
            lambda after: Success(None) if before == after else _wrong(" ".join(words), otherwise)
        )
    )


def _same_tree(old: GitProcess, new: GitProcess, decided: Decided) -> Result[None, Error]:
    """The newest commit holds what it held, without what goes."""

    def compared(before: GitOutput, after: GitOutput) -> Result[None, Error]:
        choice = decided.choice
        wanted, found = dict(_tree(before)), dict(_tree(after))
        for path, id in tuple(wanted.items()):
            if choice.drops_path(path) or (path, id) in choice.dropped:
                del wanted[path]
            elif (path, id) in choice.rewritten:
                wanted[path] = found.get(path, "")
        return Success(None) if wanted == found else _wrong("ls-tree HEAD", "the newest commit holds something else")

    words = ("ls-tree", "-r", "-z", "HEAD")
    return old.run(*words).bind(lambda before: new.run(*words).bind(lambda after: compared(before, after)))


def _tree(output: GitOutput) -> Iterable[tuple[str, str]]:
    for line in output.stdout.split(b"\0") if output.ok else ():
        if line:
            head, _, path = line.partition(b"\t")
            yield os.fsdecode(path), head.split(b" ")[2].decode("ascii")


def _nothing_left(new: GitProcess, gone: frozenset[str]) -> Result[None, Error]:
    if not gone:
        return Success(None)
    asked = new.must("cat-file", "--batch-check", input="".join(f"{id}\n" for id in sorted(gone)).encode())
    return asked.bind(
        lambda output: (
            Success(None)
            if all(line.endswith(b" missing") for line in output.splitlines())
            else _wrong("cat-file", "something that was to go is still there")
        )
    )


def _wrong(command: str, what: str) -> Failure[Error]:
    return Failure(RecorderFailed(f"git {command}", 1, f"the rewritten history was refused: {what}"))
