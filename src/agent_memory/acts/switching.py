"""Pauses, and projects that memory stays out of: what `memory pause`, `memory resume` and the page change, and which sessions
are those of such a project. Only a person may change them: an agent that paused memory would hide what it does.
`capture.switches` says what follows."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen

from agent_memory.caller import Caller
from agent_memory.capture.places import known_places, redacted_scope
from agent_memory.capture.repository import GLOBAL_SCOPE, read_repository, stated_scope
from agent_memory.capture.switches import (
    MAX_PAUSES,
    PAUSE_KEYS,
    Pause,
    Switches,
    inode_of,
    pattern_problem,
    read_pauses,
)
from agent_memory.errors import StateCorrupt, UsageInvalid
from agent_memory.files.durable import make_directories, replace_file
from agent_memory.files.json_lite import json_object
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import absolute, config_path, home_of, pauses_path
from agent_memory.ports import Clock
from agent_memory.results import as_result
from agent_memory.text.instants import LAST_MS, iso_of

if TYPE_CHECKING:
    from agent_memory.care.checks import ScopeUse


@frozen
class Project:
    """A project that has notes, or in which this store was asked for on this machine."""

    scope: str
    notes: int
    path: str = ""
    """Its directory, if it is known."""
    switch: str = ""
    """`paused` or `excluded` where memory stays out of it; else empty."""
    because: str = ""


@frozen
class Switching:
    environ: Mapping[str, str]
    cwd: str
    real_root: str
    caller: Caller
    clock: Clock

    @as_result
    def pause(self, project: str | None, for_ms: int | None) -> Pause:
        """Pauses a project (a directory, or a key), or everything, for a time or until somebody resumes, and returns the
        pause; it replaces one of the same project."""
        self.caller.only_a_person("pause")
        now_ms = self.clock.now_ms()
        if for_ms is not None and not 0 < for_ms <= LAST_MS - now_ms:
            raise UsageInvalid(
                "A pause of that length is not possible", "Give a time such as 2h, or none for a pause without end."
            )
        until = "" if for_ms is None else iso_of(now_ms + for_ms)
        new = Pause(iso_of(now_ms), until, *(("", "", "") if project is None else self._place(project)))
        with self._changing() as pauses:
            self._end(pauses, lambda each: each.scope == new.scope)
            pauses.append(new)
        return new

    @as_result
    def resume(self, project: str | None) -> tuple[Pause, ...]:
        """Ends the pause of a project, or all pauses, and returns those that it ended. A damaged list of all is replaced."""
        self.caller.only_a_person("resume")
        scope = None if project is None else self._place(project)[0]
        with self._changing(whatever_it_holds=project is None) as pauses:
            return self._end(pauses, lambda each: scope in (None, each.scope))

    @as_result
    def paused(self) -> tuple[Pause, ...]:
        """Returns the pauses that are not over."""
        now = iso_of(self.clock.now_ms())
        return tuple(each for each in self._read() if not each.is_over(now))

    @as_result
    def exclude(self, project: str, *, include: bool = False) -> str:
        """Puts a project into `projects.exclude` of the person's config, or takes it out again, and returns its pattern."""
        from agent_memory.setup.config_files import change_own_config  # searches in sessions do without
        from agent_memory.setup.plan import SetupState

        self.caller.only_a_person("config set projects.exclude")
        scope, path, _ = self._place(project)
        pattern = (path or scope.removeprefix("path:")) if scope.startswith("path:") else scope
        if problem := pattern_problem(pattern):
            raise UsageInvalid(f"{project} cannot be excluded: {pattern} {problem}")

        def change(document: dict[str, Any]) -> bool:
            patterns = document.setdefault("projects", {}).setdefault("exclude", [])
            is_due = (pattern in patterns) is include
            patterns[:] = [each for each in patterns if each != pattern] + ([] if include else [pattern])
            return is_due

        with SetupState(self._home).locked():
            change_own_config(config_path(self._home), change)
        off = Switches(self.environ).off(path or None, scope) if include else None
        if off is not None:
            raise UsageInvalid(f"{pattern} is not excluded by itself. {off.sentence}")
        return pattern

    def projects(self, uses: tuple[ScopeUse, ...]) -> tuple[Project, ...]:
        """Returns the projects with these scopes, and those in which this store was asked for on this machine."""
        known = known_places(self.environ, self.real_root)
        paths = {redacted_scope(each.scope): each.common.removesuffix("/.git") for each in known.all()}
        counts = dict.fromkeys(sorted(paths), 0) | {each.scope: each.notes for each in uses}
        switches = Switches(self.environ)
        projects: list[Project] = []
        for scope, notes in counts.items():
            if scope != GLOBAL_SCOPE:
                path = paths.get(scope, scope.removeprefix("path:") if scope.startswith("path:") else "")
                off = switches.off(path or None, scope)
                projects.append(Project(scope, notes, path, *(() if off is None else (off.kind, off.sentence))))
        return tuple(sorted(projects, key=lambda each: -each.notes))

    def _place(self, project: str) -> tuple[str, str, str]:
        """Returns the key, directory and inode of the project that a person means, the last two if they are known. A
        directory with a secret in its name is not written down (P20)."""
        path = absolute(project, self._home, lambda: self.cwd)
        if not os.path.isdir(path):
            scope = None if project.startswith(("/", "~", ".")) else stated_scope(project)
            if scope is None or scope == GLOBAL_SCOPE:
                hint = "Give its directory, or its key as `memory scope list` shows it."
                raise UsageInvalid(f"There is no project {project!r}", hint)
            known = known_places(self.environ, self.real_root)
            places = (each for each in known.all() if redacted_scope(each.scope) == scope)
            path = next((each.common for each in places), scope.removeprefix("path:")).removesuffix("/.git")
            if not os.path.isdir(path):
                return scope, path if path.startswith("/") else "", ""
        here = read_repository(path, self.environ)
        if here.scope == GLOBAL_SCOPE:
            raise UsageInvalid(f"{path} is not a project", "Without a project, `memory pause` pauses everything.")
        return redacted_scope(here.scope), here.top if redacted_scope(here.top) == here.top else "", inode_of(here.top)

    # -- the file -----------------------------------------------------------------------------------------------------

    @property
    def _home(self) -> str:
        return home_of(self.environ)

    def _read(self) -> tuple[Pause, ...]:
        pauses, problem = read_pauses(self._home)
        if problem:
            raise StateCorrupt(pauses_path(self._home), (f"{problem}; `memory resume` replaces it",))
        return pauses

    @contextmanager
    def _changing(self, *, whatever_it_holds: bool = False) -> Generator[list[Pause], None, None]:
        """Yields the pauses, and writes what has become of them; the list is read anew once nobody else changes it."""
        path = pauses_path(self._home)
        with file_lock(f"{path}.lock", 10.0):
            pauses = list(read_pauses(self._home)[0] if whatever_it_holds else self._read())
            yield pauses
            rows = [{key: value for key in PAUSE_KEYS if (value := getattr(each, key))} for each in pauses]
            with as_store_io("write", path):
                make_directories(os.path.dirname(path))
                replace_file(path, f"{json_object({'version': 1, 'pauses': rows[-MAX_PAUSES:]})}\n".encode())

    def _end(self, pauses: list[Pause], is_meant: Callable[[Pause], bool]) -> tuple[Pause, ...]:
        """Ends those that are meant and not over, and returns them as they were. One from the future never was."""
        now = iso_of(self.clock.now_ms())
        ended = tuple(each for each in pauses if is_meant(each) and not each.is_over(now))
        pauses[:] = [
            Pause(each.since, now, each.scope, each.path, each.inode) if each in ended else each
            for each in pauses
            if each not in ended or each.since < now
        ]
        return ended
