"""The agents: the built-in one, which needs no language model and no network and always says the same; or a command,
one bounded child process for each prompt, with the meaning of its exit (P9, P10, P23).

A command runs in a directory that is empty except for our mark, so that it finds no project and is never captured. The
built-in answers in the envelope like any agent, and so passes the same checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from attrs import asdict, evolve, frozen
from returns.result import Failure, Result

from agent_memory.agent.child_process import MAX_STDOUT_BYTES, Finished, child_environment, run_child
from agent_memory.caller import depth_of
from agent_memory.config import BUILTIN, LlmConfig, PresetConfig
from agent_memory.errors import (
    ActRefused,
    AgentFailed,
    AgentMissing,
    AgentTimedOut,
    AgentUnavailable,
    ConfigInvalid,
    Defect,
    Error,
    PresetRefused,
    ReplyRefused,
    StoreIo,
)
from agent_memory.files.durable import DIRECTORY_MODE, make_directories, read_loosely, replace_file
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import CHILD_MARK, DEPTH_VARIABLE, home_of, local_state_directory
from agent_memory.note.note import Kind, Status
from agent_memory.ports import Agent, Clock
from agent_memory.presets import PRESETS, PRIVATE_DIRECTORY, Preset, failure_cause, message_cause
from agent_memory.prompt.reply import decode_reply
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result, unwrap
from agent_memory.rules.plan import (
    Action,
    AgentReply,
    AgentRequest,
    ChangeSet,
    DefragRequest,
    ProposedEntry,
    ProposedUpdate,
    SessionRequest,
    kind_of,
)
from agent_memory.session.history import History, Turn
from agent_memory.session.queue import FileSnapshot, InlineNote
from agent_memory.store.bookkeeping import SpendLedgerFiles
from agent_memory.text.markdown import MAX_TITLE_CHARS, derive_title
from agent_memory.text.plain_text import one_line

# -- the choice of a command ------------------------------------------------------------------------------------------

_SOURCE = "llm"
"""The path of a config that did not come from a file."""

REDACTED = "[redacted]"
_SECRET_NAME = re.compile(
    r"(?:^|[_-]|(?<=[a-z])(?=[A-Z]))(?i:api)?(?i:key|token|secret|password|passwd|passphrase|auth|credentials?|cookie)"
    r"(?:$|[_-]|(?=[A-Z]))"
)


def is_secret_name(name: str) -> bool:
    """Returns whether a variable or option of this name holds a secret, whatever its value looks like."""
    return _SECRET_NAME.search(name) is not None


def shown_words(words: Sequence[str]) -> tuple[str, ...]:
    """Returns a command's words redacted, and without the values of variables and options with telling names."""
    return tuple(f"{redact(told).text}{REDACTED if secret else ''}" for told, secret in _split_secrets(words))


def shown_command(words: Sequence[str]) -> str:
    shown = shown_words(words)
    return redact(" ".join(each if REDACTED in each else shlex.quote(each) for each in shown)).text


