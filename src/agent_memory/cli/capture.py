"""`memory capture`, `memory backfill` and `memory watch`: everything that fills the inbox."""

from __future__ import annotations

import os
import signal
from _thread import start_new_thread
from threading import Event

from attrs import evolve
from returns.result import Success

from agent_memory.app import Memory
from agent_memory.capture.hook import run_hook
from agent_memory.capture.inbox_files import put_snapshot
from agent_memory.cli.console import Arguments, Console, Options, tags_of, text_of
from agent_memory.cli.dialogue import first_of, open_here
from agent_memory.documents import fields_of, iso_or_none
from agent_memory.errors import (
    ActRefused,
    Error,
    HistoryUnavailable,
    PathRefused,
    SessionForgotten,
    StoreIo,
    TranscriptRefused,
    UsageInvalid,
)
from agent_memory.files.paths import read_image
from agent_memory.files.root import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.note.note import Harness, Kind
from agent_memory.redaction.redact import redact
from agent_memory.results import unwrap, warning_of
from agent_memory.rules.drafts import stored_tags
from agent_memory.session.found_session import SIGHTS, WANTED, Rest, Sight, limited, sentence_of
from agent_memory.session.queue import (
    SESSION_METHODS,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    retrieval_of,
)
from agent_memory.text.plain_text import clean_text, counted, one_line

# -- capture ----------------------------------------------------------------------------------------------------------


def configure_capture(options: Options) -> None:
    note = options.group("a note")
    note.add("--title", help="the title, on one line")
    note.add("--body", help="the note itself; `-` reads it from standard input")
    note.add("--tags", type=tags_of, help="separated by commas or spaces")
    note.choice("--kind", Kind, "the kind of note")
    session = options.group("a session")
    session.choice("--harness", Harness, "the harness it ran in")
    session.add("--thread-id", "--session", dest="session", metavar="ID", help="its id in the harness")
    session.add("--transcript", metavar="PATH", help="its transcript file")
    session.flag("--hook", "read a hook's payload from standard input; always exits 0")
    options.add("--file", metavar="PATH", help="a text file; a redacted copy is kept")
    epilog = (
        "Examples:\n"
        '  memory capture --title "Deploys" --body "They run from main only" --tags deploy,ci\n'
        "  memory capture --harness amp --thread-id T-1234\n"
        "  memory capture --harness claude-code --hook < payload.json"
    )
    options.runs(_capture, epilog)


def _capture(arguments: Arguments, console: Console) -> None:
    if arguments.hook:
        run_hook(["--harness", arguments.harness or "", "--hook"])
    memory = open_here(console)
    # Inside an agent command of ours: the system never captures its own calls (P23).
    if is_own_call(memory.environ):
        raise ActRefused("capture", DEPTH_VARIABLE)
    if is_marked(memory.cwd):
        raise ActRefused("capture", "a file .agent-memory-child here or above")
    memory.require_on()
    name = _captured(memory, arguments, console)
    said = f"Captured as inbox/{name}; `memory consolidate` turns it into notes."
    console.answer({"captured": name}, said)


def _captured(memory: Memory, arguments: Arguments, console: Console) -> str:
    note = [name for name in ("title", "body", "tags", "kind") if getattr(arguments, name) is not None]
    session = [name for name in ("harness", "session", "transcript") if getattr(arguments, name) is not None]
    if arguments.file is not None:
        if others := [*note, *session]:
            raise _usage(f"--file cannot be combined with --{others[0]}")
        # Beside the entry lies a redacted copy of the file: later changes of the file do not matter.
        text = redact(_text_of(arguments.file)).text
        copy = unwrap(put_snapshot(str(memory.root), text, arguments.file, memory.clock.now_ms()))
        return _put(memory, memory.caller.harness, FileSnapshot(copy))
    if note:
        missing = [f"--{name}" for name in ("title", "body") if name not in note]
        if missing:
            raise _usage(f"A note also needs {' and '.join(missing)}")
        if arguments.transcript is not None:
            raise _usage("--transcript is for sessions, not for notes")
        body, tags = text_of(arguments.body), arguments.tags or ()
        inline = InlineNote(arguments.title, body, tags, arguments.kind, arguments.session)
        return put_note(memory, inline, arguments.harness)
    if arguments.session is None:
        raise _usage("There is nothing to capture")
    if arguments.harness is None:
        raise _usage("A session also needs --harness, for example --harness amp")
    return _put_session(memory, arguments.harness, arguments.session, arguments.transcript, console)


