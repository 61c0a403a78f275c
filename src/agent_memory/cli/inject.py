"""`memory inject`, `memory handoff` and `memory generate-agents-md`: everything that puts notes before an agent."""

from __future__ import annotations

from agent_memory.app import Memory
from agent_memory.cli.console import Arguments, Console, Options
from agent_memory.cli.dialogue import open_here
from agent_memory.cli.inject_hook import run_inject_hook
from agent_memory.documents import fields_of, injection_document, rows_of
from agent_memory.errors import ActRefused, Error, TargetRefused, UsageInvalid
from agent_memory.files.root import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.inject import inject
from agent_memory.note.note import Harness
from agent_memory.recall.assembling import BUILT_IN
from agent_memory.recall.candidates import InjectRequest
from agent_memory.results import unwrap
from agent_memory.rules.change import PublishedTarget

# -- inject -----------------------------------------------------------------------------------------------------------


def configure_inject(options: Options) -> None:
    options.add("--query", metavar="TEXT", help="notes that fit this text, as for a prompt")
    profile = f"which sections to show, and how much of each: {', '.join(BUILT_IN)}, or one of `inject.profiles`"
    options.add("--profile", metavar="NAME", help=profile)
    budget = "tokens of the whole text at most (default: inject.tokenBudget)"
    options.number("--budget", budget, "TOKENS", least=0, most=50_000)
    session = "leave out what this session was given before, and record this"
    options.add("--session", metavar="ID", help=session)
    options.choice("--harness", Harness, "the harness of the session or hook")
    options.flag("--hook", "read a hook's payload from standard input and answer in the harness's own form")
    epilog = (
        "Prints what an agent here should know: notes of this repository and global ones that you said or promoted, "
        "or that an agent concluded. Secret notes are never shown, private ones not inside a repository. A note is "
        "shown whole or as one line, never cut. Marks around the text keep memory from learning it again. With "
        "--hook it always exits with 0; `memory status` shows problems."
    )
    options.runs(_inject, epilog, 'memory inject --query "zebra lock migration"')


def _inject(arguments: Arguments, console: Console) -> None:
    if arguments.hook:
        run_inject_hook(["--harness", arguments.harness or "", "--hook"])
    memory = open_here(console)
    if is_own_call(memory.environ) or is_marked(memory.cwd):
        raise ActRefused("inject", DEPTH_VARIABLE)
    memory.require_on()
    asked = (arguments.query, arguments.profile, arguments.budget, arguments.session, arguments.harness)
    injection = unwrap(inject(memory, InjectRequest(*asked)))
    console.answer(injection_document(injection), *([injection.text] if injection.text else []))


# -- handoff ----------------------------------------------------------------------------------------------------------


def _add_session(options: Options) -> None:
    options.add("--session", metavar="ID", help="the session (default: the newest of this repository or directory)")
    options.choice("--harness", Harness, "the harness the session ran in")


def configure_handoff(options: Options) -> None:
    _add_session(options)
    options.choice("--to", Harness, "word it for the harness that takes over")
    options.flag("--no-store", "print it without keeping a note")
    epilog = (
        "Shows what was asked, done, decided and left open, and the files touched, from the session's own transcript and "
        "without calling the agent command. For a session that was cut off in the last seven days it adds the last words. "
        "It ends with the harness's command to resume. Secrets are removed. The note is updated when the session "
        "continues, and expires after seven days.\n\nExamples:\n"
        "  memory handoff --to codex | codex exec -\n"
        "  memory handoff --session 5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d --no-store"
    )
    options.runs(_handoff, epilog, recovers=False)


def configure_recover(options: Options) -> None:
    _add_session(options)
    options.choice("--to", Harness, "word it for the harness that takes over")
    epilog = (
        "Like `memory handoff`, with the last 50 messages of a session of the last seven days, and without keeping a "
        "note. It also finds sessions that no hook has reported, as after a crash, by their transcripts. What the "
        "harness put in by itself is left out. It ends with the harness's command to resume."
    )
    options.runs(_handoff, epilog, "memory recover --to codex | codex exec -", recovers=True, no_store=True)


def configure_checkpoint(options: Options) -> None:
    _add_session(options)
    epilog = (
        "Puts the session into the inbox, and keeps its handoff if there is anything to take up. Hooks do so by "
        "themselves at a session's end; `memory recover` takes it up again."
    )
    options.runs(_checkpoint, epilog, "memory checkpoint")


def _checkpoint(arguments: Arguments, console: Console) -> None:
    from agent_memory.inject import prepare
    from agent_memory.recall.grounding import UNHURRIED_SECONDS, grounded

    memory = open_here(console)
    memory.require_on()
    try:
        taken, kept = unwrap(memory.checkpoint(_session(memory, arguments), arguments.harness))
        found = taken.handover
        document = {**fields_of(found, "harness", "session_id", "resume"), "stored": kept.id}
        handoff = f"its handoff is {kept.id}" if kept.id else f"no handoff was kept, since {kept.why_not}"
        console.answer(document, f"Captured the {found.harness} session {found.session_id}; {handoff}.")
    finally:  # what git says is kept for the next hook
        grounded(unwrap(prepare(memory)).passages, memory.checkout, memory.real_root, UNHURRIED_SECONDS)


