"""What was noticed in one note, as a row of `.cache/analysis` and back (see `content_file`): marshal of plain values, in which the
numbers of words stand as 4 bytes each, and hashes of statements as 8."""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Iterator
from itertools import chain

from agent_memory.domain.analysis.denials import Denial
from agent_memory.domain.analysis.noticed import Noticed, PackedClaim
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.findings import Profile

_MARSHAL_VERSION = 2
"""Without references: there is nothing in a row twice."""


def render_row(noticed: Noticed) -> bytes:
    """The row; its words are numbers of the same vocabulary."""
    outline = noticed.outline
    profile = outline.profile
    row = (
        noticed.digest,
        noticed.terms.tobytes(),
        noticed.title.tobytes(),
        noticed.about.tobytes(),
        outline.links,
        [_claim_row(each) for each in noticed.claims],
        noticed.stated.tobytes(),
        [(each.at, each.frame, each.snippet) for each in noticed.denials],
        outline.code_lines,
        outline.code_chars,
        (profile.body_chars, profile.body_lines, profile.is_directive),
    )
    return marshal.dumps(row, _MARSHAL_VERSION)


def parse_row(row: bytes) -> Noticed:
    """What was rendered."""
    digest, terms, title, about, links, claims, stated, denials, code_lines, code_chars, profile = marshal.loads(row)
    return Noticed(
        digest,
        array("I", terms),
        array("I", title),
        array("I", about),
        tuple([PackedClaim(*each) for each in claims]) if claims else (),
        array("Q", stated),
        tuple([Denial(*each) for each in denials]) if denials else (),
        Outline(Profile(*profile), links, code_lines, code_chars),
    )


def numbers_in(row: bytes) -> Iterator[int]:
    """The numbers of all words in a row."""
    _, terms, title, about, _, claims, _, denials, *_ = marshal.loads(row)
    frames = [frame for _, frame, *_ in (*claims, *denials)]
    return chain(array("I", terms), array("I", title), array("I", about), *frames)


def _claim_row(claim: PackedClaim) -> tuple[object, ...]:
    return (
        claim.slot,
        claim.frame,
        claim.values,
        claim.snippet,
        claim.conditional,
        claim.dates,
        claim.exclusive,
    )
