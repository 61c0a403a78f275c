"""`memory import` and `memory export`: what another memory knows becomes notes, and notes leave."""

from __future__ import annotations

import os
from typing import Any

from attrs import evolve

from agent_memory.caller import caller_of
from agent_memory.cli.console import Arguments, Console, Options, scope_of
from agent_memory.cli.dialogue import first_of, is_agreed, open_here, warn_unreadable
from agent_memory.cli.list_and_read import NO_MATCH, add_filters, filter_of
from agent_memory.cli.runs import print_foreseen
from agent_memory.documents import rows_of
from agent_memory.errors import UsageInvalid
from agent_memory.files.paths import as_store_io
from agent_memory.imports.exporting import FORMATS, json_lines
from agent_memory.imports.formats import NAMES
from agent_memory.imports.importing import Imported
from agent_memory.results import unwrap
from agent_memory.rules.change import RenderedSection
from agent_memory.rules.run_log import short_id
from agent_memory.section.section_splice import rule_head
from agent_memory.text.plain_text import counted, sentence


def configure_import(options: Options) -> None:
    options.add("source", metavar="SOURCE", nargs="?", choices=NAMES, help=", ".join(NAMES))
    options.add(
        "path", metavar="PATH", nargs="?", help="where it is, or a directory around it; default: where it usually is"
    )
    options.flag("--find", "list the memories that are on this machine")
    options.flag("--dry-run", "print the new notes as a diff and write nothing")
    options.flag("--yes", "do not ask")
    options.add("--scope", metavar="SCOPE", help="where all the notes belong: global, repo or a key")
    options.flag("--mine", "you wrote or approved it, except what the source marks as an agent's")
    epilog = (
        "The source is only read. Each record becomes a note with its dates, a long one several, in its project; the notes "
        "are one run, which `memory undo` takes back. Importing again adds what is new and leaves alone what you changed. "
        "No session is told of an imported note before you approve it (`memory review --kind imported`), unless you "
        "say --mine. Only you can run this, not an agent."
    )
    options.runs(_import, epilog, "memory import claude --dry-run")


def configure_bootstrap(options: Options) -> None:
    options.add("directory", metavar="DIRECTORY", nargs="?", help="the project; default: the one around here")
    options.flag("--dry-run", "print the proposals as a diff and write nothing")
    epilog = (
        "Reads README, manifests, decision records, rules, CI files and the last 1,000 commits, and proposes up to ten "
        "notes: what the project is, how it is built and checked, what its directories hold, which files change "
        "together, what was reverted and why. Each names its sources. If llm.preset or llm.command is set, your model is "
        "asked once instead, with --dry-run too.\n\n"
        "No session is told of a proposal before you keep it (`memory review --kind imported`). They are one run, which "
        "`memory undo` takes back. Running it again adds what is new and leaves alone what you changed or rejected. Only "
        "you can run this, not an agent."
    )
    options.runs(_bootstrap, epilog, "memory bootstrap --dry-run")


def _bootstrap(arguments: Arguments, console: Console) -> None:
    caller_of(os.environ).only_a_person("bootstrap")
    memory = open_here(console)
    directory = memory.cwd if arguments.directory is None else os.path.abspath(arguments.directory)
    console.progress("reading the project")
    done = unwrap(memory.bootstrap(directory, dry_run=arguments.dry_run))
    if arguments.dry_run:
        print_foreseen(memory, done.changes, console)
    elif not console.json:
        console.out(*(f"  {each.meta.title}" for each in (*done.created, *done.updated)))
    _report(arguments, console, done, [str(directory)])


def _import(arguments: Arguments, console: Console) -> None:
    if not arguments.dry_run and not arguments.find:
        caller_of(os.environ).only_a_person("import")
    memory = open_here(console)
    machine = memory.machine()
    name = arguments.source
    if arguments.find:
        there = memory.importing.found(machine, NAMES if name is None else (name,))
        found = [(name, path) for name, paths in there.items() for path in paths]
        memories = [{"source": name, "path": path} for name, path in found]
        console.answer({"memories": memories}, *(f"{name}\t{path}" for name, path in found))
        if not found:
            console.warn("No other memory was found where one usually is.")
        return
    if name is None:
        raise UsageInvalid("Say which memory to import", "`memory import --find` lists those on this machine.")
    path = arguments.path and os.path.abspath(arguments.path)
    paths = memory.importing.below(name, path, machine) if path else memory.importing.found(machine, [name])[name]
    if not paths:
        raise UsageInvalid(f"No memory of {name} was found on this machine", f"`memory import {name} PATH` names it.")
    scope = None if arguments.scope is None else scope_of(arguments.scope, memory.scope_on_arrival())

    def run(*, dry_run: bool) -> Imported:
        imported: Imported = unwrap(
            memory.importing.run(name, paths, machine, scope=scope, is_mine=arguments.mine, dry_run=dry_run)
        )
        return imported

    console.progress("reading the other memory")
    done = run(dry_run=arguments.dry_run or not arguments.yes)
    values = [f"  {key}  (`memory state`)" for key in done.values]
    if arguments.dry_run:
        print_foreseen(memory, done.changes, console)
        console.out(*values)
    elif done.changes and not arguments.yes:
        shown = [f"  {each.meta.title}  ({each.meta.scope})" for each in (*done.created, *done.updated)]
        console.out(*first_of(shown + values, 20, "`--dry-run` shows all"), f"{done.sentence}.")
        if not is_agreed(console, "Write these notes?"):
            console.out("Nothing was written.")
            return
        done = run(dry_run=False)
    _report(arguments, console, done, paths, is_mine=arguments.mine)


