"""`memory inject`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.adapters.surroundings.own_calls import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.domain.injecting.assembling import BUILT_IN, Injection
from agent_memory.domain.injecting.candidates import InjectRequest
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import ActRefused, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_choice, current_directory, open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.inject_hook import run_inject_hook

_MOST_TOKENS = 50_000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--query", metavar="TEXT", help="notes that have to do with this, as for a prompt")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help=f"which sections, and how much of each: {', '.join(BUILT_IN)}, or one of `inject.profiles`",
    )
    parser.add_argument(
        "--budget", metavar="TOKENS", type=int, help="of the whole text at most; default: inject.tokenBudget"
    )
    parser.add_argument(
        "--session", metavar="ID", help="leave out what this session was given before, and remember this"
    )
    add_choice(parser, "--harness", Harness, "whose session or hook it is")
    parser.add_argument(
        "--hook", action="store_true", help="a hook's payload comes on stdin; answer in the harness's own form"
    )
    parser.epilog = (
        "Prints the notes of this repository and of everywhere that an agent is to know, between marks by which memory knows "
        "its own words, and nothing where there are none. Only what the person said or vouched for, or an agent concluded; "
        "nothing secret, nothing private inside a repository. A note is shown whole or as one line, never cut. With --hook it "
        "exits 0 whatever happens; problems are in `memory status`."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.hook:
        run_inject_hook(["--harness", arguments.harness or "", "--hook"])
    if arguments.budget is not None and not 0 <= arguments.budget <= _MOST_TOKENS:
        raise UsageInvalid(f"--budget takes 0 to {_MOST_TOKENS:,} tokens")

    memory = open_here(console)
    here = current_directory()
    if is_own_call(memory.environ) or (here is not None and is_marked(here)):
        raise ActRefused("inject", DEPTH_VARIABLE)
    injection = unwrap(memory.inject(_request(arguments)))
    if injection.text:
        console.out(injection.text)
    console.document(_document(injection))
    return 0


def _request(arguments: argparse.Namespace) -> InjectRequest:
    return InjectRequest(
        query=arguments.query,
        profile=arguments.profile,
        budget=arguments.budget,
        session=arguments.session,
        harness=None if arguments.harness is None else Harness(arguments.harness),
    )


def _document(injection: Injection) -> dict[str, Any]:
    return {
        "text": injection.text,
        "entries": list(injection.ids),
        "tokens": injection.tokens,
        "budget": injection.budget,
        "profile": injection.profile or None,
        "shortened": injection.shortened,
        "leftOut": injection.left_out,
    }
