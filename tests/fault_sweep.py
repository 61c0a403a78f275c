"""One scene, each of its disk calls in turn with each fault: what is wrong afterwards, in words (P5)."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field

from conservation import violations
from disk_faults import ERRORS, KILL, LASTING, NONE, SHORT, Fault, calls_of, struck
from faults import snapshot
from memory_process import Done, Memory
from swept_scenes import Scene

T = TypeVar("T")

EXIT_CODES = (0, 2, 10, 20, 30, 40, 50, 60, 70, 75)
LITTER = ("**/.tmp-*", ".transaction/*", ".git/*.lock")
CHANGING = {
    *("chmod", "fchmod", "fsync", "ftruncateN", "link", "mkdir", "rename", "rmdir", "unlink", "unlinkat", "utimensat"),
    "write",
}
LOCKING = ("flock", "fcntl")
LEAST_MOMENTS = 6
"""So many looks and so many changes of each scene are tried, however much of what it does others do, too."""
MOST_SHOWN = 600
"""Characters of a complaint."""
HOOK_LOG = ".local/state/agent-memory/hook-log.jsonl"


def moments(calls: Sequence[str], known: set[tuple[str, str]]) -> list[int]:
    """Positions (1 is the first) of one call of each sort that `known` lacks, and evenly of the other sorts, so that there are
    LEAST_MOMENTS. A sort is what a call does to which kind of file and, where that changes the disk, the call before it. Of
    the same look at each of many notes, one in the middle stands for all. `known` learns the sorts."""
    kinds = [kind_of(call) for call in calls]
    looks, changes = dict[tuple[str, str], list[int]](), dict[tuple[str, str], list[int]]()
    for at, kind in enumerate(kinds, 1):
        changing = kind.split()[0] in CHANGING
        sort = (kinds[at - 2] if at > 1 and changing else "", kind)
        (changes if changing else looks).setdefault(sort, []).append(at)
    found = []
    for alike in (looks, changes):
        new, old = (
            [ats[len(ats) // 2] for sort, ats in alike.items() if (sort in known) is is_old] for is_old in (False, True)
        )
        found += [*new, *spread(old, LEAST_MOMENTS - len(new))]
        known.update(alike)
    return sorted(found)


def kind_of(call: str) -> str:
    """A call without what tells one note, one run or one temporary file from another."""
    named = re.sub(r"[^/]* id__\w+[^/]*", "NOTE", call)
    return re.sub(r"\d+", "N", re.sub(r"[0-9a-f]{8,}|\d{4}-\d\d-\d\dT[^/]*|\d{6,}[\w.-]*", "NAME", named))


def faults(calls: Sequence[str], known: set[tuple[str, str]]) -> Iterator[Fault]:
    """Each of the `moments` with one of the errors in turn, since the code tells them apart only where it locks; a call that
    changes the disk also with a disk that stays full, a short write, and a kill: between looks, a kill finds the same disk."""
    for turn, at in enumerate(moments(calls, known), len(known)):
        name = kind_of(calls[at - 1]).split()[0]
        yield from (Fault(at, error) for error in (ERRORS if name in LOCKING else ERRORS[turn % len(ERRORS) :][:1]))
        if name in CHANGING:
            yield Fault(at, LASTING[turn % len(LASTING)], is_lasting=True)
            yield Fault(at, KILL)
        if name == "write":
            yield Fault(at, SHORT)


def spread(found: Sequence[T], count: int) -> Sequence[T]:
    """So many of them, if there are as many, evenly from all."""
    most = min(max(0, count), len(found))
    return [found[(2 * number + 1) * len(found) // (2 * most)] for number in range(most)]


@define
class Sweep:
    """One scene in a home that is put back for each fault."""

    kept: Path
    """The home as it is before; a copy of it is put where `home` is."""
    home: Path
    scene: Scene
    known: set[tuple[str, str]] = field(factory=set)
    """What other sweeps have tried."""
    outcomes: Counter[str] = field(factory=Counter)
    _prepared: Path | None = None
    _before: object = field(init=False)
    _after: object = field(init=False)
    _said: object = field(init=False)
    _answered: str = field(init=False)
    _symptoms: set[str] = field(init=False)

    def complaints(self, choose: Callable[[Sequence[Fault]], Sequence[Fault]]) -> list[str]:
        """What went wrong with some of all the faults that there can be; `outcomes` counts how the calls ended."""
        memory = self.fresh()
        calls = calls_of(memory, self.scene)
        chosen = choose([*faults(calls, self.known)])
        self._before = self.scene.seen(self.fresh())
        straight = self.fresh()
        done = struck(straight, Fault(0, NONE), self.scene, DISK_SYNC="lies")
        assert done.code in self.scene.ends, done
        self._after = self.scene.seen(straight)
        self._said = self.scene.said(done) if self.scene.said else None
        self._answered = done.out
        self._symptoms = {*_symptoms(straight), *_symptoms(self.fresh())}
        return [f"{fault}, {calls[fault.at - 1]}: {wrong}" for fault in chosen for wrong in self._wrong(fault)]

    def fresh(self) -> Memory:
        """The home, put back and prepared."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self._prepared or self.kept, self.home, symlinks=True)
        memory = Memory(self.home)
        if self.scene.prepare is not None and self._prepared is None:
            self.scene.prepare(memory)
            prepared = self.home.with_name(f"{self.home.name}-prepared")
            shutil.rmtree(prepared, ignore_errors=True)
            self._prepared = Path(shutil.copytree(self.home, prepared, symlinks=True))
        return memory

    def _wrong(self, fault: Fault) -> list[str]:
        memory = self.fresh()
        before = _kept_in(memory.home)
        done = self._struck(memory, fault)
        if done is None:
            self.outcomes["missed"] += 1
            return []
        self.outcomes["died" if done.code < 0 else "well" if self._is_well(done) else "one error"] += 1
        wrong = [*self._answer(fault, done, memory), *_torn(memory)]
        if wrong:
            return wrong
        if _kept_in(memory.home) == before:
            return [*self._untouched(done, memory)]
        return [*self._afterwards(done, memory, _below(memory, before), is_lasting=fault.is_lasting)]

    def _struck(self, memory: Memory, fault: Fault) -> Done | None:
        """The scene's call with that fault in it. None where one to be killed had less to do than the time before, and never
        came there. Nothing but the process is cut off: what it wrote is there."""
        log = memory.home.with_name(f"{memory.home.name}-kills.calls")
        log.unlink(missing_ok=True)
        kills = {"DISK_CALLS": str(log)} if fault.what == KILL else {}
        done = struck(memory, fault, self.scene, DISK_SYNC="lies", **kills)
        return None if kills and len(log.read_bytes().splitlines()) < fault.at else done

    def _untouched(self, done: Done, memory: Memory) -> Iterator[str]:
        """Where nothing but what is derived can have changed: whether it was the end, and whether the next call knows all."""
        if self._is_well(done) and self._before != self._after and not self.scene.is_hook and not self._admits(done):
            yield f"it said that it was done: {done}"
        again = self._again(memory)
        if not self._is_well(again):
            yield f"not the next time either: {done}, {again}"
        elif self.scene.said and self.scene.said(again) != self._said:
            yield f"it answers otherwise the next time: {again}"

    def _again(self, memory: Memory) -> Done:
        """The scene's call once more, with nothing in its way."""
        data, environ = self.scene.data(memory.home), self.scene.variables(memory.home)
        return memory(*self.scene.words, data=data, environ=environ)

    def _answer(self, fault: Fault, done: Done, memory: Memory) -> Iterator[str]:
        if fault.what == KILL:
            if done.code != -9:
                yield f"it went on: {done}"
        elif "Traceback" in done.err or "Traceback" in done.out:
            yield f"a traceback: {done}"
        elif self.scene.is_hook:
            if done.code or done.err:
                yield f"a hook said {done}"
            elif done.out not in ("", self._answered) and not _is_json(done.out):
                yield f"half a document: {done.out[-80:]!r}"
            elif self._answered and not done.out and not fault.is_lasting and not _told(memory):
                yield "nothing was said, and nothing told"
        elif done.code not in (*EXIT_CODES, *self.scene.ends):
            yield f"exit code {done.code}: {done.err}"
        elif not self._is_well(done) and "--json" in self.scene.words and not done.out and not _is_error(done.err):
            yield f"no error value: {done}"
        elif self._is_well(done) and self.scene.said and self.scene.said(done) != self._said and not self._admits(done):
            yield f"it answered otherwise: {_difference(self.scene.said(done), self._said)} {done.err} {done.out}"

    def _is_well(self, done: Done) -> bool:
        return done.code in self.scene.ends

    def _admits(self, done: Done) -> bool:
        return (self.scene.admits or _admits)(done)

    def _afterwards(self, done: Done, memory: Memory, before: dict[str, bytes], *, is_lasting: bool) -> Iterator[str]:
        fixed = memory("doctor", "--fix", "--json")
        if fixed.code not in (0, 1):
            yield f"doctor --fix: {fixed}"
        if litter := [str(path) for glob in LITTER for path in memory.root.glob(glob)]:
            yield f"left lying about: {litter}"
        if new := {*_symptoms_of(fixed)} - self._symptoms:
            yield f"doctor finds {new}: {fixed.out}"
        seen = self.scene.seen(memory)
        if seen not in (self._before, self._after):
            yield f"neither as before nor as after: {done} {_difference(seen, self._before, self._after)}"
        if self._is_well(done) and seen != self._after and not self.scene.is_hook and not self._admits(done):
            yield f"it said that it was done: {done}"
        if not self.scene.takes_away and (lost := violations(before, snapshot(memory.root))):
            yield f"lost: {lost} {done}"
        if self.scene.is_hook and seen != self._after and not is_lasting and self._is_well(done) and not _told(memory):
            yield "not captured, and nothing told"
        if not self._is_well(done) and seen == self._before:
            again = self._again(memory)
            if not self._is_well(again):
                yield f"not the next time either: {done}, {again}"
            elif (now := self.scene.seen(memory)) != self._after and not (now == self._before and _waits(again)):
                yield f"another end the next time: {done}, {again} {_difference(now, self._after)}"