def _report(arguments: Arguments, console: Console, done: Imported, paths: list[str], *, is_mine: bool = False) -> None:
    left = [sentence(f"left out: {each}") for each in done.reasons]
    console.warn(*first_of(left, 10, "`--json` lists all"))
    document: dict[str, Any] = {
        "run": done.run_id or None,
        "source": done.source,
        "paths": paths,
        "dryRun": arguments.dry_run,
        **{
            kind: [{"id": each.meta.id, "title": each.meta.title, "scope": each.meta.scope} for each in entries]
            for kind, entries in (("created", done.created), ("updated", done.updated))
        },
        "values": list(done.values),
        "known": done.known,
        "left": rows_of(done.left, "subject", "reasons"),
    }
    undo = f" (`memory undo {short_id(done.run_id)}` takes it back)" if done.run_id else ""
    console.answer(document, f"{done.sentence}{undo}.")
    if done.created and not is_mine and done.run_id:
        console.warn("No session is told of them before you approve them: `memory review --kind imported`.")


# -- export -----------------------------------------------------------------------------------------------------------


def configure_export(options: Options) -> None:
    options.add("format", metavar="FORMAT", choices=list(FORMATS), help=", ".join(FORMATS))
    output = "the directory or file to write; default: print it, for jsonl, cursor-rules and agents-md"
    options.add("--output", metavar="PATH", help=output)
    options.flag("--private", "private notes, too")
    add_filters(options)
    epilog = (
        "Secret notes never leave, and secrets are redacted. `memory import` takes markdown, jsonl and okf back with the "
        "same ids, text, tags, scopes and dates, with --mine also whose word they were, and pins. What agents read by themselves "
        "(claude, codex, skills, cursor-rules, agents-md) holds only what you said or vouched for and, marked as theirs, what "
        "agents concluded. skills writes a SKILL.md for each note with the tag `skill`, beside the skills that are there. "
        "Another directory is brought up to date by exporting again; one that holds anything else is refused, and a rule "
        "file or AGENTS.md keeps its own text. Only you can run this, not an agent."
    )
    options.runs(_export, epilog, "memory export markdown --output ~/notes --scope repo")


def _export(arguments: Arguments, console: Console) -> None:
    caller_of(os.environ).only_a_person("export")
    memory, name = open_here(console), arguments.format
    format, wanted = FORMATS[name], filter_of(arguments, memory)
    path = None if arguments.output is None else os.path.abspath(os.path.expanduser(arguments.output))
    if path is None and format.files is not None:
        where = format.read_at or "DIRECTORY"
        raise UsageInvalid(f"{name} is a directory of files", f"Name it: `memory export {name} --output {where}`.")
    if path is not None and rule_head(format.read_at) and not rule_head(path):
        raise UsageInvalid(f"Cursor reads no rule at {path}", f"Name a file such as {format.read_at}.")
    here = memory.scope_on_arrival() if format.is_here and wanted.scope is None else None
    chosen = unwrap(memory.exporting.choose(format, wanted, here, private=arguments.private))
    ids, text = [each.meta.id for each in chosen.notes], None
    if format.files is not None and path is not None:
        unwrap(memory.exporting.write_directory(path, format.files(chosen.notes), beside=format.beside))
    elif format.read_at:
        memory.publisher = evolve(memory.publisher, only=frozenset(ids))
        if path is not None and rule_head(path):
            with as_store_io("write", path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
        if path is None:
            rendered = unwrap(memory.section_here(wanted.scope))
        else:
            (target,) = unwrap(memory.publish([path])).targets
            if target.error is not None:
                raise target.error
            rendered = target.rendered or RenderedSection("")
        console.warn(*(f"{warning}." for warning in rendered.warnings))
        ids = [*rendered.hot, *rendered.warm]
        if rest := len(chosen.notes) - len(ids):
            chosen.left["of another place (`--scope` exports one place's) or found by search alone"] += rest
        text = f"{rule_head(format.read_at)}{rendered.text}"
    elif path is not None:
        unwrap(memory.exporting.write_file(path, chosen.notes))
    else:
        text = json_lines(chosen.notes).rstrip("\n")
    document = {"format": name, "path": path, "ids": ids, "left": dict(chosen.left), "text": text}
    said = f"Exported {counted(len(ids), 'note')} to {path}." if path else text
    console.answer(document, *([said] if said else []))
    if not (said or console.json):
        console.warn(NO_MATCH)
    console.warn(*(f"Left out: {counted(number, 'note')}, {reason}." for reason, number in chosen.left.items()))
    warn_unreadable(console, chosen.found.unreadable)
    console.warn(*filter(None, [format.hint]))
