"""P12: which lines count, and which of them say the same."""

from __future__ import annotations

from agent_memory.domain.defragging.information import claims_among, lines_of, unlike_lines


def texts(body: str) -> list[str]:
    return [line.text for line in claims_among(lines_of(body))]


def unlike(body: str) -> list[str]:
    return sorted(line.text for line in unlike_lines(lines_of(body)))


def test_headings_count_only_where_there_is_nothing_else() -> None:
    assert texts("# Staging server\n\nIt listens on port 8080.\n## Deploys ##") == ["It listens on port 8080."]
    assert texts("# Staging server\n## Deploys") == ["Staging server", "Deploys"]
    assert texts("#hashtag words\nText here.") == ["#hashtag words", "Text here."]


def test_marks_of_code_blocks_and_the_line_of_links_say_nothing() -> None:
    assert texts("```sh\npytest tests\n```\n\n---\n\nSee also: [[id__bbbbbb]]") == ["pytest tests"]


def test_lines_with_three_fifths_of_their_words_in_common_say_nearly_the_same() -> None:
    assert unlike("alpha bravo charlie delta\nalpha bravo charlie echo") == ["alpha bravo charlie delta"]
    assert unlike("alpha bravo charlie\ndelta echo\nbravo alpha charlie") == ["alpha bravo charlie", "delta echo"]
    lines = ["alpha bravo charlie delta", "alpha bravo echo", "alpha foxtrot"]
    assert unlike("\n".join(lines)) == lines
