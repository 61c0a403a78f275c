"""What the person said that a later reader should know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from agent_memory.domain.extraction.cues import Hit, Signal, Sort, is_quiet, shows, sort_of_section, user_hits
from agent_memory.domain.extraction.notes import Candidate, Support
from agent_memory.domain.extraction.session import (
    Answer,
    Episode,
    answer_in,
    chosen_option,
    informative,
    own_part,
    own_words,
    pasted_blocks,
    speaks_of_an_option,
    typed_blocks,
    within_quotes,
)
from agent_memory.domain.extraction.text import (
    LONGEST_TITLE_CHARS,
    MAX_CHARS,
    SENTENCE_CHARS,
    cut,
    is_anaphoric,
    joined,
    overlap,
    says_enough,
    sentences_of,
)
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.text.terms import content_terms

_REJECTED = re.compile(
    r"\b(?:instead of|rather than|not|and not|em vez de|em vez do|em vez da|ao invés de|e não)\s+(?P<what>[^,.;:]{2,60})",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead|rather than|em vez d|ao invés d)", re.IGNORECASE)
_TAKES_BACK = re.compile(
    r"^(?:no|nope|wrong|incorrect|not quite|não|nao|errado)[,.!:;–—-]"
    r"|\b(?:correction|i was wrong|i misspoke|i meant|no longer|correção|correcção|enganei-me|quis dizer|já não)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:(?:ok|so|and|also|then|now)[,.]?\s+)*(?:can|could|would|will|shall) (?:you|we|i)\b|(?:podes|pode|poderia)\b",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?:,?\s*\b(?:right|no|correct|yes|ok|okay|isn't it|eh|né|não é|certo)\s*\?+!*|\s*(?:!\?|\?!)[?!]*)$",
    re.IGNORECASE,
)
"""A question that only asks to be told that it is so."""
_GOES_ON = re.compile(
    r"(?:because|since|so|otherwise|that way|instead|which|as it|else|porque|assim|senão|já que)\b", re.IGNORECASE
)
_POINTS_AT = re.compile(
    r"\b(?:bullet|item|point|step|question|finding|comment|issue|improvement|phase|chunk|task|suggestion|for|bug)s? #?\d+\b"
    r"|(?:^|\s)#\d\b|^[A-Z]\d{1,3}\b|\b(?:recommendation|reccomendation)\b|\blin(?:es?|) \d",
    re.IGNORECASE,
)
"""At what stands in a list of the agent's, which the reader does not see."""
_LASTING = re.compile(
    r"\b(?:not|n't|never|always|only|also|every|each|all|any|must|exactly|without|users?|instead|rather|but|even|precedence|source of truth|as possible"
    r"|because|since|so that|otherwise|in case|supposed|meant|(?:just|do|really) want|the (?:goal|point|idea|intention)"
    r"|não|nunca|sempre|só|apenas|todos?|todas?|cada|mas|porque|já que)\b|n't\b|, so\b",
    re.IGNORECASE,
)
"""A wish without a reason, a contrast or a word of a rule was a request of the moment: carried out, it says nothing more."""
_DEICTIC = re.compile(
    r"\b(?:this|that|these|those) (?:should|shouldn't|must)\b|^(?:the |whatever is )?(?:latter|former|there|here|correct)\b"
    r"|^(?:(?:ok|so|and|for starters|issue here|lastly|another \w+ one)[\s,.…-]+){2,}|\bhere\b|\b(?:start|begin) with\b|^each one\b|\bit's there\b|\bplease\b|\bwhat you think\b",
    re.IGNORECASE,
)
"""It speaks of what was before the eyes."""
_PERSONS = re.compile(r"\b(?:i|you|eu|tu|você)\b", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"(?:(?:please|just|then|wait)[, ]+)*(?:do|put|run|go|keep|use|try|move|make|give|write|take|start|(?:i |we )?don't want)\b",
    re.IGNORECASE,
)
_SHOWS_OUTPUT = re.compile(r":\s*[\[➜❯$]")
_MOVES = re.compile(
    r"\bshould (?:be )?(?:move|go|moved|renamed|removed|deleted|added|put|split|extracted)\b", re.IGNORECASE
)
_REASON = re.compile(r"\b(?:because|since|so that|otherwise|porque|já que)\b", re.IGNORECASE)
_NOT = re.compile(r"(?:no,? )?(?:not|não)\b", re.IGNORECASE)
_DONE = "What was done about it"
_LIST_LINES = 8
_FEW_WORDS = 7
_FEW_CHARS = 25
_FEW_POINTING = 5
_POINTS = re.compile(r"(?<!for )\b(?:it|this|that|those|these|them|there|isto|isso)\b", re.IGNORECASE)
_STANDING = frozenset({Sort.REMEMBER, Sort.PREFERENCE, Sort.CONVENTION})
_GENERAL = frozenset({Sort.PREFERENCE, Sort.CONVENTION, Sort.WANT})
_MUST_LAST = _GENERAL | {Sort.CORRECTION, Sort.DECISION}
_FEW_SENTENCES = 2
_SHARED = 0.34
_SAME = 0.6


