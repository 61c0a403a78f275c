from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from attrs import evolve
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.errors import ConfigInvalid
from agent_memory.note.note import (
    Harness,
    Importance,
    Kind,
    Listed,
    Meta,
    Origin,
    Sensitivity,
    Source,
    StoredEntry,
    TierList,
    Usage,
)
from agent_memory.prompt.prompt import DefragBudget, Frame, plan_defrag_budget, render_defrag_prompt
from agent_memory.rules.change import SectionBudget
from agent_memory.rules.drafts import ECHOED
from agent_memory.rules.findings import Analysis, Finding, FindingKind
from agent_memory.rules.plan import KINDS, DefragRequest
from agent_memory.rules.shown import choose_shown
from agent_memory.text.ids import ID_PATTERN

TEMPLATE = (Path(__file__).resolve().parents[2] / "prompts" / "defrag.md").read_text(encoding="utf-8")
NONCE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
FENCE = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
NOON = 1_770_984_000_000
DAY = 86_400_000
REPO = "github.com/acme/web"
A, B, C = "id__aaaaaa", "id__bbbbbb", "id__cccccc"
SECRET = "ghp_" + "A1b2C3d4" * 4 + "E5f6"


def stored(id: str = A, body: str = "Port `8080`.", conflicted: bool = False, **meta: Any) -> StoredEntry:
    known = {"title": "Staging ports", "description": "Where it listens", "scope": REPO, **meta}
    times = {"created_at_ms": known.pop("created_at_ms", NOON), "updated_at_ms": known.pop("updated_at_ms", NOON)}
    return StoredEntry(Listed(Meta(id, **known, **times), f"topics/{id}.md", f"h{id}", conflicted=conflicted), body)


def rendered(*shown: StoredEntry, **more: Any) -> str:
    request = DefragRequest(
        prompt="",
        nonce=more.pop("nonce", NONCE),
        live=more.pop("catalog", tuple(each.listed for each in shown)),
        shown=shown,
        analysis=Analysis(findings=more.pop("findings", ()), body_chars=more.pop("body_chars", {})),
        usage=more.pop("usage", {}),
        tiers=more.pop("tiers", TierList()),
        now_ms=NOON,
        budget=more.pop("section", SectionBudget()),
    )
    frame = Frame(request.nonce, more.pop("fence", FENCE))
    budget, max_changes = more.pop("budget", DefragBudget(120_000, 60_000, 8_000)), more.pop("max_changes", 3)
    refused = more.pop("refused", ())
    assert not more
    text, _ = render_defrag_prompt(TEMPLATE, request, frame, budget, max_changes, refused)
    return text


def section(prompt: str, name: str) -> str:
    found = re.search(rf"^<<<{FENCE} {name}\n(.*?)\n{FENCE}>>>$", prompt, re.DOTALL | re.MULTILINE)
    assert found, name
    return found[1]


def test_the_catalog_tells_of_each_entry_what_a_judgement_needs() -> None:
    one = stored(kind=Kind.LESSON, tags=("topic__x", "area__y"), importance=Importance.HIGH, updated_at_ms=NOON + DAY)
    two = stored(B, origin=Origin.EXTERNAL, title="Other", scope="global", pinned=True, promoted_by="person")
    three = stored(C, conflicted=True, title="Third", expires_at_ms=NOON, sensitivity=Sensitivity.PRIVATE)
    prompt = rendered(
        catalog=(one.listed, two.listed, three.listed),
        tiers=TierList((A,), (C,)),
        usage={A: Usage(12, NOON), B: Usage(1, None)},
        body_chars={A: 1_234, C: 90},
    )
    assert section(prompt, "catalog").split("\n") == [
        "scope global:",
        f"{B} | fact | cold/cold | external | read 1x | updated 2026-02-13 | promoted | PINNED | Other | Where it listens",
        "",
        f"scope {REPO}:",
        f"{A} | lesson | hot/hot | user | 1,234 chars | read 12x, last 2026-02-13 | updated 2026-02-14 | high | topic__x area__y | Staging ports | Where it listens",
        f"{C} | fact | warm/cold | user | 90 chars | never read | updated 2026-02-13 | private | expires 2026-02-13 | CONFLICTED | Third | Where it listens",
    ]
    assert section(prompt, "tiers") == f"hot: {A}\nwarm: {C}"


