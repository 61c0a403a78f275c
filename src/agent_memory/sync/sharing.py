"""Team memory: notes of the store in the checkout of their repository, to be reviewed as a pull request, and the trust in
what others wrote there (`store.team_notes`).

Nothing is written unless every note may be. Files are replaced atomically, through no link; after a crash a note has its
old or its new bytes, and the next `share` removes the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from attrs import evolve, frozen

from agent_memory.capture.places import git_says
from agent_memory.errors import EntryProtected, EntryUnreadable, UsageInvalid
from agent_memory.files.durable import TEMPORARY_PREFIX, share_like_parent
from agent_memory.files.paths import as_store_io, names_below, remove_file, write_text
from agent_memory.files.root import MOST_TEAM_FILES
from agent_memory.note.file_name import file_name_of, id_in_name
from agent_memory.note.note import TEAM_DIRECTORY, Kind, MemoryEntry, Sensitivity, StoredEntry, body_hash
from agent_memory.note.note_format import render_note
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap
from agent_memory.rules.drafts import has_secret
from agent_memory.setup.config_files import TrustFile
from agent_memory.store.note_files import read_stored
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.store_files import Team, TeamFiles, bare, read_team
from agent_memory.sync.remote import MERGED_BY, driver_settings
from agent_memory.text.ids import content_hash
from agent_memory.text.markdown import find_code
from agent_memory.text.plain_text import clean_text

_ATTRIBUTES = ".gitattributes"
_MACHINE_PATH = re.compile(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\][\w.-]+|/root/[\w.-]+|file://\S+|\bpath:/\S+")


@frozen
class Sharing:
    """Shares notes of a store in one checkout. Every act is a person's."""

    writes: RecordedWrites
    clock: Clock
    home: str
    program: str | None
    """The `memory` program, for git to call; None if it is not known."""
    common: str
    """The directory shared by all work trees of the repository."""
    files: TeamFiles
    scope: str

    @as_result
    def share(self, ids: Sequence[str]) -> Mapping[str, MemoryEntry]:
        """Writes these notes into the checkout, and returns them by their paths there."""
        self.writes.caller.only_a_person("share")
        with self.writes.act():
            names, team = self._names(), read_team(self.files, self.scope, TrustFile(self.home).looked_at())
            entries = [self._as_shared(unwrap(self.writes.store.read(id)), team) for id in ids]
            # A note keeps its file, also under another title: so there are never two.
            known = {id_in_name(name): name for name in names}
            files = {f"{TEAM_DIRECTORY}/{known.get(each.meta.id) or file_name_of(each.meta)}": each for each in entries}
            if len(names) + len(files) > MOST_TEAM_FILES:
                raise UsageInvalid(f"{TEAM_DIRECTORY} would hold more files than are read", "Unshare some first.")
            texts = {path: render_note(each) for path, each in files.items()}
            if _ATTRIBUTES not in names:
                texts = {f"{TEAM_DIRECTORY}/{_ATTRIBUTES}": f"*.md {MERGED_BY}\n", **texts}
            directories = (os.path.dirname(TEAM_DIRECTORY), TEAM_DIRECTORY)
            made = [each for each in directories if not os.path.lexists(f"{self.files.root}/{each}")]
            for path, text in texts.items():
                write_text(self.files.root, path, text)
            with as_store_io("write", self.files.root):
                for path in (*made, *texts):
                    share_like_parent(f"{self.files.root}/{path}")
            self._remove([name for name in names if name.startswith(TEMPORARY_PREFIX)])
        self._teach_git()
        return files

    @as_result
    def unshare(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Removes the files of these notes, whoever shared them, and returns their paths. The store's notes stay."""
        self.writes.caller.only_a_person("unshare")
        with self.writes.act():
            known = {id.casefold(): name for name in self._names() if (id := id_in_name(name))}
            if missing := [id for id in ids if id.casefold() not in known]:
                raise UsageInvalid(f"{missing[0]} is not shared here", f"`ls {TEAM_DIRECTORY}` shows what is.")
            gone = {known[id.casefold()]: None for id in ids}
            removed = self._remove(list(gone))
            if set(known.values()) <= gone.keys():  # the last one
                self._remove([_ATTRIBUTES])
                with suppress(OSError):  # something else is in it
                    os.removedirs(f"{self.files.root}/{TEAM_DIRECTORY}")
            return removed

    @as_result
    def trust(self) -> Team:
        """Trusts this checkout, and vouches for its notes as they are now. Returns them."""
        self.writes.caller.only_a_person("trust")
        team, directory = read_team(self.files, self.scope, {}), f"{self.files.root}/{TEAM_DIRECTORY}"
        if not team.listed:
            why = "; ".join(f"{each.path}: {each.problems[0]}" for each in team.unreadable[:3])
            raise UsageInvalid(f"There are no notes to trust in {directory}", why and f"{why}.")
        seen = {f"{self.files.root}/{each.path}": each.content_hash for each in team.listed.values()}
        with self.writes.act():
            trusted = {directory: content_hash(self.scope.encode()), **seen}
            TrustFile(self.home).add_all(directory, trusted, self.clock.now_ms())
        self._teach_git()
        return team

    def _as_shared(self, stored: StoredEntry, team: Team) -> MemoryEntry:
        """Returns what the team gets of a note. Raises an error where it may not have it, or has a newer version."""
        meta = stored.meta
        if meta.scope != self.scope:
            problem = f"{meta.id} belongs to {meta.scope}, not to this repository, {self.scope}"
            raise UsageInvalid(problem, f"`memory edit {meta.id} --scope repo` moves it here.")
        if not meta.is_vouched_for:
            raise UsageInvalid(f"{meta.id} is not promoted", f"`memory promote {meta.id}` vouches for it.")
        title, body = clean_text(meta.title), _without_quotations(clean_text(stored.body))
        description = clean_text(meta.description)
        entry = MemoryEntry(evolve(bare(meta), title=title, description=description), body)
        text = render_note(entry)
        paths = [each for each in (self.home, self.files.root) if each in text] + _MACHINE_PATH.findall(text)
        obstacles = (
            (meta.sensitivity is not Sensitivity.NORMAL, meta.sensitivity.value),
            (meta.withheld, "not approved yet"),
            (meta.kind is Kind.HANDOFF, "a handoff"),
            (stored.listed.conflicted, "in conflict"),
            (not body.strip(), "nothing but quotations"),
            (has_secret(text), "not free of secrets (`memory doctor --secrets`)"),
            (bool(paths), f"bound to a machine by the path {''.join(paths[:1])}"),
        )
        if because := [words for holds, words in obstacles if holds]:
            raise EntryProtected(meta.id, "sharing", because[0])
        for each in team.unreadable:
            if id_in_name(each.path) == meta.id:
                raise EntryUnreadable(each.path, each.problems)
        there = team.listed.get(meta.id)
        is_same = there is None or (there.meta.title, there.body_hash) == (title, body_hash(body))
        # A change by hand leaves `updatedAt` as it was.
        if (
            there is not None
            and not is_same
            and (
                there.meta.updated_at_ms >= meta.updated_at_ms
                or not (there.meta.is_vouched_for or self._was_said_by(stored, team.read(there)))
            )
        ):
            hint = f"Take over what it says with `memory edit {meta.id}`, then share it."
            raise UsageInvalid(f"Your team has changed {meta.id} in {there.path}", hint)
        return entry

    def _was_said_by(self, stored: StoredEntry, shared: StoredEntry) -> bool:
        """Returns whether each line of the shared version is or was one of the store's note."""
        files = self.writes.store.files
        texts = [f"{stored.meta.title}\n{stored.body}"]
        for path in files.versions(stored.meta.id):
            with suppress(EntryUnreadable):
                if (version := read_stored(files.root, path)) is not None:
                    texts.append(f"{version.meta.title}\n{version.body}")
        known = {"", *(line.strip() for text in texts for line in clean_text(text).splitlines())}
        return all(line.strip() in known for line in f"{shared.meta.title}\n{shared.body}".splitlines())

    def _names(self) -> tuple[str, ...]:
        return names_below(self.files.root, TEAM_DIRECTORY)

    def _remove(self, names: Sequence[str]) -> tuple[str, ...]:
        paths = tuple(f"{TEAM_DIRECTORY}/{name}" for name in names)
        for path in paths:
            remove_file(self.files.root, path)
        return paths

    def _teach_git(self) -> None:
        """Tells this repository's git how to merge notes. Without it git merges them as text."""
        for setting in driver_settings(self.program):
            git_says(self.common, "config", *setting)


def _without_quotations(body: str) -> str:
    """Returns the text without quotations, which may be a person's words in a session; those in code stay."""
    fences = [range(start, end) for start, end in find_code(body).fences]
    kept, at = list[str](), 0
    for line in body.split("\n"):
        if not line.lstrip().startswith(">") or any(at in fence for fence in fences):
            kept.append(line)
        at += len(line) + 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
