"""What `list` lets through is told from columns: the same as if each entry were looked at."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, Source
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Kind, Origin, Status
from agent_memory.reading import ListFilter
from packed_notes import partly_packed

SCOPES = st.sampled_from((GLOBAL_SCOPE, "github.com/ada/lamp"))
TAGS = st.sampled_from(("topic__relay", "area__lamp"))
WORDS = st.sampled_from(("Lamp", "relay", "id__ab", "ÉLAN"))
METAS = st.builds(
    Meta,
    id=st.from_regex(r"id__[ab]{2}", fullmatch=True),
    title=st.lists(WORDS, max_size=2).map(" ".join),
    created_at_ms=st.just(0),
    updated_at_ms=st.just(0),
    description=st.lists(WORDS, max_size=1).map(" ".join),
    kind=st.sampled_from((Kind.FACT, Kind.TASK)),
    tags=st.lists(TAGS, max_size=2).map(tuple),
    status=st.sampled_from(Status),
    origin=st.sampled_from(Origin),
    scope=SCOPES,
    expires_at_ms=st.none() | st.integers(0, 3),
    sources=st.lists(st.builds(Source, st.just(Harness.AMP), st.none() | st.sampled_from("st")), max_size=2).map(tuple),
)
FILTERS = st.builds(
    ListFilter,
    status=st.none() | st.sampled_from(Status),
    kind=st.none() | st.sampled_from((Kind.FACT, Kind.TASK)),
    tag=st.none() | st.sampled_from(("relay", "area__lamp")),
    scope=st.none() | SCOPES,
    query=st.none() | st.lists(WORDS, max_size=2).map(" ".join).map(str.lower),
    expired_by_ms=st.none() | st.integers(0, 3),
    session=st.none() | st.sampled_from("st"),
    origin=st.none() | st.sampled_from(Origin),
    tier=st.none() | st.sampled_from(Tier),
)
TIERS = {"id__aa": Tier.HOT, "id__ab": Tier.WARM}


def _tier_of(id: str) -> Tier:
    return TIERS.get(id, Tier.COLD)


def _is_accepted(wanted: ListFilter, meta: Meta) -> bool:
    tier = _tier_of(meta.id)
    tag = wanted.tag if wanted.tag is None or "__" in wanted.tag else f"topic__{wanted.tag}"
    said = f"{meta.id} {meta.title} {meta.description} {' '.join(meta.tags)}".casefold()
    return (
        (wanted.status is None or wanted.status is (Status.PROMOTED if tier is Tier.HOT else meta.status))
        and wanted.kind in (None, meta.kind)
        and (tag is None or tag in meta.tags)
        and wanted.scope in (None, meta.scope)
        and wanted.origin in (None, meta.origin)
        and wanted.tier in (None, tier)
        and (wanted.expired_by_ms is None or (meta.expires_at_ms or math.inf) <= wanted.expired_by_ms)
        and (wanted.session is None or wanted.session in [each.thread_id for each in meta.sources])
        and all(word in said for word in (wanted.query or "").casefold().split())
    )


@given(st.lists(st.tuples(METAS, st.booleans()), max_size=12), FILTERS)
def test_an_entry_is_listed_if_it_is_all_that_is_wanted(notes: list[tuple[Meta, bool]], wanted: ListFilter) -> None:
    plain = [Listed(meta, f"topics/{at:02}.md", "") for at, (meta, _) in enumerate(notes)]
    packed = partly_packed(zip(plain, (is_packed for _, is_packed in notes), strict=True))
    expected = [each for each in plain if _is_accepted(wanted, each.meta)]
    assert list(wanted.among(packed, _tier_of)) == list(wanted.among(plain, _tier_of)) == expected
