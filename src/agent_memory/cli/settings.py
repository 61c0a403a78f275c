"""`memory config`, `memory pause`, `memory trust` and `memory completions`: what is set, by whom, and the shell."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import time
from collections.abc import Iterator
from typing import Any

from agent_memory.agent.agent_command import REDACTED, is_secret_name, shown_command, shown_words
from agent_memory.app import open_memory
from agent_memory.caller import caller_of
from agent_memory.capture.hook import current_directory
from agent_memory.capture.repository import read_repository
from agent_memory.cli.console import Arguments, Console, Options, closest, duration_ms_of
from agent_memory.cli.dialogue import edited_by_hand, open_here
from agent_memory.documents import fields_of, pause_document
from agent_memory.errors import ConfigUnreadable, UsageInvalid
from agent_memory.files.paths import read_shipped
from agent_memory.files.root import INCOGNITO_VARIABLE, LOCAL_NAME, TEAM_DIRECTORY, config_path, home_of
from agent_memory.redaction.redact import redact
from agent_memory.results import unwrap
from agent_memory.setup.config_files import (
    Effective,
    TrustedConfig,
    TrustFile,
    change_own_config,
    closed_keys,
    leaves,
    load_config,
    parse_config,
    read_config,
    write_own_config,
)
from agent_memory.setup.plan import SetupState
from agent_memory.text.instants import day_of
from agent_memory.text.json_codec import written
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.plain_text import counted, one_line

# -- config -----------------------------------------------------------------------------------------------------------


_ACTS = {"get": ("KEY",), "set": ("KEY", "VALUE"), "unset": ("KEY",), "edit": ()}
"""The actions of `memory config`, and the words that follow."""


def configure_config(options: Options) -> None:
    options.add("act", metavar="|".join(_ACTS), nargs="?", choices=list(_ACTS), help="what to do (default: show)")
    options.add("key", metavar="KEY", nargs="?", help="a setting, such as llm.preset")
    options.add("value", metavar="VALUE", nargs="?", help="JSON, or else text")
    shown = options.one_of()
    shown.flag("--path", "print the path of your config file, even if there is none yet")
    shown.flag("--schema", "print the JSON schema of a config file")
    epilog = (
        "Shows every setting and where it comes from; `get` shows one. `set` and `unset` change your own config "
        "file, and `edit` opens it in $VISUAL or $EDITOR. An invalid change is refused, and the file stays as it is. "
        "Only you can change settings, not an agent. Values that look like secrets are hidden."
    )
    options.runs(_config, epilog, "memory config set llm.preset claude")


def _config(arguments: Arguments, console: Console) -> None:
    act, words = arguments.act, [each for each in (arguments.key, arguments.value) if each is not None]
    if len(words) != len(_ACTS.get(act, ())):
        raise UsageInvalid(f"The call is `memory config {' '.join((act, *_ACTS[act]))}`", "See `memory config --help`.")
    if act is not None and (arguments.path or arguments.schema):
        raise UsageInvalid(f"--path and --schema do not go with `config {act}`")
    if act == "get":
        _get(arguments.key, console)
    elif act is not None:
        caller_of(os.environ).only_a_person(f"config {act}")
        with SetupState(home_of(os.environ)).locked():
            _change(act, words, console)
    elif arguments.schema:
        console.stdout.write(read_shipped("docs/config.schema.json"))
    elif arguments.path:
        path = config_path(home_of(os.environ))
        console.answer({"path": path}, path)
    else:
        effective = _in_effect(console)
        document = _without_secrets(written(effective.config))
        rows = [(key, value, effective.source_of(key)) for key, value in leaves(document)]
        sources = {key: source for key, _, source in rows}
        console.answer({"config": document, "sources": sources}, *_config_lines(rows))


def _in_effect(console: Console) -> Effective:
    effective = unwrap(load_config(os.environ, current_directory()))
    console.warn(*effective.warnings)
    return effective


def _get(key: str, console: Console) -> None:
    effective = _in_effect(console)
    found = _setting(key, effective)
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    console.answer({"key": key, "value": found, "source": effective.source_of(key)}, text)


def _setting(key: str, effective: Effective) -> Any:
    """Returns the value in effect, without secrets; raises UsageInvalid if there is no such setting."""
    found: Any = _without_secrets(written(effective.config))
    known = [each for each, _ in leaves(found)]
    for part in key.split("."):
        if not is_object(found) or part not in found:
            hint = closest(key, known).rstrip() or "`memory config` shows them all."
            raise UsageInvalid(f"There is no setting {one_line(key, 80)!r}", hint)
        found = found[part]
    return found


def _change(act: str, words: list[str], console: Console) -> None:
    """Changes the config. Of two changes at once, or while setup is at work, the second is refused: none is lost."""
    path = config_path(home_of(os.environ))
    if act == "edit":
        content = read_config(path) or b"{}\n"
        with edited_by_hand(
            console, "config.json", content, "`memory config set KEY VALUE` works without one."
        ) as changed:
            if is_changed := changed != content:
                write_own_config(path, changed)
    else:
        is_changed = change_own_config(path, lambda document: _is_put(document, act, words, path))
        if act == "unset" and not is_changed:  # an unknown key could only be in the file
            _setting(words[0], unwrap(load_config(os.environ, current_directory())))
    console.answer({"path": path, "changed": is_changed}, f"{'Changed' if is_changed else 'Nothing changed in'} {path}")


def _is_put(document: dict[str, Any], act: str, words: list[str], path: str) -> bool:
    *sections, last = words[0].split(".")
    node = document
    for section in sections:
        node = node.setdefault(section, {})
        if not is_object(node):
            raise UsageInvalid(f"{section} in {path} is not a section, so it cannot hold {words[0]}")
    if act == "set":
        try:
            node[last] = json.loads(words[1])
        except ValueError:
            node[last] = words[1]
    elif last in node:
        del node[last]
    else:
        return False
    return True


def _config_lines(rows: list[tuple[str, Any, str]]) -> Iterator[str]:
    shown = [(key, one_line(json.dumps(value, ensure_ascii=False), 400), source) for key, value, source in rows]
    # Longer values are not cut to fit the columns.
    widths = [min(48, max(len(row[column]) for row in shown)) for column in (0, 1)]
    home = home_of(os.environ)
    for key, value, source in shown:
        where = f"~{source[len(home) :]}" if source.startswith(f"{home}/") else source
        yield f"{key:{widths[0]}}  {value:{widths[1]}}  {where}"


def _without_secrets(value: Any) -> Any:
    """Hides secrets; the value of a variable with a telling name is one, whatever it looks like."""
    if isinstance(value, str):
        try:
            words = shlex.split(value)  # it may be a command
        except ValueError:
            words = []
        return redact(value).text if list(shown_words(words)) == words else shown_command(words)
    if is_list(value):
        words = [each for each in value if isinstance(each, str)]
        return list(shown_words(words)) if len(words) == len(value) else list(map(_without_secrets, value))
    if is_object(value):
        return {
            key: REDACTED if isinstance(each, str) and is_secret_name(key) else _without_secrets(each)
            for key, each in value.items()
        }
    return value


# -- pause and resume -------------------------------------------------------------------------------------------------

_PROJECT = "only this project: a directory (default: the current one) or a key such as github.com/owner/repo"


def configure_pause(options: Options) -> None:
    options.add("--project", metavar="PROJECT", nargs="?", const=".", help=_PROJECT)
    options.add("--for", dest="duration", metavar="TIME", help="how long: 2h (m h d w y); else until you resume")
    epilog = (
        "Nothing is captured meanwhile, and agents are told nothing and cannot ask. What is said in a session during the "
        "pause is not learnt afterwards either. Your own commands work as ever. To stay out of a project for good, use "
        f"`projects.exclude` (see `memory config`); to keep one session out, start it with {INCOGNITO_VARIABLE}=1. Only "
        "you can pause memory, not an agent."
    )
    options.runs(_pause, epilog, "memory pause --for 2h")


def _pause(arguments: Arguments, console: Console) -> None:
    duration: str | None = arguments.duration
    pause = unwrap(
        open_here(console).switching.pause(arguments.project, None if duration is None else duration_ms_of(duration))
    )
    sooner = " `memory resume` ends it sooner." if pause.until else ""
    console.answer({"paused": pause_document(pause)}, f"{pause.sentence}{sooner}")


def configure_resume(options: Options) -> None:
    options.add("--project", metavar="PROJECT", nargs="?", const=".", help=_PROJECT)
    epilog = "Ends all pauses, or that of one project. Only you can end a pause, not an agent."
    options.runs(_resume, epilog, "memory resume --project")


def _resume(arguments: Arguments, console: Console) -> None:
    switching = open_here(console).switching
    ended, left = unwrap(switching.resume(arguments.project)), unwrap(switching.paused())
    said = (
        f"Ended {counted(len(ended), 'pause')}."
        if left
        else "Memory is on again."
        if ended
        else "Memory was not paused."
    )
    document = {"resumed": list(map(pause_document, ended)), "paused": list(map(pause_document, left))}
    console.answer(document, said, *(each.sentence for each in left))


# -- trust ------------------------------------------------------------------------------------------------------------


def configure_trust(options: Options) -> None:
    path = f"a config file, or a directory with a {LOCAL_NAME}; without it, this checkout's {TEAM_DIRECTORY}"
    options.add("path", metavar="PATH", nargs="?", help=path)
    act = options.one_of()
    act.add("--off", "--revoke", dest="revoke", action="store_true", help="no longer trust it")
    act.flag("--list", "list what is trusted")
    epilog = (
        "Agents are told your team's notes once you trust the checkout, and whole only as you saw them: what a pull "
        "changes or adds is told as an agent's, without orders, until you run this again.\n\n"
        f"A {LOCAL_NAME} in the current directory can set only `inject`, since it may come from a cloned "
        "repository. Once you trust it, all its settings count, until its content or its place changes. Only you can "
        "trust it, not an agent."
    )
    options.runs(_trust, epilog, "memory trust")


def _trust(arguments: Arguments, console: Console) -> None:
    trust = TrustFile(home_of(os.environ))
    if arguments.list:
        configs = [(each, _state(each)) for each in trust.configs()]
        documents = [fields_of(each, "path", "sha256", "trusted_at_ms") | {"state": state} for each, state in configs]
        lines = [f"{day_of(each.trusted_at_ms)}  {each.path}  {state}".rstrip() for each, state in configs]
        console.answer({"trusted": documents}, *(lines or ["No config is trusted."]))
        return
    given: str = arguments.path or "."
    try:
        path = os.path.realpath(os.path.join(given, LOCAL_NAME) if os.path.isdir(given) else given)
        directory = _team_directory(arguments.path)
    except OSError as error:  # the current directory was removed
        raise UsageInvalid(f"{given} cannot be found: {error.strerror}") from None
    if arguments.revoke:
        path = directory or path
        was_trusted = trust.remove(path)
        said = f"{'No longer trusted' if was_trusted else 'It was not trusted'}: {path}"
        console.answer({"revoked": path, "wasTrusted": was_trusted}, said)
        return
    if directory is not None:
        _trust_team(trust, directory, console)
        return
    caller_of(os.environ).only_a_person("trust")
    content = read_config(path)
    if content is None:
        raise UsageInvalid(f"There is no file {path}", "Give the path of the config, or go to its directory.")
    keys = closed_keys(parse_config(content, path))
    added = trust.add(path, content, time.time_ns() // 1_000_000)
    console.answer(
        {"trusted": path, "sha256": added.sha256, "sets": list(keys)},
        f"Trusted, as it is now: {path}",
        f"It sets {one_line(', '.join(keys), 300)}." if keys else "It sets nothing that needs trust.",
    )


def _team_directory(given: str | None) -> str | None:
    """Returns the directory of a team's notes that is meant: by its path, or, if there is no config here, this
    checkout's."""
    if given is None and not os.path.lexists(LOCAL_NAME):
        top = read_repository(os.getcwd(), os.environ).top
        return f"{top}/{TEAM_DIRECTORY}" if top and os.path.lexists(f"{top}/{TEAM_DIRECTORY}") else None
    path = os.path.realpath(given or ".")
    return path if path.endswith(f"/{TEAM_DIRECTORY}") else None


