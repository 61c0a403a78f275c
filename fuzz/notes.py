"""Notes: any bytes are an entry or an error; what is read can be written and read again."""

from __future__ import annotations

from attrs import evolve
from returns.result import Failure, Success

from agent_memory.errors import EntryUnreadable
from agent_memory.note.file_name import MAX_NAME_BYTES, file_name_of, id_in_name
from agent_memory.note.frontmatter import read_quickly, split_note
from agent_memory.note.note_format import parse_note, render_note
from agent_memory.note.yaml_block import block_values
from agent_memory.results import sealed
from fuzz.target import Target

_PATH = "topics/a note.md"


def _check(data: bytes) -> None:
    match sealed(parse_note(data, _PATH, 1_770_984_000_000)):
        case Failure(error):
            assert isinstance(error, EntryUnreadable)
            assert error.problems
            return
        case Success(note):
            entry = note.entry
    text = data.decode()
    name = file_name_of(entry.meta)
    assert len(name.encode()) <= MAX_NAME_BYTES
    assert "/" not in name
    assert id_in_name(name) == entry.meta.id
    again = parse_note(render_note(entry).encode(), _PATH, entry.meta.created_at_ms).unwrap().entry
    assert again == entry, "written anew, it is another entry"
    kept = render_note(entry, text)
    assert parse_note(kept.encode(), _PATH, entry.meta.created_at_ms).unwrap().entry == entry, (
        "written again, it is another"
    )
    assert render_note(entry, kept) == kept, "each writing changes it"
    changed = evolve(
        entry, meta=evolve(entry.meta, title="Another title: #1", tags=("topic__x", "area__y"), pinned=True)
    )
    written = render_note(changed, text)
    assert parse_note(written.encode(), _PATH, entry.meta.created_at_ms).unwrap().entry == changed, "a change is lost"
    _check_both_readers(text)


def _check_both_readers(text: str) -> None:
    block = split_note(text).block
    quick = read_quickly(block) if block else None
    if block and quick is not None:
        assert repr(quick) == repr(block_values(block)), "the quick reader reads something else"


NOTE = Target(
    "note",
    _check,
    ("---\n", "id: ", "title: ", "tags:\n  - ", "sources:\n  - {harness: codex}", "[a, b]", "# comment", "\u0085", "\ufeff", "\r\n", "|\n  ", ">-\n  ", "&a ", "*a", "!!str ",
     "{", "}", "'", '"', "\\x", ": ", "- ", "? ", "no", "010", "0x1F", "1e1234", "~", ".inf", "2026-02-13", "<<: ", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n"),
)  # fmt: skip
