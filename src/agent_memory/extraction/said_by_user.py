"""What the person said that a later reader should know: whole sentences that stand by themselves and hold beyond the task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from attrs import evolve, frozen

from agent_memory.extraction.notes import Candidate, Support, names_a_technology
from agent_memory.extraction.session import (
    Episode,
    chosen_option,
    confirms,
    is_question_tool,
    own_part,
    own_words,
    pasted_blocks,
    speaks_of_an_option,
    typed_blocks,
    within_quotes,
)
from agent_memory.extraction.text import (
    FENCE,
    LONGEST_TITLE_CHARS,
    MAX_CHARS,
    SENTENCE_CHARS,
    Block,
    Hit,
    Signal,
    Sort,
    blocks_of,
    cut,
    in_third_person,
    is_anaphoric,
    is_balanced,
    is_question,
    is_quiet,
    joined,
    says_enough,
    sentences_of,
    shows,
    sort_of_section,
    tells_a_fault,
    user_hits,
    wording,
)
from agent_memory.session.history import Role, Turn
from agent_memory.text.salience import content_terms, is_directive, is_negated

_OBJECTS, _TELLS_AGAIN = wording("objects"), wording("tells_again")
_REJECTED = wording("rejected")
_TOLD_BEFORE = re.compile(
    r"\b(?:told|tell\w*|remind\w*|asked you|how (?:many|often)|already|talk\w*|discuss\w*|through|over)\b",
    re.IGNORECASE,
)
"""Not "as I said", behind which somebody describes once more what they see."""
_TAKES_BACK = wording("takes_back")
_ASKS = wording("asks")
_HESITATES = re.compile(r"^(?:[a-z]{1,6}\.{2,}\s*)+(?=.)", re.IGNORECASE)
_TAG = wording("tag")
_STATEMENT = wording("statement")
_YES = re.compile(r"(?:yes|yep|yeah|sure|sim)\b", re.IGNORECASE)
"""It answers a question, in which most of what is meant stands."""
_REASON = re.compile(r"\b(?:because|since|so that|otherwise|given (?:that|the|our|how)|porque|já que)\b", re.IGNORECASE)
_IS_DONE_SO = re.compile(r"\b(?:is|are) (?:\w+ )?\w+(?:ed|en)\b[^,;]*, not\b", re.IGNORECASE)
_STANDS = wording("stands")
_GENERAL = wording("general")
_CONTRAST = wording("contrast")
_SETTLES = wording("settles")
_SUPPOSES = wording("supposes")
_WISH = wording("wish")
_OURS = wording("ours")
_FORBIDS = re.compile(r"(?<!\byou )\b(?:don'?t|do not|n[ãa]o)\b|^(?:please )?(?:no|avoid|stop)\b", re.IGNORECASE)
"""Beside a request or a question it says how far the work at hand may go, unless it is specific."""
_SPECIFIC = 5
"""So many things a wish names which is more than a limit of the work at hand (`don't write code`)."""
_HEEDS = wording("heeds")
_OPTION_NAME = re.compile(r"^(?:option|approach|plan) \w+\s*[:–—-]\s*", re.IGNORECASE)
_DECIDED = wording("decided")
_CLAUSE_BEFORE = re.compile(r"[-–—;(,+]\s*$|\band\s+$", re.IGNORECASE)
"""It ends where a clause begins that is a preference by itself."""
_RECORDS = wording("records")
_POINTS = wording("points")
_EMPTY = content_terms("best better good great perfect honest unbiased quality work job all everything default")
"""Words of praise and of any work, which name nothing that a later reader could look for."""
_OF_THE_WORK = wording("of_the_work")
_LEAVES_IT = wording("leaves_it")
_OFFERED = re.compile(r"\? \(.*?\)(?=; |$)")
"""The answers on offer, behind each question of a call."""
_FENCE_OR_NOTHING = re.compile(r"\s*(?:(?:```|~~~)\w*\n)?")
_IN_QUOTES = re.compile(r"(?<!\w)'[^']+'|\"[^\"]+\"|`[^`]+`")
_RECOMMENDED = re.compile(r" \((?:recommended|recomendad[oa])\)", re.IGNORECASE)
_LABEL_CHARS = 80
"""So long a choice is; what is longer is an explanation, and is read like any other message."""
_NOT_STATED = (Signal.REQUEST, Signal.SESSION, Signal.POINTS, Signal.PASSING, Signal.UNSURE, Signal.OBJECTION)
_OF_NOW, _BEGINS_WITH_A_NOUN = wording("of_now"), wording("begins_with_a_noun")
_FEW_CHARS = 25
_LEAD_CHARS = 12
_MANY_WORDS = 5
_MOST_ITEMS = 4
_QUOTE_CHARS = 600
_AGREED_SENTENCES = 3
_OWN_WORK = re.compile(r"\bmy\b", re.IGNORECASE)
"""The agent's own work, which it does anew once the person has corrected it."""
_SHARED = 2
_STANDING = frozenset({Sort.REMEMBER, Sort.PREFERENCE, Sort.CONVENTION})
_RULES = frozenset({Sort.PREFERENCE, Sort.CONVENTION, Sort.WANT, Sort.CORRECTION, Sort.DECISION})