def _trust_team(trust: TrustFile, directory: str, console: Console) -> None:
    seen = {each.sha256 for each in trust.configs()}
    memory = unwrap(open_memory(os.environ, directory.removesuffix(f"/{TEAM_DIRECTORY}"), console.warn))
    notes = unwrap(memory.sharing().trust()).listed
    new = [each.meta for each in notes.values() if each.content_hash not in seen]
    said = f"Trusted, as they are now: {counted(len(notes), 'note')} in {directory}, {len(new)} of them new to you"
    document = {
        "trusted": directory,
        "notes": len(notes),
        "new": [{"id": each.id, "title": each.title} for each in new],
    }
    console.answer(document, said, *(f"  {each.id}  {one_line(each.title, 200)}" for each in new))
    own = {each.meta.id: each.meta for each in unwrap(memory.store.list()).entries}
    told = unwrap(memory.notes_here.list()).entries
    for each in (own[listed.meta.id] for listed in told if listed.is_team and listed.meta.id in own):
        yours = "yours, which you pinned" if each.pinned else "yours"
        console.warn(f"Agents are told the team's text of {each.id} instead of {yours}, until you edit yours.")


def _state(config: TrustedConfig) -> str:
    if config.path.endswith(f"/{TEAM_DIRECTORY}"):
        return "notes of a team"
    try:
        content = read_config(config.path)
    except ConfigUnreadable:
        return "unreadable"
    if content is None:
        return "gone"
    return "" if config.is_of(content) else "changed since, not trusted"