def _usage(problem: str) -> UsageInvalid:
    return UsageInvalid(problem, "See `memory capture --help`.")


def put_note(memory: Memory, note: InlineNote, harness: Harness | None = None) -> str:
    """Returns the name of the new inbox entry. It is redacted before it is written (P20). The entry names the given
    harness, else the calling one; inside a harness it is never `manual`, so that an agent's words are never taken for a
    person's."""
    title, body = (redact(clean_text(text)).text for text in (note.title, note.body))
    safe = evolve(note, title=" ".join(title.split()), body=body.strip("\n"), tags=stored_tags(note.tags))
    return _put(memory, memory.caller.harness if harness in (None, Harness.MANUAL) else harness, safe)


def _put_session(memory: Memory, harness: Harness, session_id: str, transcript: str | None, console: Console) -> str:
    if transcript is not None and f"{harness}-session" not in SESSION_METHODS:
        raise UsageInvalid(f"--transcript says nothing about a session of {harness}, which it keeps elsewhere")
    if harness is Harness.MANUAL:
        raise UsageInvalid(f"A session has a harness other than {harness}", "Name it with --harness.")
    path = os.path.abspath(os.path.expanduser(transcript)) if transcript else None
    retrieval = retrieval_of(harness, session_id, path)
    if isinstance(retrieval, SessionFile) and harness is not Harness.OPENCODE:
        # Without a transcript that may be read and without kept history, no run would ever find the session. A harness
        # that has to be asked for its sessions is asked by the run.
        entry = InboxEntry(memory.clock.now_ms(), harness, retrieval, Context(cwd=memory.cwd))
        try:
            unwrap(memory.histories.fetch(entry, None))
        except HistoryUnavailable as absent:
            if (
                path is None
                and absent.is_missing
                and memory.kept_histories.fetch(harness, session_id, None) == Success(None)
            ):
                raise
        except TranscriptRefused as refused:
            console.warn(str(refused))
        except Error:
            pass  # it exists; the run says what is wrong with it
    return _put(memory, harness, retrieval)


def _put(memory: Memory, harness: Harness, retrieval: Retrieval) -> str:
    found = memory.checkout
    context = Context(cwd=memory.cwd, repo=found.repo, branch=found.branch, commit=found.commit)
    entry = InboxEntry(memory.clock.now_ms(), harness, retrieval, context)
    session_id = entry.retrieval.session_id
    if session_id is not None and not isinstance(retrieval, InlineNote):  # a note in a forgotten session is a new one
        tombstone = unwrap(memory.tombstones.of_session(harness, session_id))
        if tombstone is not None:
            raise SessionForgotten(session_id, tombstone.at_ms)
    return unwrap(memory.inbox.put(entry))


MAX_FILE_BYTES = 16 << 20


def _text_of(path: str) -> str:
    """Returns the text of a regular file that a person names; a symbolic link is followed, a FIFO never waited for."""
    try:
        image = read_image(os.path.realpath(os.path.expanduser(path)), MAX_FILE_BYTES)
        text = "" if image is None else image.data.decode("utf-8-sig")
    except (PathRefused, StoreIo) as error:
        raise UsageInvalid(f"{path} cannot be read: {error.reason}") from None
    except UnicodeDecodeError:
        raise UsageInvalid(f"{path} is not UTF-8 text") from None
    if image is None:
        raise UsageInvalid(f"{path} cannot be read: No such file or directory")
    if "\0" in text:
        raise UsageInvalid(f"{path} is not text")
    if not text.strip():
        raise UsageInvalid(f"{path} is empty")
    return text


