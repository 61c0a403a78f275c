"""Which notes may be injected, in which section and order (P19, P20): those that `place` lets through, if a person said
them or vouched for them, or an agent concluded them and they are not an order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from attrs import evolve, frozen

from agent_memory.note.note import GLOBAL_SCOPE, Harness, Importance, Kind, Listed, Sensitivity, StoredEntry, Tier
from agent_memory.text.instants import has_passed
from agent_memory.text.salience import content_terms, stem
from agent_memory.text.tables import read_table

SECTION_OF: Mapping[Kind, str] = {
    Kind.PROJECT: "project",
    Kind.HANDOFF: "handoff",
    Kind.TASK: "tasks",
    Kind.CONVENTION: "conventions",
    Kind.PREFERENCE: "conventions",
    Kind.DECISION: "decisions",
    Kind.LESSON: "lessons",
    Kind.FACT: "facts",
}

MOST_A_SECTION = 40
"""How many notes of a section are prepared: as one line each they exceed any budget."""

_POINTS: Mapping[Importance, int] = {importance: points for points, importance in enumerate(Importance)}
_PINNED = 8
_HERE = 2


@frozen
class InjectRequest:
    """A question for an injection. None: the config decides."""

    query: str | None = None
    """Asks for notes about this; without it, for those that every session should know."""
    profile: str | None = None
    """A profile of the config or a built-in one; `session-start`, or with a query `query`."""
    budget: int | None = None
    """The most tokens, whatever the profile says."""
    session: str | None = None
    """The session's id: what it was given before is left out, and what it is given now is recorded."""
    harness: Harness | None = None
    """The session's harness; by default the calling one."""


@frozen
class Place:
    """Where the session is, and when."""

    scope: str
    in_repository: bool
    now_ms: int

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset({GLOBAL_SCOPE, self.scope})


def may_be_injected(listed: Listed, around: Place) -> bool:
    """Returns whether a note passes every check that needs no body; `shown` judges the rest."""
    return barrier(listed, around) is None


def barrier(listed: Listed, around: Place) -> str | None:
    """Returns why no session of this place is told a note, as far as that is known without its body; None where one may
    be."""
    meta = listed.meta
    if listed.archived:
        return "It is archived."
    if meta.is_secret:
        return "It is secret."
    if meta.scope not in (GLOBAL_SCOPE, around.scope):
        return "It belongs to another place."
    if around.in_repository and meta.sensitivity is Sensitivity.PRIVATE:
        return "It is private, and this is a repository."
    if meta.withheld:
        return "It is new, and you have not approved it yet (`memory review`)."
    if meta.is_foreign:
        return "It comes from outside, and you have not vouched for it."
    if has_passed(meta.expires_at_ms, around.now_ms):
        return "It has expired."
    return "It is no longer true." if has_passed(meta.valid_until_ms, around.now_ms) else None


@frozen
class Shown:
    stored: StoredEntry
    section: str
    whole: bool
    """False: only its title and description may be shown."""
    contradicted_by: str = ""
    """The id of another injected note that contradicts this one and outranks it."""


def shown(stored: StoredEntry, section: str | None = None) -> Shown | None:
    """Returns how much of a note may be shown; None for nothing. `section` defaults to that of its kind."""
    # Most prompts find no note, and recognising orders takes long to load.
    from agent_memory.rules.tiers import told_of

    told = told_of(stored)
    if told is None:
        return None
    is_whole = (told.meta.best_tier is Tier.HOT or told.meta.cites_a_turn) and not told.listed.conflicted
    return Shown(told, section or SECTION_OF[told.meta.kind], is_whole)


def candidates(
    listed: Sequence[Listed], read: Callable[[Listed], StoredEntry | None], around: Place, hot: Sequence[str] = ()
) -> tuple[list[Shown], int]:
    """Returns the best notes for a session, in every section, and how many other notes were not looked at: only the
    bodies of the best are read. `hot`: ids, best first."""
    order = {id: at for at, id in enumerate(hot)}

    def rank(each: Listed) -> tuple[int, int, int, str, str]:
        """Returns a sort key: hot notes first, in their order; then pinned ones, important ones and those of this
        place; then the newest."""
        meta = each.meta
        # A handoff is always of the last session, so only its age counts.
        points = 0 if meta.kind is Kind.HANDOFF else _POINTS[meta.importance]
        points += _PINNED * meta.pinned + (_HERE if meta.scope == around.scope != GLOBAL_SCOPE else 0)
        return (order.get(meta.id, len(order)), -points, -meta.updated_at_ms, meta.id, each.path)

    found, count, more = list[Shown](), Counter[str](), 0
    for each in sorted((each for each in listed if may_be_injected(each, around)), key=rank):
        section = "hot" if each.meta.id in order else SECTION_OF[each.meta.kind]
        if section == "handoff" and count[section]:
            continue  # an older session's
        if count[section] == MOST_A_SECTION:
            more += 1
            continue
        stored = read(each)
        fits = None if stored is None or not may_be_injected(stored.listed, around) else shown(stored, section)
        if fits is not None:
            found.append(fits)
            count[section] += 1
    return found, more


