"""`memory inject --harness X --hook`: a hook's payload on stdin is answered with notes, in the harness's own form on stdout.

Runs before an agent answers, so nothing may go wrong with it: it exits 0 whatever happens, prints one JSON document or nothing,
and ends itself after some seconds. What went wrong is in the hook log, which `memory status` shows. Where the notes are as they
were the last time (`adapters.injecting.shelf_files`), it loads C modules and our own light ones only.

Silent for sub-agents, for agent commands of our own (P23), and where there is nothing to say.
"""

import gc
import os

from agent_memory.adapters.disk.json_lite import json_object
from agent_memory.adapters.scheduling.notices import SESSION, take_notice
from agent_memory.adapters.surroundings.configured_root import root_and_doubt
from agent_memory.adapters.surroundings.own_calls import is_marked, is_own_call
from agent_memory.adapters.surroundings.root import home_of, is_directory
from agent_memory.domain.injecting.assembling import CONTEXT_END, CONTEXT_START
from agent_memory.domain.injecting.harness_forms import hook_output
from agent_memory.domain.injecting.moment import START, Moment, moment_of
from agent_memory.surfaces.hook_call import (
    HookProblem,
    current_directory,
    log_problem,
    named_harness,
    payload_on_stdin,
    run_silently,
)
from agent_memory.surfaces.hook_injection import HookInjection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

ACT = "inject"
LIMIT_SECONDS = 8.0
"""After this it ends itself, so that no agent waits for a store on a disk that does not answer."""


def run_inject_hook(words: list[str]) -> "NoReturn":
    """Answer and end the process with code 0, whatever happens."""
    gc.disable()  # the process ends before it would pay
    run_silently(lambda: inject_hook(words, os.environ))


def inject_hook(words: list[str], environ: "Mapping[str, str]") -> None:
    """Answer the payload on stdin, if there is something to say; problems go to the hook log."""
    if is_own_call(environ) or is_marked(current_directory()):
        return
    harness = None
    try:
        harness = named_harness(words, ACT)
        moment = moment_of(harness, payload_on_stdin())
        if isinstance(moment, str):
            raise HookProblem("payload", moment)
        if moment is not None and not (moment.cwd is not None and is_marked(moment.cwd)):
            _end_in_time(environ, harness)
            _answer(harness, moment, environ)
    except HookProblem as problem:
        log_problem(environ, harness, problem.code, problem.message, ACT)


def _end_in_time(environ: "Mapping[str, str]", harness: str) -> None:
    # What `signal` is built on: that loads `enum`, which takes longer than all the rest.
    import _signal  # pyright: ignore[reportMissingModuleSource] - built into the interpreter

    def end(*_: object) -> None:
        try:
            log_problem(environ, harness, "timed-out", f"nothing was injected within {LIMIT_SECONDS:g} s", ACT)
        finally:
            os._exit(0)

    _signal.signal(_signal.SIGALRM, end)
    _signal.setitimer(_signal.ITIMER_REAL, LIMIT_SECONDS)


def _answer(named: str, moment: Moment, environ: "Mapping[str, str]") -> None:
    home = home_of(environ)
    root, doubt = root_and_doubt(environ, home)
    if root is None:
        raise HookProblem("home-unknown", "no home directory is known; set HOME or AGENT_MEMORY_ROOT")
    notes = trouble = ""
    try:
        has_notes = is_directory(f"{root}/topics")  # else there is no note yet, and nothing is to be created
    except OSError as error:
        has_notes, trouble = False, f"{root}/topics cannot be looked at: {error.strerror}"
    if has_notes:
        answer = HookInjection(named, moment, environ, home, os.path.realpath(root))
        notes, trouble = answer.injection().text, answer.trouble
    texts = [text for text in (_failed_run(moment, home), notes) if text]
    if texts:
        _print(json_object(hook_output(named, moment.event_name, "\n\n".join(texts))))
    if doubt:
        raise HookProblem("config-invalid", f"{doubt}, so {root} was looked into")
    if trouble:
        raise HookProblem("store-io", trouble)


def _failed_run(moment: Moment, home: str | None) -> str:
    """That a scheduled run has failed, for the first session that begins after it; in marks of its own, so that no session
    learns it (P26)."""
    notice = take_notice(home, SESSION) if home is not None and moment.kind == START else None
    if notice is None:
        return ""
    return f"{CONTEXT_START}\n{notice} Please tell the person so: `memory status` says more.\n{CONTEXT_END}"


def _print(document: str) -> None:
    data = memoryview(f"{document}\n".encode("utf-8", "backslashreplace"))
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:  # the harness has gone: there is nobody to tell
        return