def _split_secrets(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    is_value = False
    for word in words:
        name, equals, value = word.partition("=")
        if is_value and not word.startswith("-"):
            yield "", word
        elif equals and is_secret_name(name):
            yield f"{name}=", value
        else:
            yield word, ""
        is_value = not equals and word.startswith("-") and is_secret_name(word)


def uses_builtin(llm: LlmConfig) -> bool:
    """Returns whether the built-in extractor is configured, so that no command runs."""
    return llm.command is None and llm.preset == BUILTIN


@as_result
def choose_command(llm: LlmConfig, home: str) -> Preset:
    """Returns the command that a valid config chooses; not for the built-in (see `uses_builtin`).

    As in a shell, `~/` at the start of a word of `llm.command` or of a one-line preset is the home. Nothing else is
    expanded. A relative path to a program is refused: the command runs in a directory of its own.
    """
    where = f"llm.presets.{llm.preset}" if llm.command is None else "llm.command"
    own = llm.presets.get(llm.preset) if llm.command is None else llm.command
    if own is None:
        preset = PRESETS[llm.preset]
        if preset.keeps_tools and not llm.allow_tools:
            raise PresetRefused(preset.name)
        return evolve(preset, argv=preset.with_model(llm.model), variables=(*preset.variables, *llm.pass_env))
    if isinstance(own, PresetConfig):
        command = Preset(llm.preset, own.argv, dict(own.env), own.input, variables=llm.pass_env)
    else:
        argv = tuple(f"{home}{word[1:]}" if word.startswith("~/") else word for word in shlex.split(own))
        digest = hashlib.sha256(json.dumps(argv).encode()).hexdigest()[:8]
        command = Preset(llm.preset if llm.command is None else f"command:{digest}", argv, variables=llm.pass_env)
    program = command.argv[0]
    if not program.strip():
        raise ConfigInvalid(_SOURCE, (f"{where} must name a command",))
    if "/" in program and not os.path.isabs(program):
        problem = f"{where} names {shown_command((program,))}, a relative path, but the command runs in a directory of its own; write the full path"
        raise ConfigInvalid(_SOURCE, (problem,))
    return command


ARGUMENT_MAX_CHARS = 32_000
"""Linux limits a single argument to 128 KiB, and a character may have four bytes."""

MARK_TEXT = (
    "agent-memory runs its agent commands here. While this file exists, nothing that happens here is captured.\n"
)

_SHOWN_CHARS = 400
_TAIL_BYTES = 8 * 1024
_CANNOT_RUN = frozenset({"ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "ELOOP", "EISDIR"})


@as_result
def open_agent(llm: LlmConfig, ledger: SpendLedgerFiles, clock: Clock, environ: Mapping[str, str]) -> Agent:
    """Returns the configured agent, without running or writing anything. Raises ConfigInvalid and PresetRefused for a
    command; ActRefused inside one of our own agent commands."""
    if uses_builtin(llm):
        return BuiltinAgent()
    if depth_of(environ) > 0:
        raise ActRefused("consolidate", DEPTH_VARIABLE)
    home = home_of(environ)
    return CommandAgent(unwrap(choose_command(llm, home)), llm, ledger, clock, environ, private_directory(home))


@frozen
class CommandAgent:
    """The `Agent` behind a command line. It gets the prompt, a private working directory, and a `child_environment`."""

    command: Preset
    llm: LlmConfig
    ledger: SpendLedgerFiles
    clock: Clock
    environ: Mapping[str, str]
    directory: str
    status = Status.CONSOLIDATED

    @property
    def _shown(self) -> str:
        return one_line(shown_command(self.command.argv), 80)

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def max_prompt_chars(self) -> int:
        """See the port. Lower if the prompt is an argument, so that it always fits."""
        if self.command.input == "argument":
            return min(self.llm.max_prompt_chars, ARGUMENT_MAX_CHARS)
        return self.llm.max_prompt_chars

    @as_result
    def answer(self, request: AgentRequest) -> AgentReply:
        """Returns the command's output, unchecked. Every call is counted before it is made.

        AgentMissing, AgentFailed, AgentUnavailable, SpendExhausted: it cannot serve now at all. AgentTimedOut: not this
        time. ReplyRefused: more output than `MAX_STDOUT_BYTES`. An empty reply is a reply, refused by its reader, so
        that a session on which a model stays silent is given up in the end and does not block the others.
        """
        prompt_chars = len(request.prompt)
        if depth_of(self.environ) > 0:
            raise ActRefused("consolidate", DEPTH_VARIABLE)
        if prompt_chars > self.max_prompt_chars:
            too_long = f"a prompt of {prompt_chars:,} characters, {self.max_prompt_chars:,} are allowed"
            raise Defect("run_agent", too_long)
        at_ms = self.clock.now_ms()
        prepare_private_directory(self.directory, self.command.files)
        unwrap(self.ledger.reserve(at_ms, prompt_chars, self.llm.max_calls_per_day))
        try:
            finished = self._run(request.prompt)
        except StoreIo as not_started:
            self.ledger.give_back(at_ms, prompt_chars)  # if this fails, one call too many stays counted
            if not_started.path == self.directory:
                raise
            if not_started.errno_name == "E2BIG":
                too_long = "the prompt and the environment are too long for arguments"
                raise AgentFailed(self._shown, 126, too_long) from None
            raise (AgentMissing(self._shown) if not_started.errno_name in _CANNOT_RUN else not_started) from None
        text = finished.stdout.decode("utf-8", "replace")
        # the call is counted, and a full disk must not cost a paid reply
        self.ledger.add_reply(at_ms, len(text))
        if problem := self._problem(finished, text, request.nonce):
            raise problem
        return AgentReply(unwrap(decode_reply(finished.stdout)), prompt_chars)

    def _run(self, prompt: str) -> Finished:
        as_argument = self.command.input == "argument"
        content = prompt.encode("utf-8", "replace")
        argument = (content.replace(b"\0", b"\xef\xbf\xbd").decode(),) if as_argument else ()
        preset_env = {
            name: value.replace(PRIVATE_DIRECTORY, self.directory) for name, value in self.command.env.items()
        }
        return run_child(
            (*self.command.argv, *argument),
            stdin=b"" if as_argument else content,
            env=child_environment(self.environ, self.command.variables, preset_env),
            cwd=self.directory,
            timeout_seconds=self.llm.timeout_seconds,
        )

    def _problem(self, finished: Finished, text: str, nonce: str) -> Error | None:
        if finished.stdout_capped:
            return ReplyRefused((f"it is longer than {MAX_STDOUT_BYTES:,} bytes",))
        if finished.exit_status != 0 and not finished.timed_out:
            if finished.exit_status in (126, 127):  # a shell or `env` could not run it
                return AgentMissing(self._shown)
            spoken = [
                each[-_TAIL_BYTES:].decode("utf-8", "replace") for each in (finished.stderr_tail, finished.stdout)
            ]
            said = next((self._shown_output(each) for each in spoken if each.strip()), "")
            if cause := failure_cause("\n".join(spoken)):
                return AgentUnavailable(self._shown, cause, said)
            return AgentFailed(self._shown, finished.exit_status, said)
        message = text if text.strip() else finished.stderr_tail.decode("utf-8", "replace")
        if cause := message_cause(message):
            return AgentUnavailable(self._shown, cause, self._shown_output(message))
        if finished.timed_out:
            return AgentTimedOut(self._shown, self.llm.timeout_seconds)
        if not finished.stdin_taken and nonce not in text:
            return AgentFailed(self._shown, 0, "it did not read its prompt from stdin")
        return None

    def _shown_output(self, spoken: str) -> str:
        """Returns the end of a command's output on one line, redacted, and without the secrets that it was given."""
        values = (value for name, value in self.command.env.items() if is_secret_name(name))
        for secret in filter(None, (*(secret for _, secret in _split_secrets(self.command.argv)), *values)):
            spoken = spoken.replace(secret, REDACTED)
        line = one_line(redact(spoken[-_TAIL_BYTES:]).text, _TAIL_BYTES)
        return line if len(line) <= _SHOWN_CHARS else "…" + line[-_SHOWN_CHARS:]


@frozen
class UnusableAgent:
    """An `Agent` that answers nothing and says why. Everything that needs no answer still works."""

    error: Error
    name: str = "unusable"
    status: Status = Status.CONSOLIDATED
    max_prompt_chars: int | None = None
    """It gets no prompt."""

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        return Failure(self.error)


def private_directory(home: str) -> str:
    """Returns the directory that agents run in. It belongs to this machine, not to a store."""
    return f"{local_state_directory(home)}/child"


def prepare_private_directory(path: str, files: Mapping[str, str]) -> None:
    """Creates the directory with mode 0700, with the mark and these files in it."""
    with as_store_io("prepare", path):
        make_directories(path)
        os.chmod(path, DIRECTORY_MODE)
        for name, text in {CHILD_MARK: MARK_TEXT, **files}.items():
            content = text.encode()
            if read_loosely(f"{path}/{name}", len(content) + 1) != content:
                replace_file(f"{path}/{name}", content)


# -- the built-in -------------------------------------------------------------------------------------------------------

NOTE_CHARS = 4_000
"""The limit for sections of a document that share a note; a longer one gets its own."""
MOST_NOTES = 10
_HOW_ELSE = "an agent command (llm.preset) makes notes of it"


class BuiltinAgent:
    """The agent for people who configured none: it extracts by cues (`agent_memory.extraction`), and tidies what needs
    no judgement (`agent_memory.rules.tidied`)."""

    name = BUILTIN
    status = Status.CAPTURED
    max_prompt_chars: int | None = None

    @as_result
    def answer(self, request: AgentRequest) -> AgentReply:
        """Returns a reply made from the values behind the prompt; never fails."""
        items: dict[str, object]
        if isinstance(request, DefragRequest):
            from agent_memory.rules.tidied import tidied

            proposal = tidied(request)
            items = {
                "actions": [{"action": kind_of(each), **_without_empty(each, "replace")} for each in proposal.actions]
            }
            if proposal.tiers is not None:
                items["tiers"] = {"hot": list(proposal.tiers.hot), "warm": list(proposal.tiers.warm)}
        else:
            found = _change_set(request)
            entries = (evolve(entry, ref=f"n{number}") for number, entry in enumerate(found.entries, 1))
            items = {"entries": [_without_empty(entry, "tags") for entry in entries]}
            if found.updates:
                items["updates"] = list(map(_without_empty, found.updates))
            if found.skipped is not None:
                items["skipped"] = found.skipped
        text = json.dumps({"version": 1, "nonce": request.nonce, **items}, ensure_ascii=False, indent=1)
        return AgentReply(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def _without_empty(item: Action | ProposedEntry | ProposedUpdate, always: str = "") -> dict[str, object]:
    """Returns the non-empty members of an item, and those that its kind needs."""
    return {key: value for key, value in asdict(item).items() if key == always or value not in (None, (), "")}


def _change_set(request: SessionRequest) -> ChangeSet:
    # Imported here because the cues of two languages take long to compile, and most callers only need a name.
    from agent_memory.extraction.extract import extracted
    from agent_memory.extraction.text import legible

    note = request.entry.retrieval
    if isinstance(note, InlineNote):
        turns = tuple(turn.number for turn in request.window.turns)
        title, kind = " ".join(legible(note.title).split()), note.kind or Kind.FACT
        return ChangeSet((ProposedEntry(title=title, body=legible(note.body), kind=kind, tags=note.tags, turns=turns),))
    if isinstance(note, FileSnapshot):
        return document_notes(request.window)
    return extracted(
        request.window,
        now_ms=request.now_ms,
        shown=request.shown,
        handoff_id=request.handoff_id,
        final_window=request.final_window,
    )


def document_notes(document: History) -> ChangeSet:
    """Returns the sections of a document, whole and in order, in as few readable notes as possible; `skipped` says why
    there are none. They cite turns that nobody in a session said, so their origin is external."""
    from agent_memory.extraction.notes import tags_of
    from agent_memory.extraction.text import legible

    groups = tuple(_groups(document.turns))
    texts = tuple("\n\n".join(legible(turn.text) for turn in group).strip() for group in groups)
    chars = sum(map(len, texts))
    whole = "\n".join(texts).strip()
    if whole[:1] + whole[-1:] in ("{}", "[]"):
        return ChangeSet(skipped=f"it is JSON and not text; {_HOW_ELSE}")
    if len(groups) > MOST_NOTES:
        return ChangeSet(skipped=f"its {chars:,} characters are too many to keep as they are; {_HOW_ELSE}")
    name = one_line(document.title or "", MAX_TITLE_CHARS)
    entries: list[ProposedEntry] = []
    for group, text in zip(groups, texts, strict=True):
        if text:
            own = derive_title(text)
            title = name or own if len(groups) == 1 else own if not name or own == name else f"{name}: {own}"
            title = one_line(title, MAX_TITLE_CHARS) or "untitled document"
            turns = tuple(turn.number for turn in group)
            entries.append(ProposedEntry(title=title, body=text, kind=Kind.FACT, tags=tags_of(text), turns=turns))
    return ChangeSet(tuple(entries), skipped=None if entries else "it says nothing")


def _groups(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    held: list[Turn] = []
    for turn in turns:
        if held and sum(len(each.text) for each in held) + len(turn.text) > NOTE_CHARS:
            yield tuple(held)
            held = []
        held.append(turn)
    if held:
        yield tuple(held)
