"""The file of a memory entry: read strictly, written so that it reads back (P18, P21)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.errors import EntryUnreadable
from agent_memory.note.note import Harness, Importance, Kind, MemoryEntry, Meta, Origin, Sensitivity, Source, Status
from agent_memory.note.note_format import META_FIELDS, ParsedNote, parse_note, read_values, render_note
from agent_memory.note.yaml_block import edit_block
from agent_memory.results import sealed
from agent_memory.text.ids import mint_id, normal_tags

PATH = "topics/xstate guard patterns -- topic__xstate id__a1b2c3.md"
MTIME_MS = 1_770_990_605_123


def parsed(text: str | bytes, path: str = "topics/by hand.md") -> ParsedNote:
    match sealed(parse_note(text if isinstance(text, bytes) else text.encode(), path, MTIME_MS)):
        case Success(note):
            return note
        case Failure(error):
            raise AssertionError(error)


def problems(text: str | bytes, path: str = "topics/by hand.md") -> tuple[str, ...]:
    match sealed(parse_note(text if isinstance(text, bytes) else text.encode(), path, MTIME_MS)):
        case Success(note):
            raise AssertionError(note)
        case Failure(error):
            assert isinstance(error, EntryUnreadable)
            assert error.path == path
            return error.problems


FULL = """\
---
id: id__a1b2c3
title: xstate guard patterns
description: "one line: shown in the warm tier"
kind: lesson
tags: [topic__xstate, area__frontend]
status: consolidated
origin: agent
scope: github.com/owner/repo
importance: high
confidence: 0.9
sensitivity: private
pinned: true
promotedBy: person
used: 12
last_used: 2026-02-13T14:30:05Z
createdAt: 1770990605123
updatedAt: 1770990605124
expiresAt: 1770990605125
validFrom: 1770990605126
validUntil: 1770990605127
aliases: [id__oxd123]
supersedes: [id__c3d4e5]
sources:
  - {harness: amp, threadId: T-1, repo: github.com/owner/repo, cwd: "/p, q", agent: "model: x", turns: [3, 9]}
---