def _kept_in(home: Path) -> dict[str, bytes]:
    """Bytes of every file of a home that is not derived, by relative path."""
    return {path: data for path, data in snapshot(home).items() if "/.cache/" not in path}


def _below(memory: Memory, files: dict[str, bytes]) -> dict[str, bytes]:
    """Those below the root, relative to it."""
    place = f"{memory.root.relative_to(memory.home)}/"
    return {path.removeprefix(place): data for path, data in files.items() if path.startswith(place)}


def _told(memory: Memory) -> bool:
    """Whether the log of hooks holds something, where nothing else can be told."""
    return (memory.home / HOOK_LOG).exists() or (memory.root / ".cache/hook-log.jsonl").exists()


def _torn(memory: Memory) -> Iterator[str]:
    """What cannot be read, or whose section is broken, before anybody has repaired anything (P2)."""
    for path in memory.root.rglob("*.json"):
        if not path.name.startswith(".") and not _is_json(path.read_text(errors="replace")):
            yield f"{path} is torn"
    for name in (".claude/CLAUDE.md", ".codex/AGENTS.md"):
        path = memory.home / name
        text = path.read_text() if path.exists() else ""
        if text.count("agent-memory:start") != text.count("agent-memory:end") or text.count("agent-memory:start") > 1:
            yield f"{path} is torn"


