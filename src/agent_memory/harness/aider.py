"""aider (0.35 to 0.86): one `.aider.chat.history.md` for each directory, with all runs in it.

Each write of aider's leaves a shape behind (aider/io.py):

    # aider chat started at 2026-02-13 14:30:05        a run begins; local time

    #### what the person typed··                       `·` is a space: every line of a prompt ends with two
    what the agent answered, between blank lines
    > what aider says··                                one write a line, or one of several lines of which the last ends so

A heading of the fourth level that the agent wrote has no two spaces behind it, or stands in a code block; so has a quotation.
What cannot be told is taken for the agent's, never for the person's.

Replies and messages stand in the file as they are, so any line may be forged: prompts, headings, ends of replies. A prompt is
the person's only if aider's record of what was typed has its lines (P19).

A run is a session, and its id is made of its beginning: when it was started, and a digest of its first prompt. So it stays the
same when the directory is renamed. Any other id stands for all runs in the file together.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Literal, Self

from attrs import frozen
from returns.result import Failure, Success

from agent_memory.capture.places import git_says
from agent_memory.capture.repository import git_directory_above
from agent_memory.errors import Error, HistoryUnavailable, TranscriptRefused
from agent_memory.files.lines import Line, LongLine, read_lines
from agent_memory.files.paths import lies_there, store_io
from agent_memory.harness import transcripts as files
from agent_memory.harness.turn_builder import Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.found_session import FoundSession
from agent_memory.session.history import History, SessionMark, transcript_key
from agent_memory.session.own_marks import is_own_prompt, typed_words
from agent_memory.session.queue import SessionFile
from agent_memory.session.turns import Excerpt
from agent_memory.text.ids import IdSet

CHAT_FILE = ".aider.chat.history.md"
INPUT_FILE = ".aider.input.history"  # what was typed, each line behind a `+`, beside the chat history
_TRACKED = "git tracks it, so others may have written it"


_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_PROMPT = "#### "
_NOTE = "> "
_REPLY_END = "> Tokens: "  # stands after each reply, also after one that was broken off inside a code block
_MAX_NOTE_LINES = 1_000
_BLOCK_CHARS = 80_000  # are held of one block of lines; more than any turn keeps

# Who a line is from; `run` is aider's heading of a run.
Speaker = Literal["run", "person", "agent", "aider"]


def blocks_in(lines: Iterable[str], wants: Callable[[str], bool]) -> Iterator[tuple[Speaker, str, bool]]:
    """Yields who speaks, the lines without marks and the blank ones around them, and whether that is all: the last reply in
    the file may still be written. The heading of a run is a block of its own. Runs that are not wanted by their time are
    passed over: a file may hold thousands."""
    speaker: Speaker = "run"
    held: Excerpt | None = None
    after_blank, is_wanted, fence = True, True, ""
    note_lines = 0  # of a write of aider's that has not come to its end
    for line in lines:
        started = _STARTED.fullmatch(line) if after_blank else None
        ends = line.endswith("  ")
        if started is None and not is_wanted:
            after_blank = not line.strip()
            continue
        who: Speaker
        begins = True
        closes = _FENCE.fullmatch(line)
        if started:
            who, text, fence, note_lines = "run", started[1], "", 0
        elif fence and not (after_blank and ends and line.startswith(_REPLY_END)):
            who, text, begins = "agent", line, False
            if closes and closes[1].startswith(fence) and not closes[2].strip():
                fence = ""
        elif note_lines:
            who, text, begins, fence = "aider", line.rstrip(), False, ""
            note_lines = 0 if ends or note_lines >= _MAX_NOTE_LINES else note_lines + 1
        elif line.startswith(_PROMPT) and ends and (after_blank or speaker == "person"):
            who, text, begins, fence = "person", line[len(_PROMPT) :].rstrip(), after_blank, ""
        elif line.startswith(_NOTE) and (
            (speaker != "agent" and not after_blank) or (ends and (after_blank or speaker != "agent"))
        ):
            who, text, fence, note_lines = "aider", line[len(_NOTE) :].rstrip(), "", 0 if ends else 1
        elif not line.strip() and speaker != "agent":  # the blank lines around a write are nobody's
            who, text, begins, fence = speaker, "", False, ""
        else:
            who, text, begins = "agent", line, speaker != "agent"
            fence = closes[1] if closes and not (closes[1][0] == "`" and "`" in closes[2]) else ""
        if held is not None and (begins or who is not speaker):
            yield speaker, held.text.strip("\n"), True
            held = None
        speaker, after_blank = who, not line.strip()
        if started:
            is_wanted = wants(text)
            yield who, text, True
        elif begins or held is not None:
            held = (held or Excerpt(_BLOCK_CHARS)).grown(f"{text}\n")
    if held is not None:
        yield speaker, held.text.strip("\n"), speaker != "agent" or after_blank


# -- the runs ---------------------------------------------------------------------------------------------------------

_RUN_ID = re.compile(r"(\d{8}T\d{6})-[0-9a-f]{8}", re.ASCII)

_REASONING = re.compile(r"<(thinking-content-[0-9a-f]+)>.*?(?:</\1>|\Z)", re.DOTALL)
# Commands whose arguments are words to the agent, and what only sets aider itself, or runs something.
_TO_AGENT = re.compile(r"\A/(ask|code|architect|context|help|chat-mode)(?:\s+|\Z)")
_TO_AIDER = re.compile(
    r"!|/(?:add|clear|commit|copy|copy-context|diff|drop|edit|editor|editor-model|exit|git|lint|load|ls|map|map-refresh|model"
    r"|models|multiline-mode|ok|paste|quit|read-only|reasoning-effort|report|reset|run|save|settings|test|think-tokens|tokens"
    r"|undo|voice|weak-model|web)(?:\s|\Z)|\s*<blank>\s*\Z|/chat-mode\s+(?:ask|code|architect|context|help)\s*\Z"
)
_EDITED = re.compile(r"(?:Applied edit to|Creating empty file) (.{1,1000})")
_MODEL = re.compile(r"(?:Main model|Model): (\S{1,200})")
_SAYS_NOTHING = re.compile(
    r"\s*\Z|Aider v|(?:Main |Weak |Editor |Architect )?[Mm]odel:|Git (?:repo|working dir)|Cur working dir|Repo-map|Tokens: |"
    r"Use /help|Restored previous|Newer aider|Added .{1,1000} to the chat|Removed .{1,1000} from the chat|\^C|https?://aider\."
)


@frozen
class Run:
    session_id: str
    started_at_ms: int | None


def _stamp(started: str) -> str:
    return re.sub("[-:]", "", started).replace(" ", "T")


def run_of(started: str, first_prompt: str) -> Run:
    """Returns the run that was started then (`2026-02-13 14:30:05`, local time) with this prompt."""
    digest = blake2b(first_prompt[:500].encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    try:
        at_ms = int(time.mktime(time.strptime(started, "%Y-%m-%d %H:%M:%S"))) * 1000
    except (ValueError, OverflowError):
        at_ms = None
    return Run(f"{_stamp(started)}-{digest}", at_ms)


class AiderRuns(Session):
    """The lines of a chat history in order: what the wanted run, or all of them, say.

    All turns of a run have the time of its start, the only one that is recorded. A reply that has not come to its end is
    left for the next time.
    """

    harness = Harness.AIDER

    def __init__(self, session_id: str, directory: str, typed: IdSet) -> None:
        """`typed` has the lines that were typed into aider. Without an id only the runs are noted."""
        super().__init__(session_id)
        self.cwd = directory
        self.runs: list[Run] = []  # those with a prompt, so far
        self.found = False  # the wanted run, or any that is taken, is in the file
        self._only_one = bool(_RUN_ID.fullmatch(session_id))
        self._over = False  # the wanted run has come to its end
        self._started: str | None = None
        self._run: Run | None = None
        self._wanted = False  # what comes is of the run at hand, which has a prompt and is to be taken
        self._writes = 0  # of this run so far: they name the records
        self._typed = typed

    @property
    def done(self) -> bool:
        return super().done or self._over

    def wants(self, started: str) -> bool:
        """Tells whether a run that was started then may be the wanted one."""
        return not self._only_one or self.session_id.startswith(_stamp(started))

    def take_block(self, speaker: Speaker, text: str, is_whole: bool) -> None:
        if speaker == "run":
            self.known_records += 1
            self._over = self._only_one and self._wanted
            self._started, self._run, self._wanted, self._writes = text, None, False, 0
            self.end_message()
            return
        if not is_whole:
            self.skip("unfinished-message")
            return
        if speaker == "person" and self._run is None and self._started is not None:
            self._run = run_of(self._started, text)
            self.runs.append(self._run)
            is_any = bool(self.session_id) and not is_own_prompt(text)
            self._wanted = self._run.session_id == self.session_id if self._only_one else is_any
            self.found = self.found or self._wanted
        self._writes += 1
        if speaker == "aider" and (model := _MODEL.match(text)):
            self.note(agent=model[1])
        if not self._wanted or self._run is None:
            return
        self.known_records += 1
        self.enter(f"{self._run.session_id}#{self._writes}", self._run.started_at_ms)
        if speaker == "person":
            words = "" if _TO_AIDER.match(text) else _TO_AGENT.sub("", text, count=1)
            lines = (line.strip() for line in text.splitlines())
            is_typed = all(line in self._typed for line in lines if line)
            self.hear(text, typed_words(words), by=None if is_typed else "history")
        elif speaker == "agent":
            self.speak(f"{self._writes}", _REASONING.sub("", text).strip())
        elif edited := _EDITED.fullmatch(text):
            self.speak(self.message_id or f"{self._writes}", "", [asked("", "edit", {"path": edited[1]})])
        elif not _SAYS_NOTHING.match(text):
            self.answer(None, text, tool_name="aider")


class AiderChats(files.Sessions):
    """Reads chat histories, one line at a time (P25, P27): anywhere below the home those of aider's own name, and what
    `$AIDER_CHAT_HISTORY_FILE` names; others inside the `further` roots.

    A chat history that git tracks came with the repository, perhaps, and then its prompts are nobody's here.
    HistoryUnavailable: missing, empty so far, without the run. HistoryUnreadable: no chat history. TranscriptRefused: see
    `transcript`, and one that git tracks.
    """

    session = AiderRuns

    def __init__(self, given: files.Surroundings) -> None:
        self.given = given
        named = given.named("AIDER_CHAT_HISTORY_FILE")
        self.named_file = named if named.startswith("/") else None

    @classmethod
    def at(cls, given: files.Surroundings) -> Self:
        return cls(given)

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        with files.looking_for(session_id):
            path = named or (self.above(cwd) if cwd is not None else self.named_file)
        roots = self._roots_for(path)
        if path is None:
            raise files.not_found(session_id, roots)
        with files.transcript(roots, path, session_id) as file:
            if is_tracked(file.path):
                raise TranscriptRefused(file.path, _TRACKED)
            directory = os.path.dirname(file.path)
            typed = _typed_lines(roots, f"{directory}/{INPUT_FILE}", session_id)
            own_mark = None if mark is None else mark.within(transcript_key(file.path))
            session = files.filled(AiderRuns(session_id, directory, typed), own_mark, partial(_fill, file))
            if session.found or not session.known_records:
                return files.file_history(session, file)
        raise HistoryUnavailable(session_id, f"{path} does not hold that run, or no prompt yet", is_missing=True)

    def find(self, since_ms: int | None) -> files.Findings:
        """See `ports.SessionFinder`. Looked into are the `further` roots, where `$AIDER_CHAT_HISTORY_FILE` says, and the
        directories of projects and those above them."""
        further = (f"{each.rstrip('/')}/{CHAT_FILE}" for each in self.given.transcript_roots)
        paths = [*filter(None, [self.named_file]), *further]
        for directory in self.given.project_directories():
            if isinstance(directory, Failure):
                yield directory
                continue
            try:
                paths += filter(None, [self.above(directory.unwrap())])
            except OSError as error:
                yield Failure(store_io(error, "examine", directory.unwrap()))
        for path in dict.fromkeys(paths):
            try:
                status = os.lstat(path)
                changed_at_ms = status.st_mtime_ns // 1_000_000
                is_new = stat.S_ISREG(status.st_mode) and (since_ms is None or changed_at_ms >= since_ms)
                runs = self.runs(path) if is_new else ()
                if runs and is_tracked(path):
                    raise TranscriptRefused(path, _TRACKED)
            except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in a path
                continue
            except OSError as error:
                yield Failure(store_io(error, "examine", path))
                continue
            except Error as error:
                yield Failure(error)
                continue
            # A run that another one follows in its file changed last before that one began.
            ends = [*(after.started_at_ms or changed_at_ms for after in runs[1:]), changed_at_ms]
            for run, last_at_ms in zip(runs, ends, strict=False):
                if since_ms is None or last_at_ms >= since_ms:
                    how, cwd = SessionFile("aider-session", run.session_id, path), os.path.dirname(path)
                    yield Success(FoundSession(Harness.AIDER, how, last_at_ms, ended_at_ms=run.started_at_ms, cwd=cwd))

    def runs(self, path: str) -> tuple[Run, ...]:
        """Returns the runs in a chat history that have a prompt, in order."""
        with files.transcript(self._roots_for(path), path, path) as file:
            session = AiderRuns("", "", IdSet())
            _fill(file, session)
        return tuple(session.runs)

    def above(self, directory: str) -> str | None:
        """Returns the chat history of a directory or of one above it; aider keeps it at the top of the work tree.
        Raises OSError where it cannot be told whether there is one: that of a directory further up is another's
        (P6)."""
        while True:
            path = os.path.join(directory, CHAT_FILE)
            if lies_there(path):
                return path
            if directory in (self.given.home, os.path.dirname(directory)):
                return None
            directory = os.path.dirname(directory)

    def _roots_for(self, path: str | None) -> files.Roots:
        named = [os.path.dirname(self.named_file)] if self.named_file and path == self.named_file else []
        own = ["~"] if path is not None and os.path.basename(path) == CHAT_FILE else []
        return self.given.roots(*named, *own)


def is_tracked(path: str) -> bool | None:
    """Returns whether git tracks a file, or may do so (P6); None outside of every work tree."""
    real = os.path.realpath(path)
    try:
        found = git_directory_above(os.path.dirname(real))
    except OSError:
        return True
    return found and git_says(found[1], f"--work-tree={found[0]}", "ls-files", "--", real) != ""


def _typed_lines(roots: files.Roots, path: str, session_id: str) -> IdSet:
    """Returns the lines that were typed into aider; none where git tracks them, or there is no git: they may have come with
    the files around them then. A command that aider ran because the agent asked for it stands there too. Raises OSError
    where they cannot be read (P6)."""
    typed = IdSet()
    with files.file_beside(roots, path, session_id) as file:
        for line in read_lines(file.descriptor, file.size_bytes) if file and is_tracked(path) is False else ():
            if isinstance(line, Line) and line.data.startswith(b"+") and not line.data.startswith(b"+/run "):
                for each in line.data[1:].decode("utf-8", "replace").splitlines():
                    typed.add(each.strip())
    return typed


def _fill(file: files.OpenTranscript, session: AiderRuns) -> None:
    def lines() -> Iterator[str]:
        os.lseek(file.descriptor, 0, os.SEEK_SET)
        for line in read_lines(file.descriptor, file.size_bytes, keep_empty=True):
            if isinstance(line, LongLine) or not line.finished:
                session.skip("line-too-long" if isinstance(line, LongLine) else "unfinished-line")
            else:
                yield line.data.decode("utf-8", "replace").removesuffix("\r").removeprefix("\ufeff")

    for block in blocks_in(lines(), session.wants):
        session.take_block(*block)
        if session.done:
            break