Body with [[id__c3d4e5]].
"""

FULL_META = Meta(
    id="id__a1b2c3",
    title="xstate guard patterns",
    created_at_ms=1770990605123,
    updated_at_ms=1770990605124,
    description="one line: shown in the warm tier",
    kind=Kind.LESSON,
    tags=("topic__xstate", "area__frontend"),
    status=Status.CONSOLIDATED,
    origin=Origin.AGENT,
    scope="github.com/owner/repo",
    importance=Importance.HIGH,
    confidence=0.9,
    sensitivity=Sensitivity.PRIVATE,
    pinned=True,
    promoted_by="person",
    used=12,
    last_used_at_ms=1770993005000,
    expires_at_ms=1770990605125,
    valid_from_ms=1770990605126,
    valid_until_ms=1770990605127,
    aliases=("id__oxd123",),
    supersedes=("id__c3d4e5",),
    sources=(Source(Harness.AMP, "T-1", "github.com/owner/repo", "/p, q", "model: x", (3, 9)),),
)


class TestReading:
    def test_every_key_of_the_contract(self) -> None:
        note = parsed(FULL, PATH)
        assert note.meta == FULL_META
        assert note == ParsedNote(FULL_META, "Body with [[id__c3d4e5]].")

    def test_a_file_without_frontmatter_is_a_note_that_a_person_wrote(self) -> None:
        note = parsed("# Deploying\n\nUse the script. Never by hand.\n", "topics/notes.md")
        assert note.meta == Meta(
            mint_id("Deploying", MTIME_MS, ()), "Deploying", MTIME_MS, MTIME_MS, description="Use the script."
        )
        assert (note.meta.kind, note.meta.origin, note.meta.status) == (Kind.FACT, Origin.USER, Status.CAPTURED)
        assert note.provisional_id

    def test_title_and_id_come_from_the_file_name_where_nothing_else_states_them(self) -> None:
        note = parsed("---\n---\n", PATH)
        assert (note.meta.id, note.meta.title, note.provisional_id) == ("id__a1b2c3", "xstate guard patterns", False)
        assert parsed("---\n---\n", "id__a1b2c3.md").meta.title == "untitled"

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_other_line_ends_and_a_byte_order_mark_are_read(self, mark: str, end: str) -> None:
        text = mark + FULL.replace("\n", end)
        for given_as in (text, text.encode()):
            assert parsed(given_as, PATH) == ParsedNote(FULL_META, "Body with [[id__c3d4e5]].")

    def test_a_merge_conflict_in_the_body_is_told_and_the_note_still_readable(self) -> None:
        note = parsed("---\ntitle: x\n---\na\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n")
        assert note.conflicted
        assert note.meta.title == "x"
        assert not parsed("a\n=======\nb >>>>>>> c <<<<<<< d").conflicted

    @pytest.mark.parametrize(
        ("key", "value", "said"),
        [
            ("id", "id__a1b2c0", "id is 'id__a1b2c0', expected an id like id__a1b2c3"),
            ("title", "true", "title is true, expected text in quotes"),
            ("id", "../../x", "id is '../../x', expected an id like id__a1b2c3"),
            ("kind", "leson", "kind is 'leson', expected one of decision, lesson, preference, convention, fact, task, handoff, project"),
            ("origin", "User", "origin is 'User', expected one of user, agent, external"),
            ("sensitivity", "public", "sensitivity is 'public', expected one of normal, private, secret"),
            ("last_used", "yesterday", "last_used is 'yesterday', expected an instant like 2026-02-13T14:30:05Z"),
            ("scope", '""', "scope is '', expected global, host/owner/repo or path:/directory"),
            ("confidence", ".nan", "confidence is nan, expected a number"),
            ("confidence", "1e1234", "confidence is inf, expected a number"),
            ("pinned", "1", "pinned is 1, expected true or false"),
            ("used", "1.0", "used is 1.0, expected a whole number"),
            ("createdAt", "2026-02-13T14:30:05Z", "createdAt is '2026-02-13T14:30:05Z', expected milliseconds since 1970; write 1770993005000"),
            ("expiresAt", "9" * 30, f"expiresAt is {'9' * 30}, expected milliseconds since 1970"),
            ("tags", "[2026]", "tags[0] is 2026, expected text in quotes"),
            ("sources", "[x]", "sources[0] is 'x', expected an object"),
            ("sources", "[{harness: emacs}]", "sources[0].harness is 'emacs', expected one of claude-code, codex"),
        ],
    )  # fmt: skip
    def test_a_value_of_the_wrong_type_says_what_is_expected(self, key: str, value: str, said: str) -> None:
        (problem,) = problems(f"---\n{key}: {value}\n---\n")
        assert said in problem

    def test_every_problem_is_listed(self) -> None:
        found = problems("---\nkind: x\npinned: yes\nused: '1'\nid: id__c3d4e5\n---\n", PATH)
        assert [problem.split()[0] for problem in found] == ["kind", "pinned", "used", "id:"]
        assert "id: 'id__c3d4e5' is not the id__a1b2c3 of the file name" in found

    @pytest.mark.parametrize(
        ("block", "said"),
        [
            ("a: &x 1\nb: *x", "line 2: anchors (`&x`) are not allowed"),
            ("title: a\ntitle: b", "line 3: repeated keys (`title`)"),
            ("title: !!python/object/apply:os.system [id]", "line 2: tags (`!!python/object/apply:os.system`)"),
            ("<<: {title: x}", "line 2: merge keys (`<<`)"),
            ("a: " + "[" * 40 + "]" * 40, "line 2: nested deeper than 8 levels"),
            ("a: '" + "x" * 70_000 + "'", "the frontmatter is larger than 64 KiB"),
            ("- a", "keys with values expected"),
            ("title: [a", "expected ',' or ']'"),
            ("%YAML 1.3\n# x", "line 2: one document without directives expected"),
            ('title: "\\U00110000"', "not YAML"),
            ("\ttitle: x", "line 2: found character '\\t'"),
        ],
    )  # fmt: skip
    def test_frontmatter_that_is_more_or_less_than_plain_values_is_refused(self, block: str, said: str) -> None:
        assert any(said in problem for problem in problems(f"---\n{block}\n---\nbody\n"))

    def test_frontmatter_that_is_never_closed_is_a_problem_and_no_hand_written_note(self) -> None:
        assert problems("---\nid: id__a1b2c3\ntitle: cut off") == (
            "the frontmatter that `---` on line 1 opens is never closed by another `---`",
        )

    @pytest.mark.parametrize("data", [b"---\ntitle: x\n---\n\xff\xfe", "text".encode("utf-16"), b"\xc3"])
    def test_bytes_that_are_not_utf_8_are_a_problem(self, data: bytes) -> None:
        assert problems(data)[0].startswith("not UTF-8: byte 0x")


HOSTILE = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("\x85\u2028\u2029\ufeff\ufffe\x00\x1b\t :#-[]{}\"'\\&*!|>%@`?,~=<\n"),
)
TEXTS = st.one_of(
    st.text(HOSTILE, min_size=1, max_size=20),
    st.sampled_from(
        ["no", "y", "null", "~", "true", "010", "1e1234", "0x1f", "2026-02-13", ".inf", "1_000", "a: b", " a"]
    )
    | st.sampled_from(
        ["a ", "a #b", "- a", "---", "...", "? a", "<<", "=", "C#", "don't", 'say "x"', "a\\nb", "\\", "🤔"]
    ),
)
BODIES = st.lists(
    st.sampled_from(["---", "...", "", "text", "    code", "\ttab", "title: x", "<!-- x -->", "\x85", "\u2028", "end "])
    | st.text(HOSTILE.filter(lambda character: character != "\r"), max_size=10),
    max_size=6,
).map(lambda lines: "\n".join(lines).replace("\r", "").strip("\n"))
IDS = st.from_regex(r"id__[1-9A-HJ-NP-Za-km-z]{6}", fullmatch=True)
INSTANTS = st.integers(-62_135_596_800_000, 253_402_300_799_999)
SOURCES = st.builds(
    Source,
    st.sampled_from(Harness),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.lists(st.integers(1, 9999), max_size=3).map(tuple),
)
METAS = st.builds(
    Meta,
    id=IDS,
    title=TEXTS,
    created_at_ms=INSTANTS,
    updated_at_ms=INSTANTS,
    description=TEXTS,
    kind=st.sampled_from(Kind),
    tags=st.lists(TEXTS, max_size=4).map(normal_tags),
    status=st.sampled_from(Status),
    origin=st.sampled_from(Origin),
    scope=st.just("global") | TEXTS.filter(lambda text: bool(text.strip())),
    importance=st.sampled_from(Importance),
    confidence=st.none() | st.floats(0, 1),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    promoted_by=st.none() | TEXTS,
    used=st.integers(0, 10**9),
    last_used_at_ms=st.none() | INSTANTS,
    expires_at_ms=st.none() | INSTANTS,
    valid_from_ms=st.none() | INSTANTS,
    valid_until_ms=st.none() | INSTANTS,
    aliases=st.lists(IDS, max_size=3).map(tuple),
    supersedes=st.lists(IDS, max_size=3).map(tuple),
    sources=st.lists(SOURCES, max_size=3).map(tuple),
)
ENTRIES = st.builds(MemoryEntry, METAS, BODIES)


class TestWriting:
    def test_a_full_entry_is_written_in_the_order_of_the_contract(self) -> None:
        assert render_note(MemoryEntry(FULL_META, "Body with [[id__c3d4e5]].")) == FULL

    def test_defaults_are_left_out_except_what_says_what_the_note_is(self) -> None:
        meta = Meta("id__a1b2c3", "Short", 1, 2, description="Body text.")
        assert render_note(MemoryEntry(meta, "Body text. More.")) == (
            "---\nid: id__a1b2c3\ntitle: Short\nkind: fact\ntags: []\nstatus: captured\norigin: user\nscope: global\n"
            "createdAt: 1\nupdatedAt: 2\n---\n\nBody text. More.\n"
        )

    @settings(max_examples=200)
    @given(ENTRIES)
    def test_what_is_written_reads_back_the_same(self, entry: MemoryEntry) -> None:
        text = render_note(entry)
        assert parsed(text.encode()).entry == entry
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert render_note(parsed(text).entry, text) == text

    @given(st.text(st.characters(), min_size=1, max_size=20), st.text(st.sampled_from("a\r\n\ud800\x85"), max_size=12))
    def test_any_text_can_be_written_and_then_stays_as_it_is(self, title: str, body: str) -> None:
        text = render_note(MemoryEntry(evolve(FULL_META, title=title, description=""), body))
        text.encode()
        once = parsed(text).entry
        assert render_note(once, text) == text
        assert "\ud800" not in once.body
        assert "\r" not in once.body


BY_HAND = """\
---
# my own note
title: 'Old'   # the title
custom: {a: [1, 2]}  # unknown

