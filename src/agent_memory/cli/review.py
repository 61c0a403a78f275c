"""`memory review`: walks through what waits for the person's decision, one key each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Literal

from agent_memory.acts.review import Decided, ReviewAct, ReviewItem, ReviewKind
from agent_memory.app import Memory
from agent_memory.cli.console import BOLD, DIM, Arguments, Console, Options, broken_lines, terminal_columns
from agent_memory.cli.dialogue import edited_by_hand, is_agreed, open_here
from agent_memory.cli.write_notes import parsed_note
from agent_memory.documents import decided_document, review_document
from agent_memory.errors import EntryChanged, EntryNotFound, Error, StoreIo, UsageInvalid
from agent_memory.note.note import SKILL_TAG, Listed, MemoryEntry, StoredEntry
from agent_memory.note.note_format import render_note
from agent_memory.results import unwrap
from agent_memory.rules.run_log import short_id
from agent_memory.text.instants import day_of
from agent_memory.text.plain_text import counted, sentence, with_hidden_shown

_MOST_LINES = 40
_KEYS = {act.value[0]: act for act in ReviewAct}
_QUIT = "q"


def configure_review(options: Options) -> None:
    options.choice("--kind", ReviewKind, "only what waits for this reason")
    options.add(
        "--all",
        choices=("keep", "reject", "later"),
        metavar="ACT",
        help="decide about all of it at once: keep, reject, later (see --kind)",
    )
    options.since("all that runs made since: 30d, 12h, 2026-02-13, or last for the last runs", "last")
    options.flag("--yes", "with --all, do not ask")
    epilog = (
        "For each note you see why it waits and who said it, then press a key: k keep, e edit, r reject, m merge, s "
        "supersede, l later, q quit. Keep approves: of an external note you vouch for what it says, an expired one stays, "
        "and two that are alike or contradict each other both stay. Reject moves a note to the archive, and no session "
        "teaches the same again. Supersede lets one note take the place of the others. Later asks again in a week. Each "
        "decision is a run, which `memory undo` takes back. Characters that cannot be seen are spelled out.\n\n"
        "Where standard input is not a terminal, each line of it is an answer; --json lists what waits and asks nothing. "
        "With `review.before: true` in the config, a new note is told to no session before you keep it. Only you can "
        "decide, not an agent."
    )
    options.runs(_review, epilog, "memory review --kind external")


def _review(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    if arguments.all is not None or not console.json:
        memory.caller.only_a_person("review")
    since: int | Literal["last"] | None = arguments.since
    console.progress("looking for what waits")
    items = unwrap(memory.reviewing.items(since))
    if arguments.kind is not None:
        items = tuple(each for each in items if each.kind is arguments.kind)
    now = [each for each in items if each.put_off_until_ms is None]
    if arguments.all is not None:
        _decide_all(memory, console, now, ReviewAct(arguments.all), is_sure=arguments.yes)
        return
    if console.json:
        console.answer(review_document(items, memory.reading.tier_of))
        return
    put_off = len(items) - len(now)
    if not now:
        console.out("Nothing waits for your decision." + (f" {counted(put_off, 'item')} put off." if put_off else ""))
        return
    _walk(memory, console, now)


def _decide_all(
    memory: Memory, console: Console, items: Sequence[ReviewItem], act: ReviewAct, *, is_sure: bool
) -> None:
    chosen = [each for each in items if act is not ReviewAct.REJECT or (len(each.notes) == 1 and act in each.acts)]
    if len(chosen) < len(items):
        left = counted(len(items) - len(chosen), "item")
        console.warn(f"Left {left} about several notes, or about none: `memory review` asks about each.")
    if not chosen:
        console.answer(decided_document(Decided("", "nothing was done")), "Nothing to decide.")
        return
    kinds = ", ".join(dict.fromkeys(each.kind.words for each in chosen))
    question = f"{act.value.capitalize()} {counted(len(chosen), 'item')} ({kinds})?"
    if not is_sure and not is_agreed(console, question):
        console.warn("Nothing was changed.")
        return
    decided = unwrap(memory.reviewing.decide(chosen, act))
    console.answer(decided_document(decided), _told(decided))
    for each in () if console.json else decided.left:
        console.warn("; ".join(each.reasons))


def _told(decided: Decided) -> str:
    summary = with_hidden_shown(decided.summary)
    undo = f"  (`memory undo {short_id(decided.run_id)}` takes it back)" if decided.run_id else ""
    return f"{summary[:1].upper()}{summary[1:]}{undo}"


# -- one by one -------------------------------------------------------------------------------------------------------


def _walk(memory: Memory, console: Console, items: Sequence[ReviewItem]) -> None:
    decided = changed = 0
    for number, item in enumerate(items, 1):
        try:
            stored = [unwrap(memory.store.read_again(each)) for each in item.notes]
        except (EntryChanged, EntryNotFound):
            continue  # an earlier decision, or a run meanwhile, settled it
        if any(each.listed.body_hash != seen.body_hash for each, seen in zip(stored, item.notes, strict=True)):
            continue
        heading = f"{number} of {len(items)} · {item.kind.words}"
        console.out("", console.styled(BOLD, heading), *_page(console, item, stored))
        while True:
            keys = [key for key, act in _KEYS.items() if act in item.acts]
            words = " ".join(f"[{key}]{_KEYS[key].value[1:]}" for key in keys)
            key = _answer(console, f"{words} [q]uit: ")
            if key in ("", _QUIT):
                console.out(f"{counted(decided, 'decision')}, {counted(len(items) - number + 1, 'item')} left.")
                return
            if key not in keys:
                continue
            try:
                done = _decided(memory, console, item, stored, _KEYS[key])
            except StoreIo:
                raise
            except Error as error:
                console.warn(str(error))
                if isinstance(error, (EntryChanged, EntryNotFound)):
                    changed += 1
                    break
                continue
            if done is not None:
                decided += 1
                console.out(_told(done))
                if _KEYS[key] is ReviewAct.KEEP and any(SKILL_TAG in each.meta.tags for each in stored):
                    console.out(
                        "`memory export skills --output .claude/skills` (or .agents/skills) writes it as a skill."
                    )
                break
    left = f"{changed} changed meanwhile: `memory review` shows what waits now" if changed else "nothing left"
    console.out("", f"{counted(decided, 'decision')}, {left}.")


def _decided(
    memory: Memory, console: Console, item: ReviewItem, stored: Sequence[StoredEntry], act: ReviewAct
) -> Decided | None:
    """Returns the outcome; None where the person changed their mind."""
    chosen: StoredEntry | None = None
    if len(stored) > 1 and act not in (ReviewAct.KEEP, ReviewAct.LATER):
        which = "stays" if act in (ReviewAct.MERGE, ReviewAct.SUPERSEDE) else "do you mean"
        answer = _answer(console, f"Which {which}? 1–{len(stored)}: ")
        if not (answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(stored)):
            return None
        chosen = stored[int(answer) - 1]
    text: MemoryEntry | None = None
    note = chosen or (stored[0] if stored else None)
    if act is ReviewAct.EDIT and note is not None:
        before = render_note(note.entry, None).encode()
        with edited_by_hand(console, f"{note.meta.id}.md", before, "Set EDITOR, or decide otherwise.") as data:
            if data == before:
                console.warn("Nothing was edited.")
                return None
            text = parsed_note(data, note)
            return unwrap(memory.reviewing.decide([item], act, note_id=note.meta.id, text=text))
    return unwrap(memory.reviewing.decide([item], act, note_id=None if chosen is None else chosen.meta.id))


def _answer(console: Console, question: str) -> str:
    """Returns the key that the person pressed, or the first character of the next line; empty at the end of the input."""
    if sys.stdin is None:
        raise UsageInvalid(
            "Standard input is closed, so nobody can be asked", "`memory review --json` lists what waits."
        )
    print(question, end="", file=console.stdout, flush=True)
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        print(line.strip()[:1], file=console.stdout)
        return line.strip()[:1].lower() or ("" if not line else "\n")
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # what was typed before counts
        key = sys.stdin.read(1)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    print(key if key.isprintable() else "", file=console.stdout)
    return _QUIT if key == "\x04" else key.lower()


def _page(console: Console, item: ReviewItem, stored: Sequence[StoredEntry]) -> Iterator[str]:
    width = min(terminal_columns(), 120)
    yield from broken_lines(with_hidden_shown(sentence(item.reason)), width)
    yield from broken_lines(f"Source: {with_hidden_shown(item.source)}", width)
    for number, each in enumerate(stored, 1):
        yield ""
        title = with_hidden_shown(" ".join(each.meta.title.split()))
        yield from broken_lines(console.styled(BOLD, f"{f'{number}. ' if len(stored) > 1 else ''}{title}"), width)
        yield console.styled(DIM, _facts(each.listed))
        lines = [
            line
            for raw in each.body.strip("\n").split("\n")
            for line in broken_lines(with_hidden_shown(raw), width) or [""]
        ]
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield f"… {counted(len(lines) - _MOST_LINES, 'more line')} (`memory read {each.meta.id}`)"


def _facts(listed: Listed) -> str:
    meta = listed.meta
    scope = with_hidden_shown(meta.scope)
    return f"{meta.id} · {meta.kind} · said by: {meta.origin} · {scope} · updated {day_of(meta.updated_at_ms)}"