# -- backfill ---------------------------------------------------------------------------------------------------------


_DIRECTORIES = "`memory backfill --transcripts-dir PATH` names a directory of transcripts."
_WORDS: dict[Sight, str] = {
    "new": "new",
    "grown": "continued since",
    "waiting": "waiting in the inbox",
    "done": "done",
    "given-up": "given up (`memory consolidate --retry-failed`)",
    "forgotten": "forgotten",
    "own-call": "memory's own calls",
    "automated": "automated",
    "switched-off": "in projects that memory stays out of",
    "copy": "copies of other sessions",
    "older": "older than asked for",
    "empty": "empty",
    "unreadable": "unreadable",
}


def configure_backfill(options: Options) -> None:
    options.harnesses("only sessions of these harnesses", tuple(Harness), _DIRECTORIES)
    options.since("only sessions changed since: 30d, 12h, 2026-02-13")
    options.number("--limit", "put at most N sessions into the inbox, the oldest first", least=1)
    threshold = "also write the handoff of sessions that have been quiet for this long"
    options.number("--threshold", threshold, "MINUTES", least=0, read=float)
    directory = (
        "also look in this directory, now whatever its files are called, and from now on (`capture.transcriptRoots`)"
    )
    options.add("--transcripts-dir", metavar="PATH", help=directory)
    options.flag("--dry-run", "only show what was found and what it would cost")
    epilog = (
        "Looks for past sessions where each harness keeps them and puts those with something new into the inbox, "
        "oldest first. `memory consolidate` learns from them after what was captured meanwhile, over as many days as "
        "llm.maxCallsPerDay allows. You can run it again at any time: it leaves out sessions that are done, waiting, "
        "forgotten, copies, automated, of sub-agents, or memory's own."
    )
    options.runs(_backfill, epilog, "memory backfill claude-code --since 30d --dry-run")


def _backfill(arguments: Arguments, console: Console) -> None:
    from agent_memory.pipelines.backfill import plan_backfill, put_backfill  # capturing does without

    memory, path = open_here(console), None
    if arguments.transcripts_dir is not None:
        path = os.path.abspath(os.path.expanduser(arguments.transcripts_dir))
        if not os.path.isdir(path):
            raise UsageInvalid(f"{path} is not a directory")
    is_new = path is not None and memory.add_transcripts(path)
    io = memory.backfill_io(directory=path)
    found = unwrap(plan_backfill(io, tuple(arguments.harness), arguments.since))
    if path is not None and arguments.since is None and not found.any_in(path):
        of = f" of {', '.join(arguments.harness)}" if arguments.harness else ""
        raise UsageInvalid(f"There are no sessions{of} in {path}", " ".join(found.problems))
    if path is not None and is_new and not arguments.dry_run:
        memory.keep_transcripts(path)
    plan = limited(found, arguments.limit)
    # Printed before anything is done about it.
    console.out(f"{sentence_of(plan, memory.config.llm.max_calls_per_day)}.")
    for harness in plan.harnesses:
        counts = plan.counts(harness)
        console.out(f"  {harness:12} {', '.join(f'{counts[s]:,} {_WORDS[s]}' for s in SIGHTS if counts[s])}")
    done = plan if arguments.dry_run else unwrap(put_backfill(io, plan))
    problems = [one_line(problem, 500) for problem in done.problems]
    console.warn(*first_of(problems, 10, "--json has all"))
    wanted = done.wanted
    if wanted and not arguments.dry_run:
        console.out(f"Put {counted(len(wanted), 'session')} into the inbox for `memory consolidate`.")
    handoffs: list[str] = []
    if arguments.threshold is not None and not arguments.dry_run:
        quiet_ms = memory.clock.now_ms() - round(arguments.threshold * 60_000)
        for each in done.sighted:
            if each.sight in (*WANTED, "waiting") and each.found.changed_at_ms <= quiet_ms:
                handed_over = memory.hand_over(each.found)
                console.warn(*warning_of(handed_over))
                handoffs += filter(None, [handed_over.value_or("")])
        console.out(f"Wrote the handoffs of {counted(len(handoffs), 'quiet session')}.")
    sessions = [
        {
            "harness": each.found.harness.value,
            "session": each.found.session_id,
            "is": each.sight,
            "path": each.found.path,
            "cwd": each.found.cwd if each.entry is None else each.entry.context.cwd,
            **fields_of(each.found, "changed_at_ms"),
            "endedAt": iso_or_none(None if each.entry is None else each.entry.at_ms),
            "bytes": each.found.size_bytes,
            **fields_of(each, "chars", "calls"),
            "problem": each.problem or None,
        }
        for each in done.sighted
    ]
    document = {
        "dryRun": arguments.dry_run,
        "found": len(done.sighted),
        "wanted": len(wanted),
        "chars": sum(each.chars for each in wanted),
        "calls": sum(each.calls for each in wanted),
        "isPartial": any(each.is_partial for each in wanted),
        "harnesses": {harness.value: dict(sorted(done.counts(harness).items())) for harness in done.harnesses},
        "sessions": sessions,
        "handoffs": handoffs,
        "problems": list(done.problems),
    }
    console.answer(document)


