"""The runs in a chat history of aider's as turns, assembled line by line in bounded memory.

A run is a session, and its id is made of its beginning: when it was started, and a digest of its first prompt. So it stays the
same when the directory is renamed. Any other id stands for all runs in the file together.

Replies and messages stand in the file as they are, so from the first of them on any line may be forged: prompts, headings,
ends of replies. From there on a prompt is the person's only if aider's record of what was typed has its lines (P19).
"""

from __future__ import annotations

import re
import time
from hashlib import blake2b
from typing import ClassVar

from attrs import define, field, frozen

from agent_memory.adapters.harness.aider_chat import HEADING, ChatLines, Said, Speaker
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import NewFrom, asked
from agent_memory.domain.history import History, Role
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.own_marks import is_own_prompt, typed_words
from agent_memory.domain.transcripts.turns import Excerpt
from agent_memory.domain.vocabulary import Harness

_RUN_ID = re.compile(r"(\d{8}T\d{6})-[0-9a-f]{8}", re.ASCII)
_DIGEST_CHARS = 500
_BLOCK_CHARS = 200_000
"""Of what is held of one block of lines; more than any turn keeps."""
MAX_RUNS = 100_000
_CLOCK = "%Y-%m-%d %H:%M:%S"

_COMMAND = re.compile(r"/([a-z][a-z-]*)(?:\s+|\Z)")
_CHAT_COMMANDS = frozenset(("ask", "code", "architect", "context", "help", "chat-mode"))
"""Commands whose arguments are words to the agent."""
_SETTING_COMMANDS = frozenset(
    (
        *("add", "clear", "commit", "copy", "copy-context", "diff", "drop", "edit", "editor", "editor-model", "exit"),
        *("git", "lint", "load", "ls", "map", "map-refresh", "model", "models", "multiline-mode", "ok", "paste"),
        *("quit", "read-only", "reasoning-effort", "report", "reset", "run", "save", "settings", "test"),
        *("think-tokens", "tokens", "undo", "voice", "weak-model", "web"),
    )
)
_MODES = ("ask", "code", "architect", "context", "help")
_BLANK = "<blank>"

_EDITED = re.compile(r"(?:Applied edit to|Creating empty file) (.{1,1000})")
_MODEL = re.compile(r"(?:Main model|Model): (\S{1,200})")
_SAYS_NOTHING = re.compile(
    r"\s*\Z|Aider v|(?:Main |Weak |Editor |Architect )?[Mm]odel:|Git (?:repo|working dir)|Cur working dir|Repo-map|Tokens: |"
    r"Use /help|Restored previous|Newer aider|Added .{1,1000} to the chat|Removed .{1,1000} from the chat|\^C|https?://aider\."
)


@frozen
class Run:
    """Where a run begins."""

    session_id: str
    started_at_ms: int | None


def _stamp(started: str) -> str:
    return started.replace("-", "").replace(":", "").replace(" ", "T")