def user_candidates(episode: Episode, before: Episode | None) -> Iterator[Candidate]:
    """The candidates in what the person said at the beginning of an episode; `before` is the episode it answers."""
    if episode.asked is None:
        return
    if before and (chosen := tuple(_answers(episode.asked, before))):
        yield from chosen
        return
    for claim, has_told in stated_again(episode, before) if before else ():
        if has_told:
            yield Candidate(Sort.REPEATED, Role.USER, cut(claim), (episode.asked.number,), quote=claim)
    blocks, pasted = own_words(episode.asked), pasted_blocks(episode.asked)
    for section in dict.fromkeys(block.section for block in blocks):
        if listed := sort_of_section(section.rstrip(":")):
            items = [block.text for block in blocks if block.section == section]
            yield from _listed(listed, section.rstrip(":"), items, episode.asked)
    yield from _asked_to_remember(blocks, episode, before)
    sentences = [sentence for block in blocks for sentence in sentences_of(block.text)]
    asks = any(
        (is_question(each) or shows(Signal.REQUEST, each) or _ASKS.match(each))
        and (len(each) > SENTENCE_CHARS or not any(hit.shows is Sort.REMEMBER for hit in user_hits(each)))
        for each in sentences
    )
    for block in blocks:
        if sort_of_section(block.section.rstrip(":")) or _SUPPOSES.search(block.section):
            continue
        found = _in_paragraph(sentences_of(block.text), episode, before, asks=asks)
        yield from (one for one in found if block not in pasted or one.sort in (Sort.REMEMBER, Sort.CONVENTION))


def _asked_to_remember(blocks: Sequence[Block], episode: Episode, before: Episode | None) -> Iterator[Candidate]:
    """What stands below a line that asks to remember it: a note for each item of a list, or one for the paragraph or the code."""

    def found(statement: str, quote: str) -> Candidate | None:
        one = _candidate(_Said(episode, before, statement, "", asks=False), is_answer=False)
        return evolve(one, quote=quote) if one and one.sort is Sort.REMEMBER else None

    said = episode.asked.text.replace("\u2019", "'") if episode.asked else ""
    for block in blocks:
        if not block.text.endswith(":"):
            continue
        lead = sentences_of(block.text)[-1]
        below = _FENCE_OR_NOTHING.sub("", said.partition(lead)[2], count=1).split("\n\n")[0].split("\n")
        lines = [line.strip() for line in below if line.strip() and not (FENCE.match(line) or line.lstrip()[0] in ">|")]
        items = [each.text for each in blocks if each.section == block.text]
        items = items or [each.text for each in blocks_of("\n".join(lines)) if each.style == "item"]
        items = items or [" ".join(lines)][: len(lines)]
        notes = [found(f"{lead} {item}", f"{lead}\n{item}") for item in items]
        if all(notes):
            yield from filter(None, notes)
        elif whole := found(f"{lead} {'; '.join(items)}", "\n".join((lead, *items))):
            yield whole


