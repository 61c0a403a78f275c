"""Two commits of a store as one: nothing is lost but what was forgotten (P12, P28)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from agent_memory.care.tombstones import FORGOTTEN
from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import TIERS_FILE, Harness, MemoryEntry, Meta, Sensitivity, Source, TierList
from agent_memory.note.note_format import parse_note, render_note
from agent_memory.rules.commit_message import IGNORE_FILE, IGNORED
from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone, statement_hashes
from agent_memory.store.bookkeeping import TOMBSTONE, rejected_path, review_path
from agent_memory.store.note_files import parse_tiers, render_tiers
from agent_memory.sync.merged_tree import merged_tree, wanted_contents
from agent_memory.sync.tree import Leaf, MergedTree, Tree

NOON_MS = 1_772_409_600_000
A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
Files = Mapping[str, bytes]


def entry(id: str, body: str, *, title: str = "", at_ms: int = NOON_MS, **meta: Any) -> MemoryEntry:
    return MemoryEntry(Meta(id, title or f"Note {id[-1]}", NOON_MS, at_ms, **meta), body)


def data_of(each: MemoryEntry) -> bytes:
    return render_note(each, None).encode()


def live(*entries: MemoryEntry) -> dict[str, bytes]:
    return {f"topics/{file_name_of(each.meta)}": data_of(each) for each in entries}


def retired(*entries: MemoryEntry) -> dict[str, bytes]:
    return {f"archive/{file_name_of(each.meta)}": data_of(each) for each in entries}


def tombstone(*tombstones: EntryTombstone | SessionTombstone) -> dict[str, bytes]:
    return {f"{FORGOTTEN}/{number}.json": TOMBSTONE.render(each).encode() for number, each in enumerate(tombstones)}


def blob(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def tree_of(files: Files, modes: Mapping[str, str]) -> Tree:
    return {path: Leaf(modes.get(path, "100644"), blob(data), len(data)) for path, data in files.items()}


class Merged:
    """A merge, and what its files hold."""

    def __init__(self, base: Files | None, ours: Files, theirs: Files, modes: Mapping[str, str] | None = None) -> None:
        trees = [None if each is None else tree_of(each, modes or {}) for each in (base, ours, theirs)]
        known = {blob(data): data for each in (base or {}, ours, theirs) for data in each.values()}
        wanted = wanted_contents(trees[0], trees[1] or {}, trees[2] or {})
        contents = {id: data for id, data in known.items() if id in wanted}
        self.tree: MergedTree = merged_tree(trees[0], trees[1] or {}, trees[2] or {}, contents)
        self._known = known

    def files(self) -> dict[str, bytes]:
        """All but the list of what git ignores."""
        return {
            path: self._known[held.object_id] if isinstance(held, Leaf) else held
            for path, held in self.tree.files.items()
            if path != IGNORE_FILE
        }

    def ignored(self) -> list[str]:
        held = self.tree.files[IGNORE_FILE]
        return (self._known[held.object_id] if isinstance(held, Leaf) else held).decode().splitlines()

    def remarks(self) -> list[str]:
        return [f"{each.subject} {each.what}" for each in self.tree.remarks]

    def bodies(self, directory: str = "topics/") -> list[str]:
        paths = sorted(path for path in self.files() if path.startswith(directory) and path.count("/") == 1)
        return [parse_note(self.files()[path], path, 0).unwrap().entry.body.strip() for path in paths]


OLD = entry(A, "Words of old.")
NEW = entry(A, "New words.", at_ms=NOON_MS + 1_000)
LATER = entry(A, "Other words.", at_ms=NOON_MS + 2_000)


class TestANote:
    def test_where_another_note_has_taken_its_place_the_change_is_in_the_archive_p12(self) -> None:
        into = entry(B, "Both.", aliases=(A,))
        merged = Merged(live(OLD), live(NEW), {**retired(OLD), **live(into)})
        assert merged.bodies() == ["Both."]
        assert merged.bodies("archive/") == ["Words of old."]
        assert merged.files()[f"archive/{A}/{NEW.meta.updated_at_ms}.md"] == data_of(NEW)
        assert f"{A} went into {B} on one machine" in merged.remarks()[0]
        (path,) = live(NEW)
        damaged = Merged(live(OLD), {path: b"---\nkind: [\n---\nNew words.\n"}, {**retired(OLD), **live(into)})
        assert b"New words." in damaged.files()[f"archive/{A}/0.md"]

    def test_where_that_other_note_goes_the_change_stays_live_p12(self) -> None:
        into = entry(B, "Both.", aliases=(A,))
        base = {**retired(OLD), **live(into)}
        archived = {**retired(evolve(OLD, body="Words of old, too.")), **live(into)}
        for ours, theirs in ((archived, live(NEW)), (live(NEW), archived)):
            merged = Merged(base, ours, theirs)
            assert "New words." in "".join(merged.bodies())
            assert [each.split()[0] for each in merged.remarks()] == [A]

    @pytest.mark.parametrize(
        ("sensitivity", "title"), [(Sensitivity.NORMAL, "Note a"), (Sensitivity.SECRET, "a secret note")]
    )
    def test_two_versions_of_one_line_are_both_there_and_named_p20(self, sensitivity: Sensitivity, title: str) -> None:
        base, ours, theirs = (
            evolve(each, meta=evolve(each.meta, sensitivity=sensitivity)) for each in (OLD, NEW, LATER)
        )
        merged = Merged(live(base), live(ours), live(theirs))
        (body,) = merged.bodies()
        assert "New words." in body
        assert "Other words." in body
        assert [(each.subject, each.what) for each in merged.tree.conflicts] == [(A, title)]

    def test_one_that_cannot_be_understood_lies_beside_the_other(self) -> None:
        (path,) = live(OLD)
        merged = Merged(live(OLD), live(NEW), {path: b"no frontmatter in \xff here"})
        (beside,) = set(merged.files()) - {path}
        assert merged.files()[path] == data_of(NEW)
        assert "from another machine" in beside
        assert repr(beside) in merged.remarks()[0]


class TestNames:
    def test_a_note_whose_name_states_no_id_is_known_by_its_frontmatter(self) -> None:
        merged = Merged({}, {"topics/mine.md": data_of(OLD)}, {"topics/mine.md": data_of(NEW), **live(OLD)})
        assert len(merged.bodies()) == 2
        plain = Merged({}, {"topics/mine.md": b"Just words.\n"}, {})
        assert plain.files() == {"topics/mine.md": b"Just words.\n"}

    def test_of_two_notes_that_cannot_be_looked_at_both_stay(self) -> None:
        (path,) = live(OLD)
        ours, theirs = tree_of(live(NEW), {}), tree_of(live(LATER), {})
        merged = merged_tree(None, ours, theirs, {})
        beside = {each for each in merged.files if each not in (path, IGNORE_FILE)}
        assert merged.files[path] == ours[path]
        assert [merged.files[each] for each in beside] == [theirs[path]]

    def test_of_two_versions_with_one_time_the_later_found_gets_the_next_millisecond_p12(self) -> None:
        taken = f"archive/{A}/{NEW.meta.updated_at_ms}.md"
        into = entry(B, "Both.", aliases=(A,))
        merged = Merged(
            live(OLD), {**live(NEW), taken: data_of(LATER)}, {**retired(OLD), **live(into), taken: data_of(LATER)}
        )
        assert merged.files()[taken] == data_of(LATER)
        assert merged.files()[f"archive/{A}/{NEW.meta.updated_at_ms + 1}.md"] == data_of(NEW)

    def test_a_copy_takes_no_edit_from_its_note_p12(self) -> None:
        (path,) = live(OLD)
        copy = path.replace(".md", " (copy).md")
        for ours, theirs in (
            ({path: data_of(OLD), copy: data_of(OLD)}, live(NEW)),
            (live(NEW), {**live(OLD), copy: data_of(OLD)}),
        ):
            merged = Merged(live(OLD), ours, theirs)
            assert (merged.files()[path], merged.files()[copy]) == (data_of(NEW), data_of(OLD))

    def test_a_copy_that_lies_where_the_merged_note_belongs_makes_room_p12(self) -> None:
        (path,) = live(NEW)
        copied = {f"topics/A copy {A}.md": data_of(LATER), path: data_of(OLD)}
        merged = Merged({"topics/mine.md": data_of(OLD)}, {"topics/yours.md": data_of(NEW)}, copied)
        assert b"New words." in merged.files()[path]
        assert b"Other words." in merged.files()[path]
        assert data_of(OLD) in merged.files().values()


class TestForgotten:
    GONE = EntryTombstone(A, NOON_MS + 86_400_000, frozenset())

    def test_a_note_that_the_other_machine_changed_does_not_come_back_p28(self) -> None:
        merged = Merged(live(OLD), tombstone(self.GONE), live(NEW))
        assert (merged.bodies(), merged.tree.forgotten) == ([], 1)

    def test_of_two_versions_none_stays_p28(self) -> None:
        merged = Merged(live(OLD), live(NEW), {**live(LATER), **tombstone(self.GONE)})
        assert (merged.bodies(), merged.tree.forgotten) == ([], 1)

    def test_one_whose_file_cannot_be_understood_goes_by_its_name_p28(self) -> None:
        (path,) = live(OLD)
        merged = Merged({}, tombstone(self.GONE), {path: b"no frontmatter"})
        assert (merged.bodies(), merged.tree.forgotten) == ([], 1)

    def test_versions_of_it_in_the_archive_go_too_p28(self) -> None:
        version = {f"archive/{A}/{NOON_MS}.md": data_of(OLD)}
        merged = Merged({}, tombstone(self.GONE), version)
        assert not any(path.startswith("archive/") for path in merged.files())
        assert Merged({}, {}, version).files() == version, "positive control"

    def test_the_clock_of_another_machine_brings_none_back_p28(self) -> None:
        behind = tombstone(evolve(self.GONE, at_ms=NOON_MS - 1))
        assert Merged(live(OLD), behind, live(NEW)).bodies() == []

    def test_what_the_other_machine_linked_to_it_meanwhile_does_not_dangle_p15(self) -> None:
        linking = entry(B, f"As [[{A}|the old words]] say.", at_ms=NOON_MS + 1)
        merged = Merged(
            live(OLD, entry(B, "Nothing.")), {**live(entry(B, "Nothing.")), **tombstone(self.GONE)}, live(OLD, linking)
        )
        assert merged.bodies() == ["As the old words say."]

    def test_one_that_a_person_took_back_lives_on_both_machines_p12(self) -> None:
        gone, back = tombstone(self.GONE), live(OLD)
        for ours, theirs in ((back, gone), (gone, back)):
            assert Merged(gone, ours, theirs).files() == back

    def test_one_with_the_same_words_goes_only_if_a_session_taught_just_these_p12_p28(self) -> None:
        body = "The quokka budget is approved every March."
        gone = tombstone(evolve(self.GONE, statements=statement_hashes("Quokkas", body)))
        taught = (Source(Harness.CODEX, "s"),)
        more = f"{body}\n\nDeploys run from main only.\n\nPorts are opened by hand."
        for new, stays in (
            (entry(B, body, sources=taught), False),
            (entry(B, more, sources=taught), True),
            (entry(B, body, sources=(Source(Harness.MANUAL),)), True),
        ):
            assert bool(Merged({}, gone, live(new)).bodies()) is stays

    def test_one_that_only_says_the_same_stays_and_is_named_unless_it_was_written_since_p12(self) -> None:
        body = "The quokka budget is approved every March."
        gone = tombstone(evolve(self.GONE, statements=statement_hashes("Quokkas", body)))
        said, since = entry(B, body), entry(C, body)
        since = evolve(since, meta=evolve(since.meta, created_at_ms=self.GONE.at_ms + 1))
        merged = Merged({}, gone, live(said, since))
        assert merged.bodies() == [body, body]
        assert merged.remarks() == [f"{B} stays, though it says what {A} said, which was forgotten"]

    def test_what_another_note_said_too_stays_in_the_one_that_both_were_merged_into_p12(self) -> None:
        both, one = "The quokka budget is approved every March.", "Quokkas eat acacia leaves."
        gone = tombstone(evolve(self.GONE, statements=statement_hashes("Quokkas", f"{both}\n{one}")))
        old, other = entry(A, f"{both}\n{one}"), entry(C, both)
        into = live(entry(B, f"{both}\n{one}", aliases=(A, C)))
        for ours, theirs in (({**live(other), **gone}, into), (into, {**live(other), **gone})):
            merged = Merged(live(old, other), ours, {**theirs, **retired(other)} if theirs is into else theirs)
            assert both in merged.bodies()[0]
            assert one not in merged.bodies()[0]

    def test_a_session_that_was_forgotten_is_none_of_a_notes_sources_any_more_p28(self) -> None:
        sources = (Source(Harness.CODEX, "gone"), Source(Harness.CODEX, "stays"))
        before, ours, theirs = (evolve(each, meta=evolve(each.meta, sources=sources)) for each in (OLD, NEW, LATER))
        session = tombstone(SessionTombstone("gone", Harness.CODEX, NOON_MS))
        for merged in (
            Merged(live(before), {**live(before), **session}, live(theirs)),
            Merged(live(before), {**live(ours), **session}, live(theirs)),
        ):
            (path,) = (path for path in merged.files() if path.startswith("topics/"))
            meta = parse_note(merged.files()[path], path, 0).unwrap().entry.meta
            assert [each.thread_id for each in meta.sources] == ["stays"]
        into = {**retired(before), **live(entry(B, "Both.", aliases=(A,)))}
        kept = Merged(live(before), {**into, **session}, live(ours)).files()[
            f"archive/{A}/{ours.meta.updated_at_ms}.md"
        ]
        assert b"New words." in kept
        assert b"gone" not in kept


class TestOtherFiles:
    @pytest.mark.parametrize("path", [rejected_path(A), review_path("0123456789abcdef")])
    def test_what_a_person_decided_comes_to_the_other_machine(self, path: str) -> None:
        assert Merged({}, {}, {path: b"{}"}).tree.outside == frozenset()

    def test_one_that_both_changed_lies_there_twice(self) -> None:
        merged = Merged({"plan.txt": b"old"}, {"plan.txt": b"one"}, {"plan.txt": b"other"})
        assert merged.files()["plan.txt"] == b"one"
        assert merged.files()[f"plan (from another machine {blob(b'other')[:8]}).txt"] == b"other"

    def test_one_that_one_machine_alone_changed_or_removed_is_as_that_has_it(self) -> None:
        assert Merged({"plan.txt": b"old"}, {"plan.txt": b"old"}, {"plan.txt": b"new"}).files() == {"plan.txt": b"new"}
        assert Merged({"plan.txt": b"old"}, {"plan.txt": b"old"}, {}).files() == {}

    def test_state_of_ours_that_cannot_be_merged_stays_this_machines(self) -> None:
        merged = Merged({}, {"state/tags.json": b"{"}, {"state/tags.json": b"["})
        assert merged.files() == {"state/tags.json": b"{"}
        assert merged.remarks() == ["state/tags.json could not be merged, so this machine's stays"]

    def test_tiers_name_only_what_is_still_live(self) -> None:
        both = live(OLD, entry(B, "B."), entry(C, "C."))
        ours = {**both, TIERS_FILE: render_tiers(TierList((A,), (B, C)))}
        theirs = {path: data for path, data in ours.items() if B not in path}
        merged = Merged(ours, {**ours, "plan.txt": b"x"}, theirs)
        assert parse_tiers(merged.files()[TIERS_FILE], TIERS_FILE).unwrap() == TierList((A,), (C,))
        assert Merged(ours, ours, ours).files()[TIERS_FILE] == ours[TIERS_FILE], "positive control"


class TestWhatIsNeverWritten:
    def test_of_two_files_that_an_agent_might_obey_ours_stays_in_git_p21(self) -> None:
        merged = Merged({}, {"AGENTS.md": b"one"}, {"AGENTS.md": b"other"})
        assert (merged.tree.outside, merged.files()) == (frozenset({"AGENTS.md"}), {"AGENTS.md": b"one"})
        assert merged.remarks() == ["AGENTS.md stays in git and was not written here: an agent or a tool might obey it"]


NEEDED = list(IGNORED)


class TestTheIgnoreFile:
    @pytest.mark.parametrize("side", ["ours", "theirs"])
    def test_a_line_that_one_machine_added_is_there(self, side: str) -> None:
        base = {IGNORE_FILE: "".join(f"{line}\n" for line in NEEDED).encode()}
        more = {IGNORE_FILE: base[IGNORE_FILE] + b"*.swp\n"}
        ours, theirs = (more, base) if side == "ours" else (base, more)
        assert Merged(base, ours, theirs).ignored() == [*NEEDED, "*.swp"]

    def test_lines_of_both_are_there_once_and_what_a_store_needs_p21(self) -> None:
        merged = Merged({}, {IGNORE_FILE: b"*.swp\n"}, {IGNORE_FILE: b"*.swp\n*.bak\n"})
        assert merged.ignored() == ["*.swp", "*.bak", *NEEDED]

    def test_a_link_in_its_place_is_not_followed_p21(self) -> None:
        merged = Merged({}, {}, {IGNORE_FILE: b"/etc/passwd"}, {IGNORE_FILE: "120000"})
        assert merged.ignored() == NEEDED

    def test_a_link_that_takes_its_place_takes_no_line_of_ours_p21(self) -> None:
        lines = b"private/\n"
        ours, link = tree_of({IGNORE_FILE: lines}, {}), tree_of({IGNORE_FILE: b"/etc/passwd"}, {IGNORE_FILE: "120000"})
        held = merged_tree(ours, ours, link, {blob(lines): lines}).files[IGNORE_FILE]
        assert held == "".join(f"{line}\n" for line in ("private/", *NEEDED)).encode()