# -- watch ------------------------------------------------------------------------------------------------------------

_DEFAULT = Rest()
_LINE_CHARS = 1_000


def configure_watch(options: Options) -> None:
    options.harnesses("only sessions of these harnesses", tuple(Harness), _DIRECTORIES)
    options.flag("--wait-for-transcripts", "wait if no harness has kept a session here yet")

    def seconds(name: str, default_ms: int, meaning: str) -> None:
        meaning, default = f"{meaning} (default: %(default)g)", default_ms / 1000
        options.number(name, meaning, "SECONDS", least=0, most=86_400, default=default, read=float)

    seconds("--debounce", _DEFAULT.debounce_ms, "how long a transcript must stay unchanged to be captured")
    handed_over = "how long it must stay unchanged for a handoff to be written; 0: never"
    seconds("--idle-timeout", _DEFAULT.idle_ms or 0, handed_over)
    epilog = (
        "Stays in the foreground, for harnesses without hooks. When a transcript has changed and then stays unchanged, "
        "its session goes into the inbox; later a handoff is written, without a call of the agent command. Each is "
        "reported on one line. It looks every two seconds; Ctrl-C ends it. Use `memory backfill` for older sessions."
    )
    options.runs(_watch, epilog, "memory watch codex --wait-for-transcripts")


def _watch(arguments: Arguments, console: Console) -> None:
    rest = Rest(round(arguments.debounce * 1000), round(arguments.idle_timeout * 1000) or None)
    memory = open_here(console)
    stop = Event()

    def end(*_: object) -> None:
        # Work in progress is finished first, so that nothing is left half done. It may hold the lock of the event just now.
        start_new_thread(stop.set, ())

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)

    def tell(line: str) -> None:
        console.out(one_line(line, _LINE_CHARS))
        console.stdout.flush()

    def warn(problem: str) -> None:
        console.warn(one_line(problem, _LINE_CHARS))

    waits: bool = arguments.wait_for_transcripts
    done = unwrap(memory.watch(tuple(arguments.harness), rest, stop, tell, warn, wait_for_transcripts=waits))
    captured, handed_over = counted(done.captured, "session"), counted(done.handed_over, "session")
    console.progress(f"Captured {captured}, handed over {handed_over}.")
    console.answer(fields_of(done, "captured", "handed_over", "problems"))
