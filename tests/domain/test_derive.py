"""Titles and descriptions that a note does not state."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.text.markdown import derive_description, derive_title
from agent_memory.domain.text.plain_text import clean_text


@pytest.mark.parametrize(
    ("body", "title", "description"),
    [
        ("", "", ""),
        ("\n \n", "", ""),
        ("# Guards\n\nThey are pure. They run often.\n", "Guards", "They are pure."),
        ("They are pure. They run often.", "They are pure. They run often.", "They are pure."),
        ("Intro line.\n\n## Guards ##\n\nMore.", "Guards", "Intro line."),
        ("- [ ] write tests\n- [ ] ship", "write tests", "write tests"),
        ("> quoted first\n\nthen", "quoted first", "quoted first"),
        ("One sentence\nover two lines. Second.", "One sentence", "One sentence over two lines."),
        ("Use tools, e.g. ruff, i.e. fast ones. Second.", "Use tools, e.g. ruff, i.e. fast ones. Second.", "Use tools, e.g. ruff, i.e. fast ones."),
        ("Version 3.11 is needed! Yes.", "Version 3.11 is needed! Yes.", "Version 3.11 is needed!"),
        ("これは文です。次の文。", "これは文です。次の文。", "これは文です。"),
        ("```py\n# not a heading\n```\n\nText.", "Text.", "Text."),
        ("```py\nonly = code\n```", "only = code", ""),
        ("---\n\nAfter a rule.", "After a rule.", "After a rule."),
        ("#\n\n#hashtag is no heading", "#hashtag is no heading", "#hashtag is no heading"),
        ("hid\u202eden\u200b # Title", "hidden # Title", "hidden # Title"),
    ],
)  # fmt: skip
def test_title_and_description_are_what_a_reader_would_take(body: str, title: str, description: str) -> None:
    assert derive_title(body) == title
    assert derive_description(body) == description


def test_they_are_at_most_200_characters() -> None:
    assert len(derive_title("word " * 100)) <= 200
    assert derive_description("word " * 100).endswith("word…")


@given(st.text(st.one_of(st.characters(), st.sampled_from("# \n`.-*>\t")), max_size=60))
def test_any_body_gives_one_clean_line_p18(body: str) -> None:
    for line in (derive_title(body), derive_description(body)):
        assert "\n" not in line
        assert len(line) <= 200
        assert clean_text(line).text == line


def test_a_description_holds_no_links() -> None:
    """They mean nothing on a line of their own, and a ref is one of a reply alone."""
    assert derive_description("Deploys run [[ref:b]] from [[id__zzzzzz|the main branch]] only. And so on.") == (
        "Deploys run from the main branch only."
    )