def test_notes_shown_in_full_are_whole_p11() -> None:
    body = "# Ports\n\n- 8080\n\n```sh\nmake\n```"
    source = Source(Harness.AMP, "T-1", turns=(3, 9))
    note = stored(
        A, body, kind=Kind.LESSON, tags=("topic__x",), pinned=True, sources=(source,), updated_at_ms=NOON + DAY
    )
    assert section(rendered(note), f"note {A}") == (
        f"about: lesson, {REPO}, origin user, from 2026-02-13, updated 2026-02-14, cites 2 turns of 1 sessions, PINNED\n"
        f"title: Staging ports\ndescription: Where it listens\ntags: topic__x\nbody:\n{body}"
    )


def test_findings_that_can_be_judged_whole_come_first_and_those_about_unseen_notes_are_counted() -> None:
    of_part = Finding(FindingKind.CONTRADICTION, (A, C), "in part")
    unseen = Finding(FindingKind.DUPLICATE, (C,), "unseen")
    whole = Finding(FindingKind.STALE, (A,), "whole")
    notes = (stored(), stored(B), stored(C))
    prompt = rendered(*notes[:2], catalog=tuple(each.listed for each in notes), findings=(of_part, unseen, whole))
    lines = section(prompt, "findings").split("\n")
    assert [line.rsplit(": ", 1)[-1] for line in lines[:2]] == ["whole", "in part"]
    assert lines[2].startswith("(1 more")
    assert len(lines) == 3


def test_a_secret_entry_is_not_mentioned_at_all_p20() -> None:
    secret = stored(
        B, "The vault is under the stairs", title="Vault", sensitivity=Sensitivity.SECRET, scope="github.com/x/y"
    )
    finding = Finding(FindingKind.NEAR_DUPLICATE, (A, B), "both say vault")
    more = {"tiers": TierList((B,), (A, B)), "findings": (finding,)}
    prompt = rendered(stored(), secret, **more)
    assert not re.search(rf"{B}|[Vv]ault|github.com/x/y|of the 2 notes", prompt)
    open_one = evolve(secret, listed=evolve(secret.listed, meta=evolve(secret.meta, sensitivity=Sensitivity.NORMAL)))
    assert len(re.findall(rf"{B}|[Vv]ault", rendered(stored(), open_one, **more))) > 5


def test_an_entry_that_holds_a_secret_is_listed_without_it_and_not_shown() -> None:
    """P11, P20: the agent would not see all of it."""
    prompt = rendered(stored(A, f"Token {SECRET}"), stored(B, title=f"Token {SECRET}"), stored(C))
    assert SECRET not in prompt
    assert f"note {A}" not in prompt
    assert f"note {B}" not in prompt
    assert f"note {C}" in prompt
    assert "[redacted:" in section(prompt, "catalog")
    assert "Not every note is shown in full" in prompt
    assert "Not every note" not in rendered(stored(C))


def test_where_not_all_fit_what_is_in_a_tier_pinned_or_shown_is_listed_first_and_described() -> None:
    notes = tuple(
        stored(f"id__{n:06}".replace("0", "z"), title=f"Title {n}", updated_at_ms=NOON + n) for n in range(1, 900)
    )
    hot, warm, shown = notes[0].meta.id, notes[1].meta.id, notes[2]
    pinned = evolve(notes[3], listed=evolve(notes[3].listed, meta=evolve(notes[3].meta, pinned=True)))
    catalog = tuple(each.listed for each in (*notes[:3], pinned, *notes[4:]))
    prompt = rendered(
        shown, catalog=catalog, tiers=TierList((hot,), (warm,)), budget=DefragBudget(len(TEMPLATE) + 20_000, 0, 0)
    )
    text = section(prompt, "catalog")
    lines = [line for line in text.split("\n") if line.startswith("id__")]
    described = {line[:10] for line in lines if "Where it listens" in line}
    assert described >= {hot, warm, pinned.meta.id}
    assert len(described) < 10
    assert shown.meta.id in text
    assert notes[-1].meta.id in text
    assert notes[10].meta.id not in text
    assert f"({899 - len(lines):,} more are not listed; they stay as they are, and so does their tier)" in text
    assert len(lines) > 150


