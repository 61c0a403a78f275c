"""Text in pieces is redacted like text as a whole, wherever the pieces cut it (P20)."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.redaction import redact, redacted_pieces, secrets_in
from fixtures.secret_samples import SAMPLES, base62, pem

_WINDOW, _KEPT = 6_000, 3_000
_FILLER = "nothing to see on this line, nor on the next one\n" * 40


def _streamed(text: str, piece_chars: int) -> str:
    pieces = (text[first : first + piece_chars] for first in range(0, len(text), piece_chars))
    return "".join(part.text for part in redacted_pieces(pieces, _WINDOW, _KEPT))


@given(
    st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=5), st.integers(1, 4_000), st.integers(0, len(_FILLER) - 1)
)
@settings(max_examples=30)
def test_p20_no_cut_between_pieces_or_windows_leaks_a_secret(
    samples: list[object], piece_chars: int, start: int
) -> None:
    found = [sample for sample in SAMPLES if sample in samples and sample.kind != "private key, cut"]
    text = _FILLER[start:] + "\n\n".join(sample.text + "\n" + _FILLER * 2 for sample in found)
    streamed = _streamed(text, piece_chars)
    assert [sample.kind for sample in found if sample.secret in streamed] == []


def test_text_without_secrets_comes_out_as_it_went_in() -> None:
    assert _streamed(_FILLER * 20, 777) == _FILLER * 20


def test_a_line_without_end_is_cut_where_no_secret_is() -> None:
    text = "x " * 4_000 + f"password: {base62(20)}7! " + "y " * 9_000
    assert _streamed(text, 500) == redact(text).text


def test_a_private_span_longer_than_every_window_goes_as_a_whole() -> None:
    inside = "a quiet word\n" * 3_000
    streamed = _streamed(f"before\n<private>{inside}<private>{inside}</private>{inside}</private>after", 1_000)
    assert "quiet" not in streamed
    assert streamed.startswith("before\n[redacted:private]")
    assert streamed.endswith("after")


def test_the_kinds_of_what_pieces_hold_are_counted() -> None:
    block, _ = pem("RSA PRIVATE KEY")
    assert secrets_in([block[:100], block[100:], "\nghp_", base62(36)]) == (("github-token", 1), ("private-key", 1))
    assert secrets_in([]) == ()