def run_of(started: str, first_prompt: str) -> Run:
    """The run that was started then (`2026-02-13 14:30:05`, local time) with this prompt."""
    digest = blake2b(first_prompt[:_DIGEST_CHARS].encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return Run(f"{_stamp(started)}-{digest}", _local_ms(started))


@define
class _Block:
    """The lines of one speaker, one after the other."""

    speaker: Speaker
    _lines: list[str] = field(factory=list[str])
    _chars: int = 0
    _before: Excerpt = field(factory=lambda: Excerpt(_BLOCK_CHARS))

    def add(self, line: str) -> None:
        self._lines.append(f"{line}\n")
        self._chars += len(line) + 1
        if self._chars > _BLOCK_CHARS:
            self._before = self._all()
            self._lines, self._chars = ["\n"] if self.last_blank else [], 0

    @property
    def text(self) -> str:
        """Without the blank lines around it."""
        return self._all().text.strip("\n")

    @property
    def last_blank(self) -> bool:
        return not self._lines[-1].strip() if self._lines else False

    def _all(self) -> Excerpt:
        return self._before.grown("".join(self._lines))


class AiderRuns:
    """Takes the lines of a chat history in order; `history` is what the wanted run, or all of them, say.

    All turns of a run have the time of its start, the only one that is recorded. A reply that has not come to its end is
    left for the next time.
    """

    def __init__(self, session_id: str, cwd: str, new_from: NewFrom, typed: IdSet | None = None) -> None:
        """`typed` has the lines that were typed into aider."""
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self.runs: list[Run] = []
        """Those with a prompt, so far; at most `MAX_RUNS`."""
        self._only_one = bool(_RUN_ID.fullmatch(session_id))
        self._facts = SessionFacts(Harness.AIDER, session_id, cwd=cwd)
        self._chat = ChatLines()
        self._block: _Block | None = None
        self._started: str | None = None
        self._run: Run | None = None
        self._elsewhere = False
        """The run at hand was started at another time than the wanted one."""
        self._wanted = False
        """What comes is of the run at hand, which has a prompt and is to be taken."""
        self._writes = 0
        """Of this run so far: they name the records."""
        self._found = False
        self._typed = IdSet() if typed is None else typed
        self._prompted = False
        self._others_spoke = False
        """Since the first prompt of the file: somebody who could forge what follows."""
        self._full = False
        self._over = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, the wanted run is over, or it is our own call."""
        return self._full or self._over or self.turns.own_call

    def passes_over(self, line: bytes | bytearray) -> bool:
        """Whether this is a line of a run that is not wanted, which need not be taken: a file may hold thousands."""
        if not self._elsewhere or line.startswith(HEADING):
            return False
        self._chat.pass_over(blank=not line.strip())
        self._others_spoke = True
        return True

    def take_line(self, line: str) -> None:
        """The next line, without its line end."""
        said = self._chat.take(line)
        if said.begins or (self._block is not None and said.speaker is not self._block.speaker):
            self._close_block()
        if said.speaker is Speaker.RUN and said.begins:
            self._begin_run(said)
        elif self._block is not None:
            self._block.add(said.text)
        elif said.begins:
            self._block = _Block(said.speaker)
            self._block.add(said.text)

    def end(self) -> None:
        """The file ends here."""
        if self._block is not None and self._block.speaker is Speaker.AGENT and not self._block.last_blank:
            self.turns.skip("unfinished-message")
            self._block = None
        self._close_block()

    def history(self) -> History:
        """The new turns."""
        return history_of(self._facts, self.turns, remaining=self._full)

    @property
    def found(self) -> bool:
        """The wanted run, or any that is taken, is in the file."""
        return self._found

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _begin_run(self, said: Said) -> None:
        self.turns.count(known=True)
        self._others_spoke = self._others_spoke or self._prompted
        self._over = self._only_one and self._wanted
        self._elsewhere = self._only_one and not self.session_id.startswith(_stamp(said.text))
        self._started, self._run, self._wanted, self._writes = said.text, None, False, 0
        self.turns.end_message()

    def _meet_first_prompt(self, text: str) -> None:
        if self._started is None:
            return
        self._run = run_of(self._started, text)
        if len(self.runs) < MAX_RUNS:
            self.runs.append(self._run)
        if self._only_one:
            self._wanted = self._run.session_id == self.session_id
        elif is_own_prompt(text):
            self.turns.skip("own-call")
        else:
            self._wanted = True
        if self._wanted:
            self._found = True
            self._facts.started(self._run.started_at_ms)

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _close_block(self) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        text = block.text
        if block.speaker is Speaker.PERSON:
            self._prompted = True
            if self._run is None:
                self._meet_first_prompt(text)
        elif self._prompted or block.speaker is Speaker.AGENT:
            self._others_spoke = True
        self._writes += 1
        if not self._wanted or self._run is None:
            self._note_model(block.speaker, text)
            return
        self.turns.count(known=True)
        if self.turns.has_enough:
            self._full = True
        if not self.done:
            self.turns.enter(f"{self._run.session_id}#{self._writes}", self._run.started_at_ms)
            self._TAKES[block.speaker](self, text)
            self.turns.leave()

    def _take_prompt(self, text: str) -> None:
        if self.turns.begins_with_own_prompt(text):
            return
        words = _words_to_agent(text)
        kept = typed_words(words)
        if kept and self._is_typed(text):
            self.turns.say(Role.USER, kept, raw=text)
        elif kept:
            self.turns.say(Role.TOOL, kept, tool_name="history")
        else:
            self.turns.skip("command" if text.strip() and not words else "empty")

    def _is_typed(self, text: str) -> bool:
        return not self._others_spoke or all(line.strip() in self._typed for line in text.splitlines() if line.strip())

    def _take_reply(self, text: str) -> None:
        if text.strip():
            self.turns.speak(f"{self._writes}", text.strip())

    def _take_note(self, text: str) -> None:
        self._note_model(Speaker.AIDER, text)
        edited = _EDITED.fullmatch(text)
        if edited:
            self.turns.speak(self.turns.message_id or f"{self._writes}", "", [asked("", "edit", {"path": edited[1]})])
        elif _SAYS_NOTHING.match(text):
            self.turns.skip("harness-text")
        else:
            self.turns.answer(None, text, tool_name="aider")

    def _note_model(self, speaker: Speaker, text: str) -> None:
        model = _MODEL.match(text) if speaker is Speaker.AIDER else None
        if model:
            self._facts.agent = model[1]

    _TAKES: ClassVar = {
        Speaker.PERSON: _take_prompt,
        Speaker.AGENT: _take_reply,
        Speaker.AIDER: _take_note,
    }


def _words_to_agent(text: str) -> str:
    """What the person said to the agent: without the command that it was said with; empty for a command that only sets
    aider itself, or runs something."""
    if text.strip() == _BLANK or text.startswith("!"):
        return ""
    command = _COMMAND.match(text)
    if command is None or command[1] not in _CHAT_COMMANDS | _SETTING_COMMANDS:
        return text
    words = text[command.end() :]
    if command[1] == "chat-mode" and words.strip() in _MODES:
        return ""
    return "" if command[1] in _SETTING_COMMANDS else words


def _local_ms(started: str) -> int | None:
    try:
        return int(time.mktime(time.strptime(started, _CLOCK))) * 1000
    except (ValueError, OverflowError):
        return None
