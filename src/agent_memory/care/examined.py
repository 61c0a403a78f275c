"""The live notes as an examination knows them. What it needs of a text is kept beside its file in `.cache/store.db`: sizes, links,
the files that it names, and whether another note is like it. So a text is read once, and again only where one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

from agent_memory import __version__
from agent_memory.care.checks import Finding, NoteFile, examine_note
from agent_memory.errors import Busy, EntryUnreadable, Error
from agent_memory.note.note import GLOBAL_SCOPE, Listed
from agent_memory.recall.grounding import Named, named_by
from agent_memory.results import unwrap
from agent_memory.rules.analyze import analyze_features
from agent_memory.rules.features import AnalysisFacts, Features, features_of
from agent_memory.rules.findings import FindingKind
from agent_memory.rules.similarity import Subject
from agent_memory.store.note_files import read_image, understand, understand_again

if TYPE_CHECKING:
    from agent_memory.recall.note_index import KnownNotes
    from agent_memory.store.store_database import FollowedFiles

Facts: TypeAlias = dict[str, Any]
_OF_SEVERAL = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE, FindingKind.OVERLAP)
_MOST_NEW = 50
"""More new texts than this are compared with all others, not only with those that the index finds."""
_NOTES_A_REPORT = 500
_NOTHING = Named()
_SIZES = ("body_chars", "body_lines", "code_lines", "code_chars")


def read_note(root: str, path: str, listed: Listed | None = None) -> NoteFile | None:
    """Returns the file; None if it is gone, or is not a note. An unchanged file that is listed is not parsed again."""
    image = read_image(root, path)
    if image is None:
        return None
    try:
        if listed is None:
            stored = understand(path, image.data, image.mtime_ns)
        else:
            stored = understand_again(listed, image.data, image.mtime_ns)
    except EntryUnreadable:
        return None
    return NoteFile(path, image.data.decode(), stored)


@frozen
class Examined:
    """One live note."""

    features: Features
    """Without the words by which notes are compared where no other is like it."""
    named: Named
    file: NoteFile | None = None
    """What was read of it now."""
    findings: tuple[Finding, ...] = ()
    """About it by itself, if they were asked for."""


@frozen
class Examination:
    """Examines live notes."""

    files: FollowedFiles
    known: Callable[[], KnownNotes]
    progress: Callable[[str], None]

    def of(
        self, entries: Sequence[Listed], unread: Callable[[Error], None] = lambda _: None, *, alone: bool = False
    ) -> dict[str, Examined]:
        """Returns all live notes by path, without those that are gone or cannot be read. `alone`: with the findings about each by
        itself."""
        kept = self.files.facts()
        known = {
            each.path: facts
            for each in entries
            if (facts := kept.get((each.path, each.content_hash))) is not None and facts["by"] == __version__
        }
        found = dict[str, Examined]()

        def read(listed: Listed) -> None:
            try:
                file = read_note(self.files.root, listed.path, listed)
            except Error as error:
                unread(error)
                return
            if file is not None:
                named = named_by(file.stored.meta, file.stored.entry.whole, file.stored.meta.scope)
                findings = tuple(examine_note(file)) if alone else ()
                found[listed.path] = Examined(features_of(file.stored), named, file, findings)

        new = len(entries) - len(known)
        for number, each in enumerate(entries, 1):
            facts = known.get(each.path)
            if facts is None or new > _MOST_NEW or facts["like"] or (alone and facts["sound"] != each.content_hash):
                read(each)
            else:
                found[each.path] = _unlike(each, facts)
            if number % _NOTES_A_REPORT == 0 and new > _MOST_NEW:
                self.progress(f"{number:,} of {len(entries):,} notes checked")
        if 0 < new <= _MOST_NEW:
            try:
                by_path = {each.path: each for each in entries}
                for path in list(self._like([found[path].file for path in by_path.keys() - known if path in found])):
                    if path in found and found[path].file is None:
                        read(by_path[path])
            except Error as error:  # what is like the new ones is looked for again the next time
                unread(error)
                return found
        self._keep(found, known, alone=alone)
        return found

    def _like(self, files: Sequence[NoteFile | None]) -> Iterator[str]:
        """Yields the paths of notes that may be like one of these."""
        unwrap(self.known().index.refresh())
        for meta, body in ((each.stored.meta, each.stored.body) for each in files if each is not None):
            scopes = None if meta.scope == GLOBAL_SCOPE else frozenset((meta.scope, GLOBAL_SCOPE))
            found = self.known().likely(Subject(meta.title, body, meta.description, meta.kind), scopes)
            yield from (each.path for each in found)

    def _keep(self, found: Mapping[str, Examined], known: Mapping[str, Facts], *, alone: bool) -> None:
        """Keeps what an examination needs of the notes that were read."""
        like = {each.features.id for path, each in found.items() if path in known and known[path]["like"]}
        if found.keys() - known:
            findings = analyze_features(
                (each.features for each in found.values() if each.file), AnalysisFacts(0)
            ).findings
            like = {id for each in findings if each.kind in _OF_SEVERAL for id in each.ids}
        rows: dict[tuple[str, str], Facts] = {}
        for each in found.values():
            file, features = each.file, each.features
            if file is None:
                continue
            hash, before = file.stored.listed.content_hash, known.get(file.path, {})
            is_secret = file.stored.meta.is_secret  # nothing of its text is kept
            facts: Facts = {
                "by": __version__,
                "like": is_secret or features.id in like,
                "sound": hash if alone and not each.findings else "" if alone else before.get("sound", ""),
                "links": [] if is_secret else [*features.links],
                "names": [] if is_secret else [*each.named.names],
                "commit": each.named.commit,
                "cwd": each.named.cwd,
                **{name: getattr(features, name) for name in _SIZES},
            }
            if facts != before:
                rows[file.path, hash] = facts
        with suppress(Busy):
            self.files.put_facts(rows)


def _unlike(listed: Listed, facts: Facts) -> Examined:
    nothing, sizes = frozenset[str](), [facts[name] for name in _SIZES]
    features = Features(listed.meta, b"", nothing, nothing, nothing, (), (), tuple(facts["links"]), *sizes)
    names = tuple(facts["names"])
    named = Named(names, facts["commit"], listed.meta.created_at_ms, facts.get("cwd", "")) if names else _NOTHING
    return Examined(features, named)