def with_contradicted(found: Sequence[Shown]) -> list[Shown]:
    """Returns these notes, each with the id of the one among them that contradicts and outranks it."""
    if len(found) < 2:
        return list(found)
    # Comparing notes takes long to load.
    from agent_memory.rules.analyze import contradicted_in

    by = contradicted_in([each.stored for each in found])
    return [evolve(each, contradicted_by=by.get(each.stored.meta.id, "")) for each in found]


def good_until_ms(listed: Sequence[Listed], around: Place) -> int | None:
    """Returns when the first of these notes expires; None where none ever does."""
    scopes = around.scopes
    of_here = (each.meta for each in listed if each.meta.scope in scopes)
    ends = chain.from_iterable((meta.expires_at_ms, meta.valid_until_ms) for meta in of_here)
    return min((end for end in ends if end is not None and end > around.now_ms), default=None)


# -- relevance --------------------------------------------------------------------------------------------------------
# Whether a note is about what the person just asked. Decided by words in common, not by a score: the best of a hundred
# unrelated notes would score as well as a match.


_LEAST_IN_COMMON = 2
_LEAST_IN_BODY = 3
_ASKS = re.compile(r"\s*(?:what|which|where|when|who|how|why)\b|[^\n]*[?？]\s*\Z", re.IGNORECASE)
_LEAST_SHARE = 0.2
_ENOUGH_IN_COMMON = 5

# It is looked for only where such a word begins: a long one without a slash is not tried again at each of its characters.
_PATH = re.compile(r"(?<![\w/.~@+-])(?:https?:)?[\w.~@+-]*+(?:/+[\w@+-][\w.@+-]*)+/?")

_TABLE = read_table("agent_memory.recall", "words.txt")
_EVERYDAY = frozenset(map(stem, _TABLE.words("everyday")))
# Chinese and Japanese have no spaces, but characters that only join words; what stands between these is read in pairs.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_KATAKANA = re.compile(r"[\u30a0-\u30ff]{2,}")
_IDEOGRAPHS = re.compile(rf"(?:(?![{''.join(_TABLE.words('joining'))}])[\u3400-\u9fff\uf900-\ufaff]){{2,}}")


def telling_terms(prompt: str) -> frozenset[str]:
    """Returns the stems of a prompt that can connect it with a note; of a path only the file's own name does, since half of
    a repository's notes name some file in the same directories."""
    return _connecting(_PATH.sub(lambda path: _names_in(path[0])[-1].partition(".")[0], prompt)) - _EVERYDAY


def _connecting(text: str) -> frozenset[str]:
    """Returns the stems of a text's content words, words in katakana, and pairs of ideographs."""
    if text.isascii():
        return content_terms(text)
    pairs = (run[at : at + 2] for run in _IDEOGRAPHS.findall(text) for at in range(len(run) - 1))
    return content_terms(_UNSPACED.sub(" ", text)).union(_KATAKANA.findall(text), pairs)


def _words_in(prompt: str, terms: frozenset[str]) -> float:
    """Returns how many words of the prompt these terms are: two ideographs are about one."""
    runs = frozenset(_IDEOGRAPHS.findall(prompt))
    places = {(run, at) for run in runs for at in range(len(run) - 1) if run[at : at + 2] in terms}
    words = sum(_IDEOGRAPHS.fullmatch(each) is None for each in terms)
    return words + len(places | {(run, at + 1) for run, at in places}) / 2


def _names_in(path: str) -> list[str]:
    """Returns the names in a path; `either/or` is a name by itself."""
    names = [each for each in path.rstrip(".").split("/") if each]
    return names if len(names) > 2 or "." in names[-1] else [path]


def _files_in(prompt: str) -> list[str]:
    """Returns for each path of a prompt an expression that finds its last directory and name."""
    paths = map(_names_in, _PATH.findall(prompt))
    return [rf"(?<![\w.-]){re.escape('/'.join(names[-2:]))}(?![\w/-]|\.\w)" for names in paths if len(names) > 1]


def can_connect(prompt: str) -> bool:
    """Returns whether a prompt says enough to look for notes at all: `yes` and `continue` do not."""
    asked = telling_terms(prompt)
    return 0 < _least_in_common(prompt, asked) <= _words_in(prompt, asked) or bool(_files_in(prompt))


def _least_in_common(prompt: str, asked: frozenset[str]) -> float:
    words = _words_in(prompt, asked)
    return words if words <= 1 and _ASKS.match(prompt) else _LEAST_IN_COMMON  # who asks wants to be told what is known


def is_relevant(prompt: str, stored: StoredEntry) -> bool:
    """Returns whether the note names a file of the prompt, or they have enough telling words in common: two, or the only one
    of a question, one of them in the note's title, description or tags, or three anywhere; and, for a long prompt, a fifth of
    its words, or five."""
    if any(re.search(each, f"{stored.meta.title}\n{stored.body}") for each in _files_in(prompt)):
        return True
    asked = telling_terms(prompt)
    least = _least_in_common(prompt, asked)
    meta = stored.meta
    head = _connecting(" ".join((meta.title, meta.description, *(tag.rpartition("__")[2] for tag in meta.tags))))
    in_common = _words_in(prompt, asked & (head | _connecting(stored.body)))
    if in_common < min(_ENOUGH_IN_COMMON, _words_in(prompt, asked) * _LEAST_SHARE):
        return False
    return (in_common >= least and not asked.isdisjoint(head)) or in_common >= _LEAST_IN_BODY