def user_candidates(episode: Episode, before: Episode | None) -> Iterator[Candidate]:
    """The candidates in what the person said at the beginning of an episode; `before` is the episode it answers."""
    if episode.asked is None:
        return
    answer = answer_in(episode)
    found = list(_found(episode, before, answer))
    if found and answer.agrees and answer.says and before is not None:
        agreed = Support("The agent agreed", answer.says)
        terms = content_terms(agreed.text)
        others = (each for each in found[0].supports if overlap(content_terms(each.text), terms) < _SAME)
        found[0] = evolve(found[0], supports=(*others, agreed), turns=(*found[0].turns, answer.turn))
    yield from found


def objects(turn: Turn) -> bool:
    """Whether the person rejects what the agent just did, or says that it did not help."""
    return any(
        shows(Signal.OBJECTION, sentence)
        for block in own_words(turn)[:2]
        for sentence in sentences_of(block.text)[:2]
        if not sentence.endswith("?")
    )


def withdraws(turn: Turn) -> bool:
    """Whether the person takes back what they said just before, or has what was done undone."""
    return shows(Signal.WITHDRAWN, turn.text.strip()[:MAX_CHARS])


def request_of(turn: Turn) -> str:
    """What a message asks for, in a sentence or two of the person's; empty for a nudge (`continue`, `commit this`)."""
    blocks = [block for block in typed_blocks(turn) if block.text]
    for index, block in enumerate(blocks):
        sentences = list(sentences_of(block.text))
        if block.text.endswith(":") and index + 1 < len(blocks):
            sentences.append(blocks[index + 1].text)
        for position, sentence in enumerate(sentences):
            if says_enough(sentence):
                second = [other for other in sentences[position + 1 : position + 2] if not other.endswith(":")]
                return joined(sentence, *second).rstrip(":")
            if sentence.endswith(":"):
                return joined(*sentences[position:]).rstrip(":")
    return ""


def _found(episode: Episode, before: Episode | None, answer: Answer) -> Iterator[Candidate]:
    assert episode.asked is not None
    blocks, pasted = own_words(episode.asked), pasted_blocks(episode.asked)
    for section in dict.fromkeys(block.section for block in blocks):
        if listed := sort_of_section(section.rstrip(":")):
            items = [block.text for block in blocks if block.section == section and says_enough(block.text, 3)]
            yield from _listed(listed, section.rstrip(":"), items, episode.asked)
    for block in blocks:
        if sort_of_section(block.section.rstrip(":")):
            continue
        sentences = sentences_of(block.text)
        quoted = within_quotes(sentences)
        yield from (
            candidate
            for position, sentence in enumerate(sentences)
            if len(sentence) <= SENTENCE_CHARS and position not in quoted
            for candidate in _from_sentence(_Said(episode.asked, episode, before, sentences, position), answer)
            if block not in pasted or candidate.sort in (Sort.REMEMBER, Sort.CONVENTION)
        )


def _listed(sort: Sort, heading: str, items: Sequence[str], asked: Turn) -> Iterator[Candidate]:
    """The items of a list that the person gave: a note each, or one where all of them make a title."""
    whole = f"{heading}: {'; '.join(item.rstrip('.') for item in items)}"
    if len(items) > 1 and len(whole) <= LONGEST_TITLE_CHARS:
        yield Candidate(sort, Role.USER, whole, (asked.number,), quote="\n".join((f"{heading}:", *items)))
        return
    for item in items:
        first = next((each for each in sentences_of(item) if says_enough(each, 3)), item)
        yield Candidate(sort, Role.USER, cut(first), (asked.number,), quote=item)