# -- completions ------------------------------------------------------------------------------------------------------


def configure_completions(options: Options) -> None:
    options.add("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    epilog = (
        "Prints a script that completes commands, options and values. Completing does not run memory.\n\n"
        "  bash  memory completions bash > ~/.local/share/bash-completion/completions/memory\n"
        "  zsh   memory completions zsh > a directory of your $fpath, as _memory\n"
        "  fish  memory completions fish > ~/.config/fish/completions/memory.fish"
    )
    options.runs(_completions, epilog)


def _completions(arguments: Arguments, console: Console) -> None:
    script = completion_script(arguments.shell)
    console.answer({"shell": arguments.shell, "script": script}, script.rstrip("\n"))


def completion_script(shell: str) -> str:
    """Returns the script for one shell, made from the parsers of all commands, for both names of the program."""
    import shtab

    from agent_memory.cli.main import COMMANDS, command_parser

    root = argparse.ArgumentParser(prog="memory")
    root.add_argument("--version", action="version", version="", help="show the version")

    def parser_named(prog: str, **_: Any) -> argparse.ArgumentParser:
        return command_parser(prog.split()[-1])

    parser_class: Any = parser_named  # argparse calls it a class
    commands = root.add_subparsers(parser_class=parser_class)
    for name, command in COMMANDS.items():
        for action in commands.add_parser(name, help=command.summary)._actions:
            if action.metavar in ("PATH", "FILE"):
                action.complete = shtab.FILE
    script: str = shtab.complete(root, shell)
    match shell:
        case "bash":
            return f"{script}\ncomplete -o bashdefault -F _shtab_memory agent-memory\n"
        case "zsh":
            return script.replace("#compdef memory", "#compdef memory agent-memory", 1)
        case _:
            return f"{script}\ncomplete -c agent-memory -w memory\n"