def _session(memory: Memory, arguments: Arguments) -> str | None:
    """Returns the id of the session that is meant: a person may give only its beginning."""
    session: str | None = arguments.session
    known = () if session is None else memory.find_session(session).value_or(())
    return known[0].session_id if known else session


def _handoff(arguments: Arguments, console: Console) -> None:
    from agent_memory.extraction.handoff import handover_text  # reads sessions, which injecting does not
    from agent_memory.pipelines.handing_over import keep_handover

    memory = open_here(console)
    if arguments.recovers:
        memory.require_on()
    session = _session(memory, arguments)
    taken = unwrap(memory.take_over(session, arguments.harness, recovers=arguments.recovers))
    handover = taken.handover
    if arguments.recovers and not handover.exchanges:
        hint = f"`memory handoff --session {handover.session_id}` says what it was about."
        raise UsageInvalid(f"The session {handover.session_id} ended more than 7 days ago", hint)
    text = handover_text(handover, arguments.to)
    stored, why_not = None, "--no-store"
    if not arguments.no_store:
        try:
            kept = unwrap(keep_handover(memory.handing_over_io(), taken))
            stored, why_not = kept.id, kept.why_not
        except Error as error:  # the handoff itself is there, which was asked for
            console.warn(str(error))
            why_not = error.code
    document = {
        "harness": handover.harness,
        "session": handover.session_id,
        **fields_of(handover, "cwd", "branch", "ended_at_ms"),
        **fields_of(handover.handoff, "asked", "done"),
        "decided": list(handover.decided),
        **fields_of(handover.handoff, "open", "files"),
        "lastWords": rows_of(handover.exchanges, "role", "text"),
        "resume": handover.resume,
        "text": text,
        "stored": stored,
        "notStoredBecause": why_not or None,
    }
    console.answer(document, text)


# -- generate-agents-md -----------------------------------------------------------------------------------------------

_STDOUT = "-"
_NO_TARGETS = (
    "No targets are configured, so nothing was written. List the files that your agents read in agentsMd.targets of "
    '~/.config/agent-memory/config.json, for example {"agentsMd": {"targets": ["~/.claude/CLAUDE.md", '
    '"~/.codex/AGENTS.md"]}}, or give one with --target PATH. `--target -` prints the section.'
)
_COUNTS = ("hot", "warm", "cold", "demoted_hot", "demoted_warm")


def configure_generate_agents_md(options: Options) -> None:
    target = "write this file instead of the configured ones; may be repeated; `-` prints the section"
    options.add("--target", action="append", metavar="PATH", help=target)
    options.flag("--dry-run", "print a diff and write nothing")
    epilog = (
        "Only the text between the two markers changes; a file without markers gets the section at its end. Hot "
        "notes are shown whole, warm ones as one line, the rest as a number. A file inside a repository shows that "
        "repository's notes but nothing private, and global notes only if git ignores the file. Exit code: 70 if a "
        "file was refused."
    )
    options.runs(_generate_agents_md, epilog, "memory generate-agents-md --target -")


def _generate_agents_md(arguments: Arguments, console: Console) -> int:
    paths: list[str] = arguments.target or []
    if _STDOUT in paths and len(paths) > 1:
        raise UsageInvalid("--target - prints the section; it cannot be combined with other targets")
    if "" in paths:
        raise UsageInvalid("--target needs the path of a file")
    memory = open_here(console)
    if _STDOUT in paths:
        rendered = unwrap(memory.section_here())
        console.answer({"section": rendered.text, **fields_of(rendered, *_COUNTS)}, rendered.text)
        console.warn(*rendered.warnings)
        return 0
    published = unwrap(memory.publish(paths or None, dry_run=arguments.dry_run))
    targets = published.targets
    documents = [
        {
            **fields_of(each, "path", "outcome", "error"),
            **({} if each.rendered is None else fields_of(each.rendered, *_COUNTS)),
            "warnings": list(each.warnings),
            **({} if each.kept is None else {"kept": each.kept}),
            **({"diff": each.diff} if each.diff else {}),
        }
        for each in targets
    ]
    written = [f"{each.path}  {_outcome(each)}" for each in targets if each.error is None]
    diffs = [each.diff for each in targets if each.diff]
    document = {"dryRun": arguments.dry_run, "targets": documents}
    console.answer(document, *([] if targets else [_NO_TARGETS]), *diffs, *written)
    for target in targets:
        console.warn(*([] if target.error is None else [str(target.error)]))
        console.warn(*(f"{warning}." for warning in target.warnings))
    return TargetRefused.exit_code if published.refused else 0


def _outcome(target: PublishedTarget) -> str:
    outcome = "would be written" if target.outcome == "planned" else target.outcome
    rendered = target.rendered
    if rendered is None:
        return outcome
    demoted = rendered.demoted_hot + rendered.demoted_warm
    room = f" ({demoted} for want of room)" if demoted else ""
    return f"{outcome}: {len(rendered.hot)} hot, {len(rendered.warm)} warm, {rendered.cold} by search{room}"