@frozen
class _Said:
    """A sentence of the person's where it stands."""

    asked: Turn
    episode: Episode
    before: Episode | None
    """The episode that it answers."""
    sentences: tuple[str, ...]
    position: int

    @property
    def sentence(self) -> str:
        return self.sentences[self.position]

    @property
    def following(self) -> str:
        """The sentence behind it in its paragraph, unless that asks something."""
        return next(
            (each for each in self.sentences[self.position + 1 : self.position + 2] if not each.endswith("?")), ""
        )


def _from_sentence(said: _Said, answer: Answer) -> Iterator[Candidate]:
    sentence, answering = said.sentence, said.before is not None
    tagged = sentence.endswith("?") and _TAG.search(sentence)
    is_question = sentence.rstrip("!").endswith(("?", "？", "؟"))
    if tagged and answer.confirms and answering:
        sentence, is_question = sentence[: tagged.start()], False
    own = own_part(sentence)
    if own is not None and not _strongest(own, answering=answering):
        return  # a cue in what others say shows nothing of what the person wants
    hit = _strongest(sentence.rstrip("?!") if is_question else sentence, answering=answering)
    if hit is None and tagged and not is_question and _REASON.search(sentence) and not _PERSONS.search(sentence):
        hit = Hit(Sort.DECISION, sentence)
    asks = is_question or shows(Signal.UNSURE, sentence) or _ASKS.match(sentence)
    if hit is None or (asks and not _asks_to_remember(hit, sentence, is_question)):
        return
    if _POINTS_AT.search(sentence) or _asks_for_work(hit, sentence) or _is_of_the_moment(hit, sentence):
        return  # work for this session is no rule, however it was put
    if hit.shows is Sort.DECISION and speaks_of_an_option(sentence):
        yield from _chosen(said)
    elif not (shows(Signal.PASSING, sentence) and hit.shows in _MUST_LAST):
        yield from _statement(said, hit, sentence)


def _asks_for_work(hit: Hit, sentence: str) -> bool:
    """Whether it names what is to be done in this session. A correction does so where it sets nothing against anything."""
    if hit.shows is Sort.CORRECTION:
        return shows(Signal.REQUEST, hit.said) and not _INSTEAD.search(hit.said)
    return hit.shows in _GENERAL and shows(Signal.REQUEST, sentence)


def _is_of_the_moment(hit: Hit, sentence: str) -> bool:
    """Whether it is a wish for this session and no rule."""
    if hit.shows is Sort.CORRECTION:
        return bool(_SHOWS_OUTPUT.search(hit.said)) or (
            _IMPERATIVE.match(hit.said) is not None and not _LASTING.search(hit.said)
        )
    if hit.shows in (Sort.WANT, Sort.CONVENTION, Sort.DECISION) and _DEICTIC.search(sentence):
        return True
    return hit.shows is Sort.WANT and (_MOVES.search(sentence) is not None or not _LASTING.search(sentence))


def _asks_to_remember(hit: Hit, sentence: str, is_question: bool) -> bool:
    return hit.shows is Sort.REMEMBER and (not is_question or _ASKS.match(sentence) is not None)


def _chosen(said: _Said) -> Iterator[Candidate]:
    """The option that the sentence chooses from what the agent offered; what follows a choice mostly says why."""
    option = chosen_option(said.sentence, said.before.closing) if said.before else None
    if option:
        yield Candidate(
            Sort.DECISION,
            Role.USER,
            cut(option.text),
            (option.turn, said.asked.number),
            quote=joined(said.sentence, *filter(None, (said.following,))),
            supports=(Support("Chosen among", option.among),) if option.among else (),
        )


def _strongest(sentence: str, *, answering: bool) -> Hit | None:
    """The strongest cue. What would correct somebody is a plain decision where nobody had spoken before."""
    hits = iter(user_hits(sentence))
    first = next(hits, None)
    if first is None or answering or first.shows is not Sort.CORRECTION:
        return first
    plain = Hit(Sort.DECISION, first.said) if _INSTEAD.search(first.said) else None
    return next(hits, plain)


