"""Skills, as proposals: the steps that agents took in three or more sessions of a repository become a note that waits in
`memory review`, and that `memory export skills` writes as a `SKILL.md` once a person has kept it.

A proposal holds commands that ran, and no prose of a session or a page: whatever is quoted, long, secret or absolute is
told as `…`, as is what differed between the sessions. A command whose outcome or meaning cannot be read off its words
ends a sequence, so that no proposal leaves out a step that it had.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from posixpath import normpath

from attrs import frozen

from agent_memory.errors import Error
from agent_memory.imports.base import SOURCES_LINE, STEPS, Record
from agent_memory.imports.bootstrap import Checkout
from agent_memory.note.note import GLOBAL_SCOPE, SKILL_TAG, Kind
from agent_memory.results import unwrap
from agent_memory.session.history import History
from agent_memory.session.tool_calls import BRIEF_CHARS, answers, runs_commands
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.store_files import Store
from agent_memory.text.instants import day_of
from agent_memory.text.plain_text import counted, first_few

SOURCE = "skills"
_LEAST_SESSIONS, _LEAST_STEPS, _LEAST_OWN, _MOST_STEPS = 3, 3, 2, 8
_MOST_SOURCES, _NAME_CHARS = 6, 64

_LOOKS = re.compile(
    r"awk|basename|bat|cat|column|cut|date|df|diff|dirname|du|echo|e?grep|env|false|fd|file|find|head|history|jq|less|ls|man|"
    r"memory|more|nl|pgrep|printf|ps|pwd|realpath|rg|sed|sleep|sort|stat|tail|tee|test|tree|true|type|uniq|wc|which|whoami|"
    r"xxd|yq|\["
)
_LOOKING = re.compile(
    r"git (-\S+ )*(add|blame|branch|check-ignore|config|describe|diff|fetch|grep|log|ls-files|reflog|remote|rev-parse|show|"
    r"stash|status)\b|gh \w+ (list|status|view)\b|go (doc|env|list|mod graph|version)\b|.* (-h|-V|--help|--version|help|version)$"
)
"""What leaves the project as it is, or goes without saying: agents do it all the time."""
_UNCLEAR = re.compile(
    r"\.|(ba|z)?sh|case|chmod|cp|curl|eval|exec|export|for|if|kill|ln|mkdir|mv|node|perl|pkill|rm(dir)?|ruby|set|source|ssh|"
    r"sudo|time(out)?|touch|unset|until|wget|while|xargs"
)
"""What a word tells nothing of, or what is mostly done to files that nobody else has."""
_USUAL = re.compile(
    r"(git|gh|go|gofmt|cargo|rustc|pip3?|pytest|python3? -m (pytest|pip|venv)|ruff|black|mypy|pyright|tsc|eslint|prettier|"
    r"vitest|jest|swift|dotnet|brew|apt(-get)?)( .*)?|(uv|poetry) (sync|add|install|lock)|(uv run|npx|bunx|pnpm exec) "
    r"(pytest|ruff|mypy|tsc|eslint|prettier|vitest|jest)( .*)?|(npm|pnpm|yarn|bun) (i|ci|install|add|test|init)( .*)?"
)
"""What is the same in every project of a language: only the other steps are a project's own."""
_SILENCED = re.compile(r"\s*(?:[0-9]|&)?>>?\s*(?:&[0-9]|/dev/null)")
_CUT = re.compile(r"\$\(|`|<<")
_SHOWN = re.compile(r"(?![/~])(?!.*://)(?![0-9a-f]{7,}$)[\w@%+=:,./^*{}~-]{1,60}")
_HEAD = re.compile(r"[a-z][a-z0-9:_-]*")
_STEP = re.compile(r"(?m)^\d+\. `(.+)`$")
_REST = "…"

Step = tuple[str, ...]
"""The words of a command as they are shown; those that are not shown are `_REST`."""


@frozen
class _Ran:
    """The steps of one session, in the order in which they were taken, without looking around."""

    harness: str
    session_id: str
    at_ms: int
    sequences: tuple[tuple[Step, ...], ...]