def test_the_template_has_every_place_and_what_an_echo_is_recognised_by() -> None:
    context = ("fence", "today", "live", "max_changes", "hot_chars", "warm_lines", "closing")
    data = ("findings", "tiers", "catalog", "notes", "refused")
    assert set(re.findall(r"\{\{(\w+)\}\}", TEMPLATE)) == {*context, *data}
    prompt = rendered(stored())
    assert [phrase for phrase in ECHOED if phrase not in prompt] == []
    assert "{{" not in prompt


def test_the_template_names_every_action_and_every_key_of_the_envelope_once() -> None:
    assert [kind for kind in KINDS.values() if TEMPLATE.count(f'"action": "{kind}"') != 1] == []
    keys = "version nonce actions tiers ids id into title description tags body find replace reason drops hot warm"
    assert [key for key in keys.split(" ") if f'"{key}":' not in TEMPLATE] == []
    assert TEMPLATE.count('"nonce":') == 1
    assert not re.search(ID_PATTERN, TEMPLATE)


def budget_of(max_prompt_chars: int, catalog: tuple[Listed, ...] = ()) -> DefragBudget:
    result = plan_defrag_budget(TEMPLATE, max_prompt_chars, catalog)
    assert isinstance(result, Success)
    budget: DefragBudget = result.unwrap()
    return budget


def test_too_little_room_for_defrag_is_refused_with_the_least_that_is_needed() -> None:
    result = plan_defrag_budget(TEMPLATE, 10_000, ())
    assert isinstance(result, Failure)
    error = result.failure()
    assert isinstance(error, ConfigInvalid)
    least = int(error.problems[0].rsplit(" ", 1)[1].replace(",", ""))
    assert budget_of(least, (stored().listed,) * 1_000).shown_chars > 8_500
    assert isinstance(plan_defrag_budget(TEMPLATE, least - 1, ()), Failure)


TEXTS = st.lists(
    st.sampled_from(
        ["word ", "é", "\n", f" {SECRET} ", "\u200b", FENCE, NONCE, "{{notes}}", "x" * 500, "e\u0301" * 30]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.integers(34_000, 80_000), st.data())
def test_the_whole_defrag_prompt_fits(texts: list[str], line: str, max_prompt_chars: int, data: st.DataObject) -> None:
    notes = tuple(
        stored(
            f"id__{n:06}".replace("0", "z"),
            text,
            title=line or "t",
            description=text,
            scope=data.draw(st.sampled_from(["global", REPO, line or "s"])),
            tags=(line[:60],),
            sensitivity=data.draw(st.sampled_from(list(Sensitivity))),
        )
        for n, text in enumerate(texts * data.draw(st.integers(1, 10)), 1)
    )
    ids = [each.meta.id for each in notes]
    budget = budget_of(max_prompt_chars, tuple(each.listed for each in notes))
    prompt = rendered(
        *choose_shown(notes, budget.shown_chars),
        catalog=tuple(each.listed for each in notes),
        tiers=TierList(tuple(ids[::2]), tuple(ids[1::2])),
        findings=tuple(Finding(FindingKind.OVERLAP, tuple(ids[n : n + 2]), line) for n in range(len(ids))),
        budget=budget,
        refused=data.draw(st.lists(TEXTS, max_size=60)),
    )
    assert len(prompt) <= max_prompt_chars
    assert prompt.count(NONCE) == 1
    assert prompt.lower().count(f"\n{FENCE}>>>") == len(re.findall(rf"(?m)^<<<{FENCE} [a-z]", prompt))
    assert SECRET not in prompt
    hidden = {each.meta.id for each in notes if each.meta.sensitivity is Sensitivity.SECRET}
    assert hidden.isdisjoint(re.findall(ID_PATTERN, prompt))
    prompt.encode()