def _statement(said: _Said, hit: Hit, sentence: str) -> Iterator[Candidate]:
    sort, following = hit.shows, said.following
    led_in = sentence[: sentence.find(hit.said)].rstrip() if hit.said in sentence else ""
    cuts_in = sort is Sort.CORRECTION and led_in and not led_in.endswith((",", ";", ":", ".", "!", "-", "–", "—"))
    takes_part = (
        sentence != said.sentence or sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.ROUTINE) or len(sentence) > MAX_CHARS
    )
    claim, quote = hit.said if takes_part and not cuts_in else sentence, [said.sentence]
    if following and len(claim) < _FEW_CHARS and (len(content_terms(claim)) < 2 or claim.startswith("about ")):
        claim, following = following, ""
        quote.append(claim)
    if following and (is_anaphoric(following) or _GOES_ON.match(following)):
        quote.append(following)
    turns: tuple[int, ...] = (said.asked.number,)
    if example := _example_after(said):
        claim, quote = f"{claim} {' '.join(example.split())}", [said.sentence, example]
    elif sort is Sort.CORRECTION and len(content_terms(claim)) < _FEW_WORDS and (corrected := _corrected(claim, said)):
        earlier, number = corrected
        claim, turns = f"{earlier} — {claim}", (number, *turns)
    answers = _nearest("Said in answer to", said.before, claim) if sort is Sort.CORRECTION else ()
    done = said.episode.acted and sort in (Sort.WANT, Sort.CORRECTION)
    outcome = _nearest(_DONE, said.episode, claim) if done else ()
    few = sort not in _STANDING and len(content_terms(claim)) < _FEW_POINTING
    points = is_anaphoric(hit.said if sort is Sort.REMEMBER else claim) or (few and _POINTS.search(claim))
    if not says_enough(claim, _words_needed(sort, claim)) or (points and not answers):
        return
    if outcome and said.episode.closing:
        turns = (*turns, said.episode.closing.number)
    rejected = _REJECTED.search(claim) if sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.DECISION) else None
    yield Candidate(
        sort,
        Role.USER,
        cut(claim),
        turns,
        quote="\n".join(quote) if "\n" in quote[-1] else joined(*quote),
        supports=outcome or answers,
        rejected=rejected["what"] if rejected else "",
        corrects=bool(_TAKES_BACK.search(said.sentence)),
    )


def _words_needed(sort: Sort, said: str) -> int:
    if not said.isascii() and sort is Sort.REMEMBER:
        return 1  # of a script without spaces a sentence is one word
    if sort in (Sort.WANT, Sort.TASK):
        return 4
    return 2 if sort in (Sort.REMEMBER, Sort.PREFERENCE) else 3


def _corrected(claim: str, said: _Said) -> tuple[str, int] | None:
    """The person's own request that a short `not X but Y` says more exactly, and the number of its turn."""
    asked = None if said.before is None else said.before.asked
    if asked is None or not _NOT.match(claim):
        return None
    requests = (each for block in typed_blocks(asked) for each in sentences_of(block.text))
    alike = (each for each in requests if content_terms(each) & content_terms(claim) and len(each) < MAX_CHARS // 2)
    request = next(alike, "").rstrip(".!?")
    return (request, asked.number) if request else None


def _nearest(label: str, episode: Episode | None, claim: str) -> tuple[Support, ...]:
    """What the agent's closing words of an episode say of the matter."""
    if episode is None or episode.closing is None:
        return ()
    said, words = informative(episode.closing), content_terms(claim)
    if label == _DONE:
        said = tuple(each for each in said if not is_quiet(each))
    nearest = max(said, key=lambda each: len(content_terms(each) & words), default="")
    alone = len(said) <= _FEW_SENTENCES and (
        label != _DONE or shows(Signal.REMEDY, nearest) or content_terms(nearest) & words
    )
    fits = alone or overlap(content_terms(nearest), words) >= _SHARED
    return (Support(label, nearest),) if nearest and fits else ()


def _example_after(said: _Said) -> str:
    """The lines that follow a sentence which ends in a colon, as they were typed."""
    _, found, rest = said.asked.text.partition(said.sentence[-24:])
    if not found or not said.sentence.endswith(":"):
        return ""
    lines = [" ".join(line.split()) for line in rest.strip("\n").split("\n") if not line.startswith("```")]
    kept = [line for index, line in enumerate(lines[:_LIST_LINES]) if sum(map(len, lines[: index + 1])) <= MAX_CHARS]
    return "\n".join(kept).strip()
