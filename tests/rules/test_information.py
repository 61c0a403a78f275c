"""P12: what a rewrite loses is found, and what only looks different is not called lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings, strategies as st

from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.information import information_problems, lost_content
from agent_memory.text.markdown import derive_description
from agent_memory.text.salience import salient_tokens


def entry(title: str, body: str, description: str | None = None) -> MemoryEntry:
    about = derive_description(body) if description is None else description
    return MemoryEntry(Meta("id__aaaaaa", title, 1, 1, about), body)


STAGING = entry(
    "Staging server",
    "# Staging\n"
    "\n"
    "- The staging server listens on port 8080 behind nginx.\n"
    "- Deploy with `make deploy-staging`, which takes about 12 minutes.\n"
    "- Never push directly to the release branch.\n"
    "- Its settings are in infra/staging/values.yaml.\n"
    "- Pass --no-cache when the image looks stale.\n"
    "- The dashboard is at https://grafana.example.org/d/abc.\n"
    "- Retries stop after 30s.\n",
)
ACCESS = entry(
    "Access to staging",
    "1. Ask the platform team for the VPN profile.\n"
    "2. Log in with SSO_ROLE staging-reader; the token lasts 8 hours.\n"
    "3. Do not share the profile, and do not commit it.\n"
    "Decided on 2026-02-13 with Ana.\n",
)
HONEST = entry(
    "Staging: server and access",
    "## Server\n"
    "\n"
    "* The staging server listens on port 8080 (behind nginx).\n"
    "* Deploy with `make deploy-staging`; it takes about 12 minutes.\n"
    "* Do not push directly to the release branch.\n"
    "* Settings: infra/staging/values.yaml\n"
    "* When the image looks stale, pass `--no-cache`.\n"
    "* Dashboard: https://grafana.example.org/d/abc\n"
    "* Retries stop after 30 s.\n"
    "\n"
    "## Access\n"
    "\n"
    "Decided on 13 February 2026 with Ana:\n"
    "\n"
    "- Ask the platform team for the VPN profile. Do not share it, and do not commit the profile.\n"
    "- Log in with SSO_ROLE staging-reader; the token lasts 8 hours.\n",
    "The server and how to get in.",
)


def without(text: str, token: str) -> str:
    return re.sub(rf"(?<![\w]){re.escape(token)}(?!\w)", "", text, flags=re.IGNORECASE)


def changed(entry_: MemoryEntry, old: str, new: str) -> MemoryEntry:
    assert old in entry_.body
    return MemoryEntry(entry_.meta, entry_.body.replace(old, new))


# -- losses -----------------------------------------------------------------------------------------------------------


def test_an_honest_merge_loses_nothing() -> None:
    assert information_problems((STAGING, ACCESS), (HONEST,)) == ()


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (" 8080", " its port", "8080"),
        ("12 minutes", "some minutes", "12"),
        ("`make deploy-staging`", "the deploy target", "make deploy-staging"),
        ("Do not push", "Push", "Never push directly to the"),
        ("infra/staging/values.yaml", "in the infrastructure", "infra/staging/values.yaml"),
        ("pass `--no-cache`", "pass the flag", "--no-cache"),
        ("https://grafana.example.org/d/abc", "in Grafana", "https://grafana.example.org/d/abc"),
        ("after 30 s", "after a while", "30s"),
        ("SSO_ROLE ", "", "sso_role"),
        ("VPN ", "", "vpn"),
        (" 8 hours", " for hours", "8"),
        ("on 13 February 2026 ", "", "2026"),
        ("Do not share it, and do not commit", "Do not share it, and commit", "do not commit it"),
        ("Do not share it, and do not commit", "Share it, and do not commit", "Do not share the profile"),
    ],
)
def test_a_merge_that_drops_one_thing_is_refused_unless_it_says_so(old: str, new: str, lost: str) -> None:
    lossy = changed(HONEST, old, new)
    problems = information_problems((STAGING, ACCESS), (lossy,))
    assert lost in "\n".join(problems)
    # Named, it may go; and naming something else does not help.
    assert information_problems((STAGING, ACCESS), (lossy,), (lost, "02", "13", "2026")) == ()
    assert information_problems((STAGING, ACCESS), (lossy,), ("something else",)) == problems


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ("- Push to main.\n- Never force-push to main.", "Do not push to main"),
        ("- Use npm and never yarn for the lockfile.", "Never use npm"),
    ],
)
def test_another_negation_about_the_same_things_does_not_hide_a_turned_one(body: str, lost: str) -> None:
    before = "- Do not push to main.\n- Never force-push to main.\n- Never use npm, and never yarn, for the lockfile."
    assert lost in lost_content((before,), f"{before.splitlines()[2] if 'main' in body else before[:50]}\n{body}")


def test_a_claim_that_becomes_a_negation_is_lost_too() -> None:
    assert lost_content(("The worker retries failed jobs.",), "The worker never retries failed jobs.") == (
        "The worker retries failed jobs",
    )


def test_a_tenth_more_and_a_quarter_are_within_the_limits() -> None:
    source = entry("Ten", "alpha bravo charlie delta echo foxtro")  # with its title, 40 characters
    assert information_problems((source,), (entry("Ten", f"{source.body}\n{'x' * 7}"),)) == ()
    assert information_problems((source,), (entry("Ten", f"{source.body}\n{'x' * 8}"),)) == (
        "its text has 45 characters, more than 110 % of the 37 that it is made from",
    )
    source = entry("Ten", "alpha bravo charlie delta echo foxtrot x")
    drops = (source.body,)
    assert information_problems((source,), (entry("Ten", "alpha brav"),), drops) == ()
    assert information_problems((source,), (entry("Ten", "alpha bra"),), drops) == (
        "its text has 9 characters, less than 25 % of the 40 that it is made from",
    )


# -- what is no loss --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1. First\n2. Second", "- First\n- Second"),
        ("10. Tenth step\n11. Eleventh step", "1. Tenth step\n2. Eleventh step"),
        ("# Title here\nText.", "Text.\n\n### title HERE"),
        ("> A quotation of words", "A quotation of words"),
        ("See src/app/main.py.", "The file src/app/main.py has it."),
        ("Docs: https://a.example/x, and more.", "More docs at https://a.example/x"),
        ("Since 2026-02-13.", "Since February 13, 2026."),
        ("Desde 3 de março de 2026.", "Desde 2026-03-03."),
        ("It is read-only.", "It is read only."),
        ("Waits 30 s.", "Waits 30s."),
        ("Waits 30s.", "Waits 30 s."),
        ("IMPORTANT: NEVER push to main", "Do not push to main"),
        ("Files, e.g. `a.txt`.", "Files such as a.txt."),
        ("This and/or that thing", "This or that thing"),
        ("Run it.\n\nSee also: [[id__bbbbbb]]", "Run it."),
        ("See [[id__bbbbbb|the notes]].", "See the notes."),
        ("Don’t use `npm`.", "Don't use npm."),
        ("Use pnpm, not npm.", "Do not use npm; use pnpm."),
        ("Never commit directly to main.", "Commits to main go through a pull request, never directly."),
        ("- **Port**: 8080", "The port is `8080`."),
        ("| port | 8080 |\n|---|---|", "- port: 8080"),
        ("Use `pnpm install`.\n\nDo not use npm.", "Use `pnpm install`, not npm."),
    ],
)
def test_other_spellings_lose_nothing(before: str, after: str) -> None:
    assert lost_content((before,), after) == ()


def test_contradictory_notes_merge_when_the_reply_says_which_value_goes() -> None:
    old = entry("Staging port", "Port: 8080")
    new = entry("Staging port moved", "Since 2026-02-13 the port is 9090.")
    result = entry("Staging port", "Since 2026-02-13 the port is 9090.")
    assert information_problems((old, new), (result,), ("8080",)) == ()
    assert "8080" in information_problems((old, new), (result,))[0]


# -- properties -------------------------------------------------------------------------------------------------------

ALPHABET = (
    "alpha bravo charlie delta foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra "
    "tango uniform victor whiskey xylophone yankee zulu"
)
WORDS = tuple(ALPHABET.split())
TOKENS = st.sampled_from(
    ["`make x{}`", "port {}080", "src/app{}/main.py", "https://a.example/{}", "--flag-{}", "$HOME_{}", "SOME_{}", "fetchUser{}", "v2.{}.1", "#{}", "{}5s"]
)  # fmt: skip
LINES = st.builds(
    lambda words, token, number, negated: (
        f"{'Never ' if negated else ''}{' '.join(words)}{' with ' + token.format(number) if token else ''}."
    ),
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=8, unique=True),
    st.none() | TOKENS,
    st.integers(1, 99),
    st.booleans(),
)
NOTES = st.lists(st.lists(LINES, min_size=1, max_size=8), min_size=2, max_size=4)
MARKS = st.sampled_from(["- ", "* ", "", "> ", "{n}. "])


@settings(max_examples=60)
@given(NOTES, MARKS, st.randoms(use_true_random=False))
def test_a_merge_that_only_lays_its_lines_out_anew_passes(notes: list[list[str]], mark: str, random: object) -> None:
    sources = tuple(entry(f"Note {WORDS[n]}", "\n".join(lines)) for n, lines in enumerate(notes))
    assert information_problems(sources, (laid_out(notes, mark, random),)) == ()


@settings(max_examples=60)
@given(NOTES, MARKS, st.randoms(use_true_random=False), st.data())
def test_a_merge_from_which_any_one_salient_token_was_taken_is_refused(
    notes: list[list[str]], mark: str, random: object, data: st.DataObject
) -> None:
    sources = tuple(entry(f"Note {WORDS[n]}", "\n".join(lines)) for n, lines in enumerate(notes))
    honest = laid_out(notes, mark, random)
    tokens = sorted(set().union(*(salient_tokens(each.body) for each in sources)))
    assume(tokens)
    token = data.draw(st.sampled_from(tokens))
    lossy = MemoryEntry(honest.meta, without(honest.body, token))
    assume(lossy.body != honest.body)
    assert information_problems(sources, (lossy,))
    assert information_problems(sources, (honest,)) == ()


@settings(max_examples=60)
@given(NOTES, MARKS, st.randoms(use_true_random=False), st.data())
def test_a_merge_from_which_any_one_negation_was_taken_is_refused(
    notes: list[list[str]], mark: str, random: object, data: st.DataObject
) -> None:
    denied = [line for lines in notes for line in lines if line.startswith("Never ")]
    assume(denied)
    line = data.draw(st.sampled_from(denied))
    assume(line.removeprefix("Never ") not in [each for lines in notes for each in lines])
    sources = tuple(entry(f"Note {WORDS[n]}", "\n".join(lines)) for n, lines in enumerate(notes))
    honest = laid_out(notes, mark, random)
    lossy = MemoryEntry(honest.meta, honest.body.replace(line, line.removeprefix("Never ").capitalize()))
    assert information_problems(sources, (lossy,))


@settings(max_examples=100)
@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=120))
def test_hostile_text_raises_nothing_and_the_same_text_loses_nothing(sources: list[str], after: str) -> None:
    lost_content(sources, after)
    assert lost_content(sources, "\n\n".join(sources)) == ()


def laid_out(notes: list[list[str]], mark: str, random: object) -> MemoryEntry:
    lines = list(dict.fromkeys(line for lines in notes for line in lines))
    random.shuffle(lines)  # type: ignore[attr-defined]
    body = "\n".join(mark.format(n=n) + line for n, line in enumerate(lines, 1))
    return entry("All of it", f"## All\n\n{body}", "All.")