def proposals(
    kept: KeptHistories,
    store: Store,
    scope_of: Callable[[tuple[str, ...]], str | None],
    checkout_at: Callable[[str], Checkout],
) -> Iterator[Record]:
    """Yields what is worth a person's look: what no proposal of an earlier time held, whatever became of it, and what the
    instructions and skills of the repository do not say anyway. `scope_of` takes the directories of a session."""
    ran, places = defaultdict[str, list[_Ran]](list), dict[str, str]()
    for scope, place, session in _sessions(kept, scope_of):
        ran[scope].append(session)
        places.setdefault(scope, place)
    found = {scope: repeated for scope, sessions in ran.items() if (repeated := _repeated(sessions))}
    known, waiting = defaultdict[str, list[list[str]]](list), Counter[str]()
    for each in (
        [note for archived in (False, True) for note in unwrap(store.list(archived=archived)).entries] if found else ()
    ):
        if any((source.imported or "").startswith(f"{SOURCE}:") for source in each.meta.sources):
            known[each.meta.scope].append(_STEP.findall(unwrap(store.read_again(each)).body))
            waiting[each.meta.scope] += each.meta.is_foreign and not each.archived
    for scope, repeated in found.items():
        checkout = checkout_at(places[scope])
        told = [checkout.text(name) for name in checkout.named(r"(?:.*/)?(?:AGENTS|CLAUDE|GEMINI|SKILL)\.md")]
        for heads, variants in repeated:
            names = [" ".join(head) for head in heads]
            is_known = any(_overlaps(names, steps) for steps in known[scope])
            if (
                waiting[scope] < 3  # more undecided proposals of a repository would not be looked at
                and not is_known
                and not any(all(each in text for each in names) for text in told)
            ):
                known[scope].append(names)
                waiting[scope] += 1
                yield _proposal(scope, places[scope], heads, variants)


def _overlaps(names: Sequence[str], steps: Sequence[str]) -> bool:
    """Returns whether more than half of these commands are among the steps of another proposal."""
    return 2 * sum(any(f"{step} ".startswith(f"{name} ") for step in steps) for name in names) > len(names)


def _proposal(scope: str, place: str, heads: Sequence[Step], variants: Mapping[_Ran, Sequence[Step]]) -> Record:
    steps = [_common([steps[at] for steps in variants.values()]) for at in range(len(heads))]
    words = dict.fromkeys(re.findall(r"[a-z0-9]+", " ".join(word for head in heads for word in head)))
    name = "-".join(words)[:_NAME_CHARS].strip("-")
    listed = "".join(f"{number}. `{step}`\n" for number, step in enumerate(steps, 1))
    rest = f"`{_REST}` is what differed, or is not kept.\n\n" if any(_REST in step for step in steps) else ""
    sessions = sorted(variants, key=lambda each: each.at_ms, reverse=True)
    # Without their ids: the note stays when one of them is forgotten, and a skill goes into a project's files.
    told = Counter(f"{each.harness} on {day_of(each.at_ms)}" for each in sessions)
    sources = first_few([f"{counted(number, 'session')} of {each}" for each, number in told.items()], _MOST_SOURCES)
    body = (
        f"Agents ran these commands in this order in several sessions, without an error; what they edited in between is "
        f"not told:\n\n{listed}\n{rest}{SOURCES_LINE}{sources}"
    )
    names = [" ".join(head) for head in heads]
    title, description = f"{STEPS.capitalize()}{', '.join(names)}", f"Runs `{'`, `'.join(names)}`, in this order."
    latest = sessions[0].at_ms
    return Record(
        f"{scope}/{name}", body, title, description, Kind.CONVENTION, (SKILL_TAG,), latest, latest, place=place
    )


def _common(variants: Sequence[Step]) -> str:
    """Returns the variant of most sessions, else the words with which all begin."""
    (usual, count), *_ = Counter(variants).most_common()
    if 2 * count > len(variants):
        return " ".join(usual)
    same = [words[0] for words in takewhile(lambda words: len(set(words)) == 1, zip(*variants, strict=False))]
    return " ".join([*takewhile(lambda word: word != _REST, same), _REST])


# -- what is repeated --------------------------------------------------------------------------------------------------


def _repeated(sessions: Iterable[_Ran]) -> list[tuple[tuple[Step, ...], dict[_Ran, tuple[Step, ...]]]]:
    """Returns the sequences of three or more sessions by what their commands begin with, the longest first."""
    found = defaultdict[tuple[Step, ...], dict[_Ran, tuple[Step, ...]]](dict)
    for session in sessions:
        for steps in session.sequences:
            heads = [_head(step) for step in steps]
            for start in range(len(steps)):
                for end in range(start + _LEAST_STEPS, min(start + _MOST_STEPS, len(steps)) + 1):
                    key = tuple(heads[start:end])
                    if len(set(key)) < len(key):  # a loop of attempts
                        break
                    found[key][session] = steps[start:end]
    worth = [each for each in found.items() if len(each[1]) >= _LEAST_SESSIONS and _is_worth(each[0])]
    return sorted(worth, key=lambda each: (-len(each[0]), -len(each[1]), each[0]))


def _is_worth(heads: Sequence[Step]) -> bool:
    """Returns whether the steps say something about the project: every agent knows how to build, test and commit."""
    return sum(not _USUAL.fullmatch(" ".join(head).rpartition("&& ")[2]) for head in heads) >= _LEAST_OWN


