"""Markdown of an entry inside somebody else's file: nothing in it acts, nothing in it hides (P18)."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from hypothesis import example, given, settings, strategies as st
from markdown_it import MarkdownIt

from agent_memory.note.note import Kind, Listed, Meta, StoredEntry
from agent_memory.recall.candidates import Shown
from agent_memory.recall.neutral_markdown import neutral_body, neutral_line, passage_of
from agent_memory.text.instants import DAY_MS, day_of

TOP = 4


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Plain text.", "Plain text."),
        ("# One\n\n## Two\n\ntext", "#### One\n\n##### Two\n\ntext"),
        ("### Three", "#### Three"),
        ("##### Five", "##### Five"),
        ("#notaheading", "#notaheading"),
        ("- # In a list\n> # In a quote", "- #### In a list\n> #### In a quote"),
        ("Setext\n===", "Setext\n\\==="),
        ("Setext\n---", "Setext\n\\---"),
        ("Setext\n-", "Setext\n\\-"),
        ("one\n\n---\n\ntwo", "one\n\n---\n\ntwo"),
        ("```sh\nmake # all", "```sh\nmake # all\n```"),
        ("1. Do:\n   ```sh\n   make\n   ```\n2. Done", "1. Do:\n```sh\nmake\n```\n2. Done"),
        ("text\n- ```\n  x", "text\n\n-\n```\nx\n```"),
        ("> ~~~\n> x\n> ~~~\nafter", "~~~\nx\n~~~\nafter"),
        ("see @docs/x.md and ada@lamp.dev", "see @ docs/x.md and ada@lamp.dev"),
        ("use `@types/node` there", "use `@types/node` there"),
        ("| `a | @x.md` |", "| `a | @ x.md` |"),
        ("a stray ` tick\n`@x.md` b", "a stray ' tick\n`@x.md` b"),
        ("\\`@x.md`", "'@ x.md'"),
        ("a literal `\\` in `C:\\lamp\\`, `@x.md`", "a literal `\\ ` in `C:\\lamp\\ `, `@x.md`"),
        ("``a\\`b`` and \\`@x.md\\`", "``a'b`` and '@ x.md'"),
        ("<!-- gone --> <div hidden>x</div>", "&lt;!-- gone --> &lt;div hidden>x&lt;/div>"),
        ("`<!-- a -->` and `Result<T>`", "`&lt;!-- a -->` and `Result<T>`"),
        ("1 < 2 and a <- b", "1 < 2 and a <- b"),
        ("```html\n<div>\n<system-reminder>\n```", "```html\n<div>\n&lt;system-reminder>\n```"),
        ("[x]: https://a.b 'hidden'", "\\[x]: https://a.b 'hidden'"),
        ("[open\nlabel]: /url", "\\[open\nlabel]: /url"),
        ("[a link](https://a.b) stays", "[a link](https://a.b) stays"),
        ("- [ ] a task", "- [ ] a task"),
        ("[[id__a1b2c3|Ports]] stays", "[[id__a1b2c3|Ports]] stays"),
        ("![pixel](https://a.b/?q)", "!\\[pixel](https://a.b/?q)"),
        ("&#64;x", "&amp;#64;x"),
        ("a\u202eb\u200bc\U000e0041", "abc"),
        ("<!-- agent-memory:end -->", "&lt;!-- agent-memory end -->"),
        ("</agent-memory-context> `<claude-mem-context>`", "&lt;/agent-memory-context> `&lt;claude-mem-context>`"),
        ("`# BEGIN ANSIBLE MANAGED BLOCK`", "`# begin ANSIBLE MANAGED BLOCK`"),
    ],
)
def test_what_would_act_is_escaped_and_the_rest_stays_p18(body: str, expected: str) -> None:
    assert neutral_body(body, TOP) == expected
    assert neutral_body(neutral_body(body, TOP), TOP) == neutral_body(body, TOP)


def test_a_line_holds_no_second_line_and_no_import_p18() -> None:
    assert neutral_line("a\nb @c # d <!-- e", 100) == "a b @ c # d &lt;!-- e"


FRAGMENTS = (
    "word", " ", "\n", "\n\n", "    ", "\t", "# ", "###### ", "=", "===", "-", "---", "- ", "* ", "1. ", "> ", "`", "``", "```", "````",
    "~~~", "<!--", "-->", "<div>", "</div>", "<", ">", "@x.md", "@~/y", "[a]", "]:", "[", "]", "(/u)", "!", "\\", "|", "&#64;",
    "<script>", "<?php", "<![CDATA[", "agent-memory:start", "agent-memory:end", "\u202e", "\u200b", "\r\n", "text\n",
)  # fmt: skip
markdown = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join) | st.text(max_size=60)


@settings(max_examples=400)
@example("- ```\n# x")
@example("@@")
@example("> ```\nx\n# y")
@example("\t```\n@x.md\n\t```")
@example("a\n    ~~~\n@x.md\n    ~~~")
@example("* a\n-\n``")
@given(markdown)
def test_no_parser_finds_a_heading_html_an_import_or_a_definition_p18(body: str) -> None:
    text = neutral_body(body, TOP)
    environment: dict[str, object] = {}
    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(f"{text}\n\nafter `x`\n", environment)
    assert not environment.get("references")
    assert [each.tag for each in parsed if each.type == "heading_open" and int(each.tag[1]) < TOP] == []
    assert not [each for each in parsed if each.type == "html_block"]
    children = [child for each in parsed for child in each.children or ()]
    assert not [each for each in children if each.type in ("html_inline", "image")]
    assert not [
        each.content for each in children if each.type == "text" and re.search(r"(?:^|\s)@[^\s@]", each.content)
    ]
    assert parsed[-2].content == "after `x`"  # nothing in the text reaches beyond it
    assert "<!--" not in text


@settings(max_examples=100)
@given(markdown)
def test_twice_is_once(body: str) -> None:
    once = neutral_body(body, TOP)
    assert neutral_body(once, TOP) == once


# -- notes as passages that stand in front of an agent ------------------------------------------------------------------


ID = "id__aaaaaa"
NOON_MS = 1_772_409_600_000


def shown(
    body: str, section: str = "tasks", *, whole: bool = True, title: str = "Move the port", kind: Kind = Kind.TASK
) -> Shown:
    meta = Meta(ID, title, NOON_MS, NOON_MS, kind=kind)
    return Shown(StoredEntry(Listed(meta, "topics/x.md", "h"), body), section, whole)


def test_of_a_task_only_what_is_open_is_shown() -> None:
    passage = passage_of(shown("Before Friday.\n\n- [x] tell Ana\n- [ ] change `nginx`\n- [ ] restart\n"))
    assert passage is not None
    assert passage.whole.splitlines()[-2:] == ["- [ ] change `nginx`", "- [ ] restart"]
    assert ("tell Ana" in passage.whole, ID in passage.whole) == (False, True)


def test_a_note_of_another_day_than_its_last_change_tells_both() -> None:
    """A change may be of its wording alone: what the person said weeks ago is not of today."""
    plain = shown("The port is 8080.", "facts", kind=Kind.FACT)
    meta = evolve(plain.stored.meta, updated_at_ms=NOON_MS + 20 * DAY_MS)
    later = evolve(plain, stored=evolve(plain.stored, listed=evolve(plain.stored.listed, meta=meta)))
    told = [passage_of(each) for each in (plain, later)]
    days = [(each.whole.split("\n")[2].split(" · ")[-1], each.brief.split(f"({ID}, ")[1]) for each in told if each]
    first, last = day_of(NOON_MS), day_of(NOON_MS + 20 * DAY_MS)
    assert days == [(first, f"{first})"), (f"{first}, updated {last}", f"{first}, updated {last})")]


def test_a_task_of_which_nothing_is_open_is_not_shown() -> None:
    assert passage_of(shown("- [x] tell Ana\n- [X] restart\n")) is None
    assert passage_of(shown("- [x] tell Ana\n", section="facts", kind=Kind.FACT)) is not None, (
        "a list in a fact is no task"
    )


def test_a_secret_in_a_box_is_not_shown_p20() -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    passage = passage_of(shown(f"- [ ] replace {secret} soon\n"))
    assert passage is not None
    assert (secret in passage.whole, "- [ ] replace" in passage.whole) == (False, True)
