"""Completion scripts for bash, zsh and fish. They are static: completing a word runs nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from agent_memory.surfaces.shell.command_facts import PROGRAMS, CommandFacts, Option

_HEADER = "# Made by `memory completions {shell}`."


def bash_completions(commands: Sequence[CommandFacts]) -> str:
    """For `/usr/share/bash-completion/completions/memory`, or `source <(memory completions bash)`."""
    names = " ".join(each.name for each in commands)
    cases = "".join(_bash_case(each) for each in commands)
    return f"""{_HEADER.format(shell="bash")}
_memory() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{names} --help --version"
  else
    case "${{COMP_WORDS[1]}} $before" in
{"".join(_bash_values(each) for each in commands)}      *)
        case "${{COMP_WORDS[1]}}" in
{cases}        esac
        ;;
    esac
  fi
  # macOS has a bash without mapfile; none of our words holds a space or a pattern.
  [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _memory {" ".join(PROGRAMS)}
"""


def _bash_case(command: CommandFacts) -> str:
    words = [*_flags(command.options), *(choice for operand in command.operands for choice in operand.choices)]
    return f'          {command.name}) words="{" ".join(words)}" ;;\n'


def _bash_values(command: CommandFacts) -> str:
    lines = ""
    for option in command.options:
        if option.value is not None:
            patterns = " | ".join(f'"{command.name} {flag}"' for flag in option.flags)
            lines += f'      {patterns}) words="{" ".join(option.choices)}" ;;\n'
    return lines


def zsh_completions(commands: Sequence[CommandFacts]) -> str:
    """For a file `_memory` in a directory of `$fpath`."""
    described = "\n".join(f"    {_single(f'{each.name}:{each.summary}')}" for each in commands)
    cases = "".join(_zsh_case(each) for each in commands)
    return f"""#compdef {" ".join(PROGRAMS)}
{_HEADER.format(shell="zsh")}
_memory() {{
  local -a commands
  commands=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'memory command' commands
    _arguments '--help[show all commands]' '--version[show the version]'
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{cases}  esac
}}
if [ "$funcstack[1]" = "_memory" ]; then
  _memory "$@"
else
  compdef _memory {" ".join(PROGRAMS)}
fi
"""


def _zsh_case(command: CommandFacts) -> str:
    specs = [_zsh_option(option, flag) for option in command.options for flag in option.flags]
    choices = [choice for operand in command.operands for choice in operand.choices]
    if choices:
        specs.append(f"*:{command.operands[0].name}:({' '.join(choices)})")
    elif command.operands:
        specs.append(f"*:{_zsh_text(command.operands[0].name)}:_files")
    lines = " \\\n".join(f"        {_single(spec)}" for spec in specs)
    return f"    {command.name})\n      _arguments -s \\\n{lines}\n      ;;\n"


def _zsh_option(option: Option, flag: str) -> str:
    if option.value is None:
        return f"{flag}[{_zsh_text(option.meaning)}]"
    values = f"({' '.join(option.choices)})" if option.choices else " " if option.value != "PATH" else "_files"
    return f"{flag}=[{_zsh_text(option.meaning)}]:{_zsh_text(option.value)}:{values}"


def _zsh_text(text: str) -> str:
    return "".join(f"\\{char}" if char in "[]:\\" else char for char in text)


def fish_completions(commands: Sequence[CommandFacts]) -> str:
    """For `~/.config/fish/completions/memory.fish`."""
    lines = [_HEADER.format(shell="fish")]
    for program in PROGRAMS:
        lines.append(f"complete -c {program} -f")
        first = "-n __fish_use_subcommand"
        lines += [f"complete -c {program} {first} -a {each.name} -d {_single(each.summary)}" for each in commands]
        lines += [
            f"complete -c {program} {first} -l help -d 'show all commands'",
            f"complete -c {program} {first} -l version -d 'show the version'",
        ]
        for command in commands:
            when = f"-n '__fish_seen_subcommand_from {command.name}'"
            lines += [f"complete -c {program} {when} {_fish_option(option)}" for option in command.options]
            choices = " ".join(choice for operand in command.operands for choice in operand.choices)
            if choices:
                lines.append(f"complete -c {program} {when} -a '{choices}'")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
    files = option.value == "PATH" and not option.choices
    value = "" if option.value is None else " -rF" if files else f" -x -a '{' '.join(option.choices)}'"
    return f"{flags}{value} -d {_single(option.meaning)}"


def _flags(options: Iterable[Option]) -> list[str]:
    return [flag for option in options for flag in option.flags]


def _single(text: str) -> str:
    """In single quotes, for zsh and fish alike."""
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS: Mapping[str, Callable[[Sequence[CommandFacts]], str]] = {
    "bash": bash_completions,
    "zsh": zsh_completions,
    "fish": fish_completions,
}