def _head(step: Step) -> Step:
    """Returns the command and its subcommands: what is the same however often it is called."""
    start = 1 if step[0].startswith("cd ") else 0
    most = start + (2 if step[start] == "git" else 3)
    words = step[start + 1 : most]
    if step[start].startswith("python") and words[:1] == ("-m",):
        return step[: start + 3]
    return (*step[: start + 1], *takewhile(_HEAD.fullmatch, words))


# -- what ran ----------------------------------------------------------------------------------------------------------


def _sessions(
    kept: KeptHistories, scope_of: Callable[[tuple[str, ...]], str | None]
) -> Iterator[tuple[str, str, _Ran]]:
    """Yields the newest sessions of a repository that took steps, with its scope and the session's directory. A record
    that is in two sessions, of which one continues the other, counts for the newest."""
    parts = {name: list(names) for name, names in groupby(kept.names(), lambda name: name.partition(".")[0])}
    # So much of the kept histories, packed, is read, the newest first: about a hundred sessions.
    room, seen = 8 << 20, set[str]()
    for session in reversed(unwrap(kept.sessions())):
        room -= session.size_bytes
        if room < 0:
            return
        sequences, history = list[tuple[Step, ...]](), None
        for name in parts.get(session.name, ()):
            try:
                part = kept.part(name)
            except Error:  # search of sessions says so
                continue
            if part is not None:
                history = part
                sequences += _sequences(history, seen)
        if history is None or not history.cwd or not sequences or history.automated or history.own_call:
            continue
        scope = scope_of((history.cwd, *history.also_in))
        if scope not in (None, GLOBAL_SCOPE):
            at_ms = history.ended_at_ms or session.kept_at_ms
            yield scope, history.cwd, _Ran(history.harness, history.session_id, at_ms, tuple(sequences))


def _sequences(history: History, seen: set[str]) -> Iterator[tuple[Step, ...]]:
    steps: list[Step] = []
    for step in (step for brief in _commands(history, seen) for step in _steps(brief, history.cwd or "")):
        if step is None:
            yield tuple(steps)
            steps = []
        elif not steps or _head(steps[-1]) != _head(step):
            steps.append(step)
        else:
            steps[-1] = step
    yield tuple(steps)


def _commands(history: History, seen: set[str]) -> Iterator[str]:
    """Yields the command lines that an agent ran and that its tool did not call failed."""
    for turn, calls in answers(history):
        record = f"{turn.record_id} {turn.at_ms}"
        is_new = record not in seen
        seen.add(record)
        if calls and is_new and not turn.failed and runs_commands(calls[0]):
            yield calls[0].brief


def _steps(line: str, cwd: str) -> Iterator[Step | None]:
    """Yields the steps of a command line; None where something was done that cannot be told."""
    line = _SILENCED.sub("", line.replace("\\ ", " ").replace(f"{cwd}/", "")).strip()
    if cut := _CUT.search(line):
        line = line[: cut.start()]
    is_cut = bool(cut) or len(line) >= BRIEF_CHARS
    for closing in ("", '"', "'"):
        try:
            lexer = shlex.shlex(f"{line}{closing}", posix=True, punctuation_chars=True)
            lexer.whitespace_split, lexer.commenters = True, ""
            tokens = list(lexer)
            break
        except ValueError:
            is_cut = True
    else:
        tokens = [";"]
    # Of `a; b` the outcome of `a` is not known, nor what a redirection writes.
    if "[redacted:" in line or any(re.fullmatch(r"[;&|<>()]+", each) and each not in ("&&", "|") for each in tokens):
        yield None
        return
    place: Step = ()
    commands = [list(words) for joins, words in groupby(tokens, lambda each: each == "&&") if not joins]
    for command in commands:
        parts = [list(words) for joins, words in groupby(command, lambda each: each == "|") if not joins]
        first, *piped = parts or [["."]]
        program = first[0]
        if program == "cd" and len(first) == 2:
            target = normpath(first[1])
            if target.startswith(("/", "~", "..")) and target != cwd:
                yield None
                return
            place = () if target in (".", cwd) else (f"cd {target} &&",)
            continue
        if _LOOKS.fullmatch(program) or _LOOKING.match(" ".join(first)):
            continue
        is_clear = _SHOWN.fullmatch(program) and "=" not in program and not _UNCLEAR.fullmatch(program)
        if not is_clear or any(not _LOOKS.fullmatch(words[0]) for words in piped):
            yield None
            continue
        shown = [word if _SHOWN.fullmatch(word) else _REST for word in first]
        if is_cut and command is commands[-1]:
            shown = [*(shown[:-1] if len(shown) > 1 else shown), _REST]
        yield (*place, *shown)
