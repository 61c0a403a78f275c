"""Redaction, and the texts that everything else is made of: total, idempotent, bounded (P18, P20)."""

from __future__ import annotations

from agent_memory.recall.neutral_markdown import neutral_body, neutral_line
from agent_memory.redaction.redact import redact
from agent_memory.text.ids import normal_tag, slug_of, split_tags
from agent_memory.text.markdown import derive_description, derive_title, find_links
from agent_memory.text.plain_text import clean_text, cut_bytes, cut_chars, one_line
from fuzz.target import Target


def _check(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    redacted = redact(text).text
    assert redact(redacted).text == redacted, "a second pass finds more"
    well_formed = data.decode("utf-8", "replace")
    clean = clean_text(well_formed)
    assert clean_text(clean) == clean
    assert "\n" not in one_line(well_formed, 80)
    assert len(cut_chars(well_formed, 40)) <= 40
    assert len(cut_bytes(well_formed, 40).encode()) <= 40
    assert well_formed.startswith(cut_bytes(well_formed, 40))
    derive_title(clean), derive_description(clean), slug_of(clean)
    for tag in split_tags(well_formed):
        normal = normal_tag(tag)
        assert normal is None or normal_tag(normal) == normal
    for link in find_links(clean):
        assert clean[link.start : link.end].startswith(f"[[{link.target}")
    for written in (neutral_body(clean, 3), neutral_line(clean, 200)):
        assert "<!--" not in written
    assert "\n" not in neutral_line(clean, 200)


TEXT = Target(
    "text",
    _check,
    ("password = ", "API_KEY=", "Bearer ", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----", "ghp_", "sk-ant-api03-", "AKIA", "eyJhbGciOi", "https://user:", "@host/",
     "%2e%2e", "\\u0041", "\\n", "=\n", "base64,", "[[id__a1b2c3|", "]]", "```\n", "<!--", "-->", "@~/x", "# ", "\u202e", "\u200d", "👩\u200d🚀", "e\u0301", "[redacted:token]", "topic__"),
)  # fmt: skip