tags:   # all of them
  - x   # the main one
  # about y
  - Y   # to be dropped
aliases: [ # several lines
  id__c3d4e5, # of a list
]
description: >  # folded
  Over two
  lines.
# before pinned
pinned:
used: 0x10
other: |
  # a heading, no comment
  text
---
Body.


"""


class TestRewriting:
    def test_what_did_not_change_keeps_its_bytes(self) -> None:
        note = parsed(FULL, PATH)
        assert render_note(note.entry, FULL) == FULL
        spaced = FULL.replace("kind: lesson", "kind:   'lesson' # why").replace(
            "[topic__xstate, area__frontend]", "[ xstate,  Area__frontend ]"
        )
        note = parsed(spaced, PATH)
        assert render_note(note.entry, spaced) == spaced
        pinned = render_note(MemoryEntry(evolve(note.meta, pinned=False), note.body), spaced)
        assert pinned == spaced.replace("pinned: true", "pinned: false")

    def test_unknown_keys_comments_and_order_survive(self) -> None:
        note = parsed(BY_HAND)
        meta = evolve(
            note.meta,
            title="New: one",
            tags=("topic__x", "topic__z"),
            aliases=("id__c3d4e5", "id__c3d4e6"),
            description="Short.",
            pinned=True,
            used=17,
            sources=(Source(Harness.AMP, "T-1"),),
        )
        assert (
            render_note(MemoryEntry(meta, "New body."), BY_HAND)
            == f"""\
