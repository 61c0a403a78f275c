"""`.cache/analysis`: what was noticed in notes, by the hash of the file's content. Derived data.

The first line says what the rest is: format, version of the program (another one may notice otherwise), and a digest, since
the rows are believed as they are. Each further line is `<content hash> <JSON array>`; words stand in one string, one a line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from agent_memory.domain.analysis.claims import Claim
from agent_memory.domain.analysis.denials import Stated
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.findings import Profile
from agent_memory.domain.json_shape import is_list

FORMAT = 1


def render_rows(program: str, rows: Mapping[str, bytes]) -> bytes:
    """The whole file; rows by content hash, as `render_row` makes them."""
    body = b"".join(b"%s %s\n" % (key.encode("ascii"), row) for key, row in rows.items())
    return f"{_head(program, body)}\n".encode() + body


def parse_rows(data: bytes, program: str) -> dict[str, bytes]:
    """The rows of a file that was rendered by the same version; of anything else none."""
    head, _, body = data.partition(b"\n")
    if head != _head(program, body).encode():
        return {}
    pairs = (line.partition(b" ") for line in body.split(b"\n") if line)
    return {key.decode("ascii"): row for key, _, row in pairs}


def _head(program: str, body: bytes) -> str:
    return f"agent-memory analysis {FORMAT} {program} {hashlib.blake2b(body, digest_size=16).hexdigest()}"


def render_row(noticed: Noticed) -> bytes:
    """One line of ASCII JSON."""
    profile = noticed.profile
    row = (
        noticed.digest.hex(),
        *("\n".join(words) for words in (noticed.terms, noticed.title, noticed.about)),
        noticed.links,
        [_claim_row(claim) for claim in noticed.claims],
        [(each.hash, "\n".join(each.frame), each.snippet) if each.frame else each.hash for each in noticed.stated],
        noticed.code_lines,
        noticed.code_chars,
        (profile.body_chars, profile.body_lines, profile.is_directive),
    )
    return json.dumps(row, separators=(",", ":")).encode("ascii")


def parse_row(row: bytes) -> Noticed:
    """What was rendered."""
    digest, terms, title, about, links, claims, stated, code_lines, code_chars, profile = json.loads(row)
    return Noticed(
        digest=bytes.fromhex(digest),
        terms=_words(terms),
        title=_words(title),
        about=_words(about),
        links=tuple(links),
        claims=tuple(map(_claim, claims)),
        stated=tuple(Stated(each) if isinstance(each, int) else _denied(*each) for each in stated),
        code_lines=code_lines,
        code_chars=code_chars,
        profile=Profile(*profile),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


def _denied(hash: int, frame: str, snippet: str) -> Stated:
    return Stated(hash, _words(frame), snippet)


def _claim_row(claim: Claim) -> tuple[object, ...]:
    frame = "\n".join(sorted(claim.frame))
    return claim.slot, frame, claim.values, claim.snippet, claim.conditional, claim.dates, claim.exclusive


def _claim(row: list[object]) -> Claim:
    slot, frame, values, snippet, conditional, dates, exclusive = row
    return Claim(
        slot=str(slot),
        frame=frozenset(_words(str(frame))),
        values=_texts(values),
        snippet=str(snippet),
        conditional=bool(conditional),
        dates=_texts(dates),
        exclusive=bool(exclusive),
    )


def _texts(values: object) -> tuple[str, ...]:
    return tuple(map(str, values)) if is_list(values) else ()