def _answers(asked: Turn, before: Episode) -> Iterator[Candidate]:
    """Yields what the person chose when the agent put questions to them by a tool, each with its question."""
    answered = before.work[-1] if before.work else None
    if answered is None or not is_question_tool(answered.tool_name):
        return
    calls = [call.brief for turn in before.work for call in turn.tool_calls if is_question_tool(call.name)]
    bare = _OFFERED.sub("?", calls[-1]) if calls else ""
    # Else nobody knows which answer is to which question.
    is_alone = not ("?; " in bare or '"="' in answered.text) and asked.text in answered.text
    for asks, said in _pairs(answered.text, asked.text.split("\n")) or ([(bare, asked.text)] if is_alone else []):
        answer = _RECOMMENDED.sub("", said)
        question = next((each for each in reversed(sentences_of(asks)) if each.endswith("?")), "")
        unclear = _LEAVES_IT.match(answer) or shows(Signal.UNSURE, answer) or shows(Signal.REQUEST, question)
        if (
            (unclear and not names_a_technology(answer))
            or _OF_THE_WORK.search(_IN_QUOTES.sub("x", question))
            or len(answer) > _LABEL_CHARS
            or is_anaphoric(question)
            or not says_enough(question)
        ):
            continue
        if len(claim := f"{question} {answer}") <= LONGEST_TITLE_CHARS:
            yield Candidate(Sort.DECISION, Role.USER, claim, (answered.number, asked.number), quote=answer)