---
# my own note
id: {note.meta.id}
title: "New: one"   # the title
custom: {{a: [1, 2]}}  # unknown

# all of them
# the main one
# about y
# to be dropped
tags: [x, topic__z]
# several lines
# of a list
aliases: [id__c3d4e5, id__c3d4e6]
# folded
description: Short.
kind: fact
status: captured
origin: user
scope: global
# before pinned
pinned: true
used: 17
createdAt: {MTIME_MS}
updatedAt: {MTIME_MS}
sources:
  - {{harness: amp, threadId: T-1}}
other: |
  # a heading, no comment
  text
---
New body.
"""
        )

    def test_line_ends_and_byte_order_mark_survive(self) -> None:
        text = "\ufeff" + FULL.replace("\n", "\r\n")
        note = parsed(text, PATH)
        assert render_note(note.entry, text) == text
        assert render_note(MemoryEntry(note.meta, "two\nlines"), text).endswith("\r\n---\r\n\r\ntwo\r\nlines\r\n")

    def test_an_unknown_key_inside_a_source_survives_while_the_source_does(self) -> None:
        text = "---\nsources:\n  - {harness: amp, mine: 1}\n---\n"
        note = parsed(text)
        meta = evolve(note.meta, sources=(*note.meta.sources, Source(Harness.PI, "x")))
        assert "  - {harness: amp, mine: 1}\n  - {harness: pi, threadId: x}\n" in render_note(
            MemoryEntry(meta, ""), text
        )

    def test_a_hand_written_file_gets_its_frontmatter(self) -> None:
        note = parsed("# Title\n\nBody.\n")
        written = render_note(note.entry, "# Title\n\nBody.\n")
        assert written.endswith("---\n\n# Title\n\nBody.\n")
        again = parsed(written)
        assert again == evolve(note, provisional_id=False)


# -- `docs/contributing/formats.md` says of entries what the code does -------------------------------------------------


@pytest.fixture(scope="module")
def document() -> str:
    return (Path(__file__).parents[2] / "docs" / "contributing" / "formats.md").read_text()


def test_the_table_lists_every_key_in_the_order_of_writing(document: str) -> None:
    table = document.split("### Keys")[1].split("### Reading")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [field.key for field in META_FIELDS]


def test_the_example_is_a_note_as_it_is_written(document: str) -> None:
    example = document.split("then a body.\n\n")[1].split("\n\nA file may be")[0]
    text = "\n".join(line.removeprefix("    ") for line in example.split("\n")) + "\n"
    note = sealed(parse_note(text.encode(), "x.md", 0)).unwrap()
    assert render_note(note.entry) == text.replace(
        "description: Guards must be pure, since they run more than once.\n", ""
    )


def test_the_known_answers_are_right(document: str) -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) \| `(id__\w{6})` \| (?:`(id__\w{6})`)? ?\|", document, re.MULTILINE)
    assert len(rows) == 3
    for title, created_at_ms, first, second in rows:
        assert mint_id(title, int(created_at_ms), ()) == first
        assert not second or mint_id(title, int(created_at_ms), {first.casefold()}) == second


# -- edits of hand-written frontmatter ---------------------------------------------------------------------------------


ORDER = ("id", "title", "tags", "pinned", "aliases", "sources")
KNOWN = {
    "id": ["id: id__a1b2c3", "id:", '"id": x # comment-i'],
    "title": [
        "title: plain words",
        "title: 'quoted # no comment'",
        "title: >\n  folded\n  # no comment",
        "title: over\n  two lines",
    ],
    "tags": [
        "tags: []",
        "tags: [a, b] # comment-t",
        "tags:\n- a\n- b # comment-u",
        "tags: # comment-v\n    # comment-w\n    - b",
    ],
    "pinned": ["pinned: false", "pinned: # comment-p", "pinned : no"],
    "aliases": ["aliases: [ # comment-a\n  x, # comment-b\n  ]"],
    "sources": [
        "sources: []",
        "sources:\n  - {harness: amp} # comment-s",
        "sources:\n  -\n    harness: amp # comment-r",
    ],
}
UNKNOWN = [
    "mine: {a: [1, 2]}  # comment-x", "text: |\n  # no comment\n\n  more",
    "list:\n  - a\n  # comment-y\n  - b: c\n    d: e", '"quoted key": "1"', "# comment-z", "",
]  # fmt: skip
CHANGES = {"id": "id__c3d4e5", "title": '"New: # title"', "tags": "[b, c]", "pinned": "true", "aliases": "[]"} | {
    "sources": "\n  - {harness: amp}\n  - {harness: pi, threadId: x}"
}
LINES = st.tuples(
    *(st.none() | st.sampled_from(written) for written in (*KNOWN.values(), *([line] for line in UNKNOWN)))
)
BLOCKS = LINES.map(lambda lines: [line for line in lines if line is not None]).flatmap(st.permutations)


@given(BLOCKS, st.sets(st.sampled_from(ORDER)), st.sampled_from(["", "  "]))
def test_only_what_changes_changes(lines: list[str], keys: set[str], indent: str) -> None:
    block = "".join(f"{indent}{line}\n" for line in "\n".join(lines).split("\n")) if lines else ""
    changes = {key: CHANGES[key] for key in ORDER if key in keys}
    edited = edit_block(block, changes, ORDER)

    wanted = read_values(block)
    for key, text in changes.items():
        wanted[key] = read_values(f"{key}: {text}\n" if text[0] != "\n" else f"{key}:{text}\n")[key]
    assert read_values(edited) == wanted
    before = read_values(block)
    assert [key for key in read_values(edited) if key in before] == list(before)

    for line in lines:
        if any(line in KNOWN[key] for key in keys):
            continue
        assert "\n".join(f"{indent}{part}" for part in line.split("\n")) in edited
    for comment in (word for word in block.split() if word.startswith("comment-")):
        assert f"# {comment}" in edited


def test_a_block_in_braces_is_written_anew() -> None:
    block = "{title: x, mine: {a: 'b'}} # why\n"
    assert edit_block(block, {"pinned": "true"}, ORDER) == "# why\ntitle: x\nmine: {a: b}\npinned: true\n"


def test_only_a_readable_block_is_edited() -> None:
    with pytest.raises(ValueError, match="anchors"):
        edit_block("a: &b c\n", {"id": "x"}, ORDER)
