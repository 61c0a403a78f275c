"""The `git` of one store, as a child process that the caller's environment and configuration cannot reach (P4).

Measured: an inherited `GIT_DIR` committed memory into the user's project. So the environment is built anew, the
repository and its work tree are named in every call, and no file of the user's or the system's configuration is read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.redaction import redact
from agent_memory.errors import Error, RecorderFailed

_TIMEOUT_SECONDS = 60.0
_STDERR_CHARS = 600
_NOT_STARTED = 127
_TIMED_OUT = 124
_UNHEARD = 126

_NETWORK_SECONDS = 600.0
"""Of a call that talks to a remote: a first sync over a slow line."""

_PASSED = ("PATH", "TMPDIR", "TZ")
_PASSED_OUT = (
    *("HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
"""What a call that talks to a remote needs besides: where the person's keys and proxies are."""
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "core.quotePath=false",
    "core.fsync=all",
    "commit.gpgSign=false",
    "commit.cleanup=whitespace",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    "advice.detachedHead=false",
)

_QUIET = (
    "core.askPass=",
    "credential.interactive=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "submodule.recurse=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "transfer.credentialsInUrl=allow",
)


@frozen
class Identity:
    """Who git says has written a commit."""

    name: str
    email: str


OURSELVES = Identity("agent-memory", "agent-memory@localhost")


@frozen
class GitOutput:
    """How a call of git ended."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def ok(self) -> bool:
        return self.status == 0


class GitProcess:
    """Calls of git on the repository `<root>/.git`, or another `directory`, and no other, whatever lies around the root."""

    def __init__(self, root: Path, environ: Mapping[str, str], directory: Path | None = None) -> None:
        self.root = root
        self.directory = directory or root / ".git"
        self._environ = environ

    def run(
        self, *arguments: str, input: bytes = b"", author: Identity = OURSELVES, config: tuple[str, ...] = ()
    ) -> Result[GitOutput, Error]:
        """What git answered, a failure of its own included. Failure when it could not be started or did not end.

        `config` holds further `key=value`, for this call.
        """
        further = (part for option in config for part in ("-c", option))
        return self._call((*further, *self._located()), arguments, input, self._environment(author))

    def reach(self, *arguments: str, config: tuple[str, ...] = ()) -> Result[GitOutput, Error]:
        """Like `run`, for what talks to a remote: the person's own git configuration is read, which says how to log in, and
        nobody is ever asked for a password. Of that configuration no hook, signature or upkeep applies here either."""
        further = (part for option in (*_QUIET, *config) for part in ("-c", option))
        environment = {**self._environment(OURSELVES), **self._way_out()}
        for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
            del environment[name]
        return self._call((*further, *self._located()), arguments, b"", environment, _NETWORK_SECONDS)

    def _way_out(self) -> dict[str, str]:
        return {
            **{name: self._environ[name] for name in _PASSED_OUT if name in self._environ},
            "GCM_INTERACTIVE": "never",
            "GIT_LFS_SKIP_SMUDGE": "1",
        }

    def start(self, *arguments: str, stdin: IO[bytes] | int, stdout: IO[bytes] | int) -> subprocess.Popen[bytes] | None:
        """A call whose streams the caller reads, writes and waits for; what git says of errors is on its stderr, a pipe.
        None where it could not be started."""
        program = shutil.which("git", path=self._environ.get("PATH", os.defpath))
        if program is None:
            return None
        options = [part for option in _OPTIONS for part in ("-c", option)]
        try:
            return subprocess.Popen(
                [program, *options, *self._located(), *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                cwd=str(self.root),
                env=self._environment(OURSELVES),
                umask=0o077,
                start_new_session=True,
            )
        except OSError:
            return None

    def init_directory(self, object_format: str) -> Result[GitOutput, Error]:
        """`git init` of `directory`, without a work tree of its own and without any templates."""
        words = ("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(self.directory))
        return self._call((), words, b"", self._environment(OURSELVES))

    def _located(self) -> tuple[str, ...]:
        return ("--git-dir", str(self.directory), "--work-tree", str(self.root), "--literal-pathspecs")

    def init(self) -> Result[GitOutput, Error]:
        """`git init` in the root, without the templates of any configuration; harmless where a repository is."""
        return self._call((), ("init", "--quiet", "--template=", str(self.root)), b"", self._environment(OURSELVES))

    def must(self, *arguments: str, input: bytes = b"", author: Identity = OURSELVES) -> Result[bytes, Error]:
        """Standard output of a call that ended with status 0."""

        def checked(output: GitOutput) -> Result[bytes, Error]:
            return Success(output.stdout) if output.ok else Failure(failed(arguments, output))

        return self.run(*arguments, input=input, author=author).bind(checked)

    def _call(
        self,
        located: tuple[str, ...],
        arguments: tuple[str, ...],
        input: bytes,
        environment: dict[str, str],
        limit_seconds: float = _TIMEOUT_SECONDS,
    ) -> Result[GitOutput, Error]:
        program = shutil.which("git", path=self._environ.get("PATH", os.defpath))
        if program is None:
            return Failure(
                RecorderFailed(
                    "git", _NOT_STARTED, "git was not found on PATH; install it, or set storage.autoCommit to false"
                )
            )
        options = [part for option in _OPTIONS for part in ("-c", option)]
        command = [program, *options, *located, *arguments]
        return _ended(command, arguments, input, str(self.root), environment, limit_seconds)

    def _environment(self, author: Identity) -> dict[str, str]:
        passed = {name: self._environ[name] for name in _PASSED if name in self._environ}
        return {
            **passed,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.root.parent),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_COMMITTER_NAME": OURSELVES.name,
            "GIT_COMMITTER_EMAIL": OURSELVES.email,
        }


def failed(arguments: tuple[str, ...], output: GitOutput) -> RecorderFailed:
    """The error for a call that ended with another status than 0, with the end of what git said, redacted."""
    said = redact(output.stderr.strip() or output.stdout.decode("utf-8", "replace").strip()).text
    return RecorderFailed(f"git {arguments[0]}", output.status, said[-_STDERR_CHARS:])


def _ended(
    command: list[str],
    arguments: tuple[str, ...],
    input: bytes,
    directory: str,
    environment: dict[str, str],
    limit_seconds: float,
) -> Result[GitOutput, Error]:
    """Run to the end; after the time limit the whole process group is killed."""
    shown = f"git {arguments[0]}"
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env=environment,
            umask=0o077,
            start_new_session=True,
        )
    except OSError as error:
        return Failure(RecorderFailed(shown, _NOT_STARTED, f"git could not be started: {error.strerror or error}"))
    with child:
        try:
            stdout, stderr = child.communicate(input, timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return Failure(RecorderFailed(shown, _TIMED_OUT, f"it did not end within {limit_seconds:g} s"))
        except OSError as error:  # of the pipes to it
            os.killpg(child.pid, signal.SIGKILL)
            return Failure(RecorderFailed(shown, _UNHEARD, f"it could not be spoken with: {error.strerror or error}"))
    return Success(GitOutput(child.returncode, stdout, stderr.decode("utf-8", "replace")))
