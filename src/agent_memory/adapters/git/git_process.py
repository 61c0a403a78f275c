"""The `git` of one store, as a child process that the caller's environment and configuration cannot reach (P4).

Measured: an inherited `GIT_DIR` committed memory into the user's project. So the environment is built anew, the
repository and its work tree are named in every call, and no file of the user's or the system's configuration is read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from agent_memory.domain.redaction import redact
from agent_memory.errors import RecorderFailed

_TIMEOUT_SECONDS = 60.0
_NETWORK_SECONDS = 600.0
"""Of a call that talks to a remote: a first sync over a slow line."""
_STDERR_CHARS = 600
_NOT_STARTED = 127
_UNHEARD = 126
TIMED_OUT = 124

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


_PROGRAM = """
import os, runpy, sys
sys.path[:], module = sys.argv[1].split(os.pathsep), sys.argv[2]
del sys.argv[1:3]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""Runs a module that is found where this process finds its own, whatever an installer did to lead it there."""


OURSELVES = ("agent-memory", "agent-memory@localhost")
"""Who git says has written a commit: name and address."""


@frozen
class GitOutput:
    """How a call of git ended."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def text(self) -> str:
        """Standard output without the newline at its end."""
        return os.fsdecode(self.stdout).rstrip("\n")


class GitProcess:
    """Calls of git on the repository `<root>/.git`, or another `directory`, and no other, whatever lies around the root.

    Every call raises RecorderFailed where git could not be started or did not end in time.
    """

    def __init__(self, root: Path, environ: Mapping[str, str], directory: Path | None = None) -> None:
        self.root = root
        self.directory = directory or root / ".git"
        self._environ = environ

    def run(
        self, *arguments: str, input: bytes = b"", author: tuple[str, str] = OURSELVES, config: tuple[str, ...] = ()
    ) -> GitOutput:
        """What git answered, a failure of its own included. `config` holds further `key=value`, for this call."""
        return self._ended(self._command(config, arguments), f"git {arguments[0]}", input, self._environment(author))

    def must(self, *arguments: str, input: bytes = b"", author: tuple[str, str] = OURSELVES) -> bytes:
        """Standard output of a call that ended with status 0; else RecorderFailed."""
        output = self.run(*arguments, input=input, author=author)
        if not output.ok:
            raise failed(arguments, output)
        return output.stdout

    def reach(self, *arguments: str) -> GitOutput:
        """Like `run`, for what talks to a remote: the person's own git configuration is read, which says how to log in, and
        nobody is ever asked for a password. Of that configuration no hook, signature or upkeep applies here either."""
        environment = self._environment(OURSELVES)
        for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
            del environment[name]
        environment |= {name: self._environ[name] for name in _PASSED_OUT if name in self._environ}
        environment |= {"GCM_INTERACTIVE": "never", "GIT_LFS_SKIP_SMUDGE": "1"}
        command = self._command(_QUIET, arguments)
        return self._ended(command, f"git {arguments[0]}", b"", environment, _NETWORK_SECONDS)

    def init(self) -> None:
        """`git init` in the root, without the templates of any configuration; harmless where a repository is."""
        words = ("init", "--quiet", "--template=", str(self.root))
        output = self._ended([*self._git(()), *words], "git init", b"", self._environment(OURSELVES))
        if not output.ok:
            raise failed(words, output)

    def python(self, module: str, *arguments: str) -> GitOutput:
        """A module of ours, run as a program of its own in the repository's directory: the git that it starts has the same
        environment and options as the calls above."""
        environment = self._environment(OURSELVES)
        environment["GIT_DIR"] = str(self.directory)
        environment["GIT_CONFIG_COUNT"] = str(len(_OPTIONS))
        for number, option in enumerate(_OPTIONS):
            key, _, value = option.partition("=")
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        command = [sys.executable, "-I", "-c", _PROGRAM, os.pathsep.join(filter(None, sys.path)), module, *arguments]
        return self._ended(command, "git filter-repo", b"", environment, _NETWORK_SECONDS, self.directory)

    # -- how it is called -----------------------------------------------------------------------------------------------

    def _git(self, config: tuple[str, ...]) -> list[str]:
        program = shutil.which("git", path=self._environ.get("PATH", os.defpath))
        if program is None:
            said = "git was not found on PATH; install it, or set storage.autoCommit to false"
            raise RecorderFailed("git", _NOT_STARTED, said)
        return [program, *(part for option in (*_OPTIONS, *config) for part in ("-c", option))]

    def _command(self, config: tuple[str, ...], arguments: tuple[str, ...]) -> list[str]:
        located = ("--git-dir", str(self.directory), "--work-tree", str(self.root), "--literal-pathspecs")
        return [*self._git(config), *located, *arguments]

    def _environment(self, author: tuple[str, str]) -> dict[str, str]:
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
            "GIT_AUTHOR_NAME": author[0],
            "GIT_AUTHOR_EMAIL": author[1],
            "GIT_COMMITTER_NAME": OURSELVES[0],
            "GIT_COMMITTER_EMAIL": OURSELVES[1],
        }

    def _ended(
        self,
        command: list[str],
        shown: str,
        input: bytes,
        environment: dict[str, str],
        limit_seconds: float = _TIMEOUT_SECONDS,
        directory: Path | None = None,
    ) -> GitOutput:
        """Run to the end; after the time limit the whole process group is killed."""
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory or self.root,
                env=environment,
                umask=0o077,
                start_new_session=True,
            )
        except OSError as error:
            said = f"git could not be started: {error.strerror or error}"
            raise RecorderFailed(shown, _NOT_STARTED, said) from error
        with child:
            try:
                stdout, stderr = child.communicate(input, timeout=limit_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise RecorderFailed(shown, TIMED_OUT, f"it did not end within {limit_seconds:g} s") from None
            except OSError as error:  # of the pipes to it
                os.killpg(child.pid, signal.SIGKILL)
                said = f"it could not be spoken with: {error.strerror or error}"
                raise RecorderFailed(shown, _UNHEARD, said) from error
        return GitOutput(child.returncode, stdout, stderr.decode("utf-8", "replace"))


def failed(arguments: tuple[str, ...], output: GitOutput) -> RecorderFailed:
    """The error for a call that ended with another status than 0, with the end of what git said, redacted."""
    said = redact(output.stderr.strip() or output.stdout.decode("utf-8", "replace").strip()).text
    return RecorderFailed(f"git {arguments[0]}", output.status, said[-_STDERR_CHARS:])