def _symptoms(memory: Memory) -> list[str]:
    return _symptoms_of(memory("doctor", "--fix", "--json"))


def _symptoms_of(done: Done) -> list[str]:
    """What doctor finds but for what runs and hooks tell of themselves: that is how one hears of a fault."""
    found: list[dict[str, Any]] = done.document.get("symptoms", []) if _is_json(done.out) else []
    return [each["code"] for each in found if each["area"] != "inbox and runs"]


def _admits(done: Done) -> bool:
    """Whether an answer tells that it is not all: what could not be read, what was done without, what was refused."""
    document = done.document
    told = ("notices", "unreadable", "unread", "refused", "notFixed")
    left_out = any("was left out" in each for each in document.get("warnings") or ())
    return bool(done.err or left_out or any(document.get(each) for each in told) or document.get("mode") == "bm25")


def _waits(done: Done) -> bool:
    """Whether a consolidation says that the session was set back: it is tried again later. A scheduled one says so in its
    log."""
    return bool(done.document.get("waiting")) or re.search(r"\b[1-9]\d* waiting\b", done.err) is not None


def _difference(seen: object, *others: object) -> str:
    """What of a collection is in neither other."""
    if not isinstance(seen, tuple | frozenset):
        return f"{seen!r}, not {others!r}"
    return "; ".join(
        f"more {[each for each in seen if each not in other]}, less {[each for each in other if each not in seen]}"
        for other in others
        if isinstance(other, tuple | frozenset)
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_error(text: str) -> bool:
    """Whether one error document is at the end of what was said on stderr."""
    found = re.search(r"^\{\n  \"error\".*", text, re.DOTALL | re.MULTILINE)
    return bool(found) and _is_json(found[0]) if found else False