def _pairs(told: str, answers: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the questions with their answers, as Claude Code and opencode tell them to the agent: `"Question?"="Answer", …`. None where
    the answers are not exactly those: a question may hold what looks like more of them."""
    found: list[tuple[str, str]] = []
    rest = told[told.find('"') :]
    for answer in answers:
        question, is_there, rest = rest[1:].partition(f'"="{answer}"')
        if not is_there or '"="' in question:
            return []
        found.append((question, answer))
        rest = rest.removeprefix(", ")
    return [] if '"="' in rest else found


def objects(turn: Turn) -> bool:
    """Whether the person rejects what the agent just did, or says that it did not help."""
    return any(
        shows(Signal.OBJECTION, sentence)
        for block in own_words(turn)[:2]
        for sentence in sentences_of(block.text)[:2]
        if not is_question(sentence)
    )


def stated_again(episode: Episode, before: Episode) -> Iterator[tuple[str, bool]]:
    """Yields what the person states behind an objection or behind words that they have said it before, and whether they say that they
    have told the agent so. It need not be general; but a bare "no" may answer a question of the agent's."""
    if (asked := episode.asked) is None:
        return
    is_answer = before.closing is not None and is_question(before.closing.text.rstrip())
    for block in (each for each in own_words(asked)[:2] if each not in pasted_blocks(asked)):
        waits = ""
        for sentence in sentences_of(block.text):
            led = _TELLS_AGAIN.match(sentence) or (None if is_answer else _OBJECTS.match(sentence))
            lead = led[0] if led else waits
            claim = sentence[led.end() :] if led else sentence if waits else ""
            waits = lead if led and not claim else ""
            doubt = is_quiet(claim) or is_anaphoric(claim) or _OF_NOW.search(claim) or not is_balanced(claim)
            if says_enough(claim, 2) and not doubt:
                told = f"The {claim}" if _BEGINS_WITH_A_NOUN.match(claim) else claim
                if not any(shows(each, told) for each in _NOT_STATED):
                    is_order = lead.rstrip().endswith(" to") and not _is_general(claim)
                    yield claim, _TOLD_BEFORE.search(lead) is not None and not is_order


def request_of(turn: Turn) -> str:
    """Returns what a message asks for, in a sentence or two of the person's; empty for a nudge (`continue`, `commit this`)."""
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


def _listed(sort: Sort, heading: str, items: Sequence[str], asked: Turn) -> Iterator[Candidate]:
    """The items of a list that the person gave which state something: a note each, or one where all make up a title. Those of what must
    not be stay together under their heading: without it they would say the opposite."""
    if is_negated(heading):
        if items := [item for item in items if not item.endswith("?")]:
            claim = f"{heading}: {items[0].rstrip('.;')}"
            yield Candidate(sort, Role.USER, cut(claim), (asked.number,), quote="\n".join((f"{heading}:", *items)))
        return
    told = [item for item in items if says_enough(item) and _states(sort, item)]
    whole = f"{heading}: {'; '.join(item.rstrip('.') for item in told)}"
    if len(told) > 1 and len(whole) <= LONGEST_TITLE_CHARS:
        yield Candidate(sort, Role.USER, whole, (asked.number,), quote="\n".join((f"{heading}:", *told)))
        return
    for item in told[:_MOST_ITEMS]:
        first = next((each for each in sentences_of(item) if says_enough(each)), item)
        yield Candidate(sort, Role.USER, cut(first), (asked.number,), quote=item)


def _states(sort: Sort, item: str) -> bool:
    """Whether an item is a sentence, and no catchword, file or step."""
    if item.endswith("?") or any(shows(each, item) for each in (Signal.REQUEST, Signal.POINTS, Signal.PASSING)):
        return False
    return tells_a_fault(item) if sort is Sort.LESSON else _STATEMENT.match(item) is not None


@frozen
class _Said:
    """A sentence of the person's where it stands."""

    episode: Episode
    before: Episode | None
    """The episode that it answers."""
    sentence: str
    following: str
    """The sentence behind it in its paragraph, unless that asks something."""
    asks: bool
    """Whether the message asks for something."""

    @property
    def turn(self) -> int:
        return self.episode.asked.number if self.episode.asked else 0

    @property
    def is_alone(self) -> bool:
        """Whether it is the whole message, but for a word or two before it: `ok, please`."""
        return (
            self.episode.asked is not None and len(self.episode.asked.text.strip()) <= len(self.sentence) + _LEAD_CHARS
        )

    @property
    def is_request(self) -> bool:
        """Whether anything was asked in the message, or done upon it."""
        return self.asks or self.episode.acted


def _in_paragraph(
    sentences: tuple[str, ...], episode: Episode, before: Episode | None, *, asks: bool
) -> Iterator[Candidate]:
    """The candidates in a paragraph. Neighbours of one sort are one note, and so are a rule and the request to record it."""
    sentences = tuple(
        each[led.end() :] if (led := _TELLS_AGAIN.match(each)) and each[led.end() :] else _HESITATES.sub("", each)
        for each in sentences
    )
    quoted = within_quotes(sentences)
    held: Candidate | None = None
    for position, sentence in enumerate(sentences):
        if len(sentence) > SENTENCE_CHARS or position in quoted:
            continue
        if held and sentence in held.quote:
            continue
        following = next((each for each in sentences[position + 1 : position + 2] if not is_question(each)), "")
        said = _Said(episode, before, sentence, following, asks)
        records = position > 0 and _RECORDS.match(sentence)
        found = None if records else _candidate(said, is_answer=confirms(episode) and before is not None)
        if records and not held:
            held = _recorded(sentences[position - 1], said)
        if held and (records or (found and found.sort is held.sort and sentences[position - 1] in held.quote)):
            held = evolve(held, quote=f"{held.quote} {sentence}") if len(held.quote) < _QUOTE_CHARS else held
            continue
        if held:
            yield held
        held = found
    if held:
        yield held


def _recorded(sentence: str, said: _Said) -> Candidate | None:
    unclear = any(shows(signal, sentence) for signal in (Signal.POINTS, Signal.UNSURE))
    if unclear or not says_enough(sentence) or is_anaphoric(sentence) or is_question(sentence):
        return None
    return Candidate(Sort.PREFERENCE, Role.USER, cut(sentence), (said.turn,), quote=sentence)


def _candidate(said: _Said, *, is_answer: bool) -> Candidate | None:
    sentence, answering = said.sentence, said.before is not None
    tagged = sentence.endswith("?") and _TAG.search(sentence)
    asks = is_question(sentence)
    if tagged and is_answer:
        sentence, asks = sentence[: tagged.start()], False
    own = own_part(sentence)
    if own is not None and not _strongest(own, answering=answering):
        return None  # a cue in what others say shows nothing of what the person wants
    hit = _strongest(sentence.rstrip("?!") if asks else sentence, answering=answering)
    if hit is None or not is_balanced(sentence):
        return None
    if answering and _YES.match(sentence) and len(content_terms(hit.said)) < _MANY_WORDS:
        return None
    if hit.shows is Sort.REMEMBER:
        if sentence.endswith(":") or (asks and not _ASKS.match(sentence)) or shows(Signal.SESSION, hit.said):
            return None
        lasts = _is_general(sentence) or any(each.shows in _STANDING for each in user_hits(hit.said))
        if said.asks and _HEEDS.search(sentence) and not lasts:
            return None
        return _statement(said, hit, sentence)
    if hit.shows is Sort.PREFERENCE and _CLAUSE_BEFORE.search(sentence.removesuffix(hit.said)):
        sentence = hit.said if "(" in hit.said else hit.said.rstrip(")")
        hit = Hit(hit.shows, sentence)
    asks = asks or shows(Signal.UNSURE, sentence) or _ASKS.match(sentence) is not None
    told = hit.said if hit.shows is Sort.CORRECTION else sentence
    is_order = hit.shows is Sort.TASK and ("?" in hit.said or shows(Signal.REQUEST, sentence))
    if asks or is_order or sentence.endswith(":") or shows(Signal.POINTS, told) or shows(Signal.SESSION, told):
        return None
    if hit.shows is Sort.DECISION and speaks_of_an_option(sentence):
        return _chosen(said)
    if hit.shows in _RULES and not _lasts(said, hit, told):
        return None
    return _statement(said, hit, sentence)


def _lasts(said: _Said, hit: Hit, sentence: str) -> bool:
    """Whether it holds beyond the work at hand: it asks for none, holds not only for now, and has a general word, a contrast
    or a reason. A preference or a convention says so by itself, but for a wish that is part of a request."""
    whole = sentence if hit.shows is Sort.PREFERENCE else said.sentence
    if shows(Signal.PASSING, sentence) or any(shows(Signal.REQUEST, each) for each in {sentence, whole}):
        return False
    if hit.shows is Sort.CORRECTION and _is_about_what_they_said(said, hit):
        return True
    is_short = len(hit.said) < _FEW_CHARS and hit.shows is Sort.CORRECTION
    told = f"{sentence} {said.following}" if is_short else sentence
    if said.is_request and hit.shows is not Sort.PREFERENCE:
        # What a request says of the thing itself is in the code once it is done, unless it says for ever, or why.
        is_convention = hit.shows is Sort.CONVENTION and not _WISH.search(sentence)
        settling = {Sort.CORRECTION: (_OURS,), Sort.DECISION: (_DECIDED, _CONTRAST)}.get(hit.shows, ())
        is_decided = any(each.search(said.sentence) for each in settling)
        lasting = any(each.search(told) for each in (_STANDS, _REASON, _SETTLES))
        is_state = hit.shows is Sort.CORRECTION and _IS_DONE_SO.search(told)  # which the work at hand may have mended
        return is_convention or is_decided or (lasting and not is_state)
    if _is_general(told):
        return True
    if hit.shows in (Sort.PREFERENCE, Sort.CONVENTION):
        forbids = _FORBIDS.search(sentence)
        is_limit = len(content_terms(sentence)) < _SPECIFIC if forbids else _WISH.search(sentence)
        follows = said.is_alone and _FORBIDS.match(sentence)  # what the agent did then was to follow it
        return not ((said.asks or (said.episode.acted and not follows)) and is_limit)
    return hit.shows is Sort.DECISION and _DECIDED.search(sentence) is not None


def _is_general(sentence: str) -> bool:
    return any(each.search(sentence) for each in (_GENERAL, _CONTRAST, _REASON))


def _is_about_what_they_said(said: _Said, hit: Hit) -> bool:
    """Whether it gives another value for a thing that the person's message before it was about: what was kept of that message
    must not stand (P8)."""
    if said.before is None or said.before.asked is None:
        return False
    subject = {term for term in content_terms(hit.said) if not any(map(str.isdigit, term))}
    return len(subject) >= _SHARED and subject <= content_terms(said.before.asked.text)


def _chosen(said: _Said) -> Candidate | None:
    """The option that the sentence chooses from what the agent offered; what follows a choice mostly says why."""
    chosen = chosen_option(said.sentence, said.before.closing) if said.before else None
    if chosen is None or said.before is None or said.before.closing is None:
        return None
    option, names = chosen
    text = _OPTION_NAME.sub("", option.text.replace(" (Recommended)", ""))
    if shows(Signal.REQUEST, text):
        return None  # work of the session at hand, and no decision about what is made
    return Candidate(
        Sort.DECISION,
        Role.USER,
        cut(text),
        (said.before.closing.number, said.turn),
        quote=joined(said.sentence, *filter(None, (said.following,))),
        supports=(Support("Chosen among", names),),
    )


def _strongest(sentence: str, *, answering: bool) -> Hit | None:
    """The strongest cue. Where nobody had spoken before, nothing corrects anybody."""
    hits = iter(user_hits(sentence))
    first = next(hits, None)
    if first is None or answering or first.shows is not Sort.CORRECTION:
        return first
    return next(hits, None)


def _statement(said: _Said, hit: Hit, sentence: str) -> Candidate | None:
    sort, following = hit.shows, said.following
    led_in = sentence[: sentence.find(hit.said)].rstrip() if hit.said in sentence else ""
    cuts_in = sort is Sort.CORRECTION and led_in and not led_in.endswith((",", ";", ":", ".", "!", "-", "–", "—"))
    takes_part = (
        sentence != said.sentence or sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.ROUTINE) or len(sentence) > MAX_CHARS
    )
    claim, quote = hit.said if takes_part and not cuts_in else sentence, [said.sentence]
    is_short = len(claim) < _FEW_CHARS if claim.isascii() else not says_enough(claim, 0)
    if following and is_short and (len(content_terms(claim)) < 2 or claim.startswith("about ")):
        claim, following = following, ""
        quote.append(claim)
        if any(shows(signal, claim) for signal in (Signal.REQUEST, Signal.SESSION, Signal.POINTS)):
            return None
    if following and is_anaphoric(following):
        quote.append(following)
    few = sort not in _STANDING and len(content_terms(claim)) < _MANY_WORDS
    told = hit.said if sort is Sort.REMEMBER else claim
    points = is_anaphoric(told) or (few and _POINTS.search(_REASON.split(claim)[0]))
    least = {Sort.WANT: 4, Sort.TASK: 4, Sort.PREFERENCE: 2, Sort.CONVENTION: 2}.get(sort, 3) + len(
        content_terms(claim) & _EMPTY
    )
    rejected = _REJECTED.search(claim) if sort in (Sort.REMEMBER, Sort.CORRECTION, Sort.DECISION) else None
    if sort is Sort.REMEMBER:
        least = 2 if claim.isascii() else 1  # of a script without spaces a sentence is one word
    elif sort is Sort.CORRECTION and rejected:
        least = 2  # what is right, and what is not: `pnpm, not npm`
    if points or not says_enough(claim, least):
        return None
    return Candidate(
        sort,
        Role.USER,
        cut(claim),
        (said.turn,),
        quote=" ".join(quote),
        supports=_agreed(said.episode, claim) if said.before else (),
        rejected=rejected["what"] if rejected else "",
        corrects=bool(_TAKES_BACK.search(said.sentence)),
    )


def _agreed(episode: Episode, claim: str) -> tuple[Support, ...]:
    """Returns what the agent says of the matter in the message in which it says that the person is right. An order in its words would
    be taken for one of the person's, whom the note quotes (P19): it is left out."""
    if not confirms(episode):
        return ()
    spoken = next(turn.text for turn in episode.work if turn.role is Role.AGENT and turn.text.strip())
    sentences = (each for block in blocks_of(spoken) for each in sentences_of(block.text) if says_enough(each, 2))
    told = [
        each
        for each in islice(sentences, _AGREED_SENTENCES)
        if not (is_quiet(each) or is_directive(each) or _OWN_WORK.search(each))
    ]
    says = joined(*map(in_third_person, told))
    return (Support("The agent agreed", says),) if len(content_terms(says) & content_terms(claim)) >= _SHARED else ()
