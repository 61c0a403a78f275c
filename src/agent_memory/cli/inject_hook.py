"""`memory inject --harness X --hook`: answers a hook's payload on stdin with notes, in the harness's own form on
stdout.

It runs before an agent answers, so nothing may go wrong: it exits 0 whatever happens, prints one JSON document or
nothing, and ends itself after some seconds. What went wrong is in the hook log, which `memory status` shows. If the
notes are unchanged since the last time (`recall.start_cache`), it loads C modules and our own light ones only.

Silent for sub-agents, for agent commands of our own (P23), and if there is nothing to say.
"""

import gc
import os

from agent_memory.capture.hook import (
    HookProblem,
    current_directory,
    fork_aside,
    log_problem,
    named_harness,
    payload_on_stdin,
    run_silently,
    stays_out,
)
from agent_memory.capture.hook_files import SESSION, take_notice
from agent_memory.files.json_lite import json_object
from agent_memory.files.root import home_of, is_directory, is_marked, is_own_call, root_and_doubt
from agent_memory.hook_injection import HookInjection
from agent_memory.recall.assembling import CONTEXT_END, CONTEXT_START
from agent_memory.recall.grounding import UNHURRIED_SECONDS, grounded
from agent_memory.recall.moment import START, Moment, hook_output, moment_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn


ACT = "inject"
LIMIT_SECONDS = 8.0
"""After this it ends itself, so that no agent waits for a store on a disk that does not answer."""


def run_inject_hook(words: list[str]) -> "NoReturn":
    """Answers and ends the process with code 0, whatever happens."""
    gc.disable()  # the process ends before it would pay
    run_silently(lambda: inject_hook(words, os.environ))


def inject_hook(words: list[str], environ: "Mapping[str, str]") -> None:
    """Answers the payload on stdin, if there is something to say; problems go to the hook log."""
    if is_own_call(environ) or is_marked(current_directory()):
        return
    harness = None
    try:
        harness = named_harness(words, ACT)
        moment = moment_of(harness, payload_on_stdin())
        if isinstance(moment, str):
            raise HookProblem("payload", moment)
        if moment is not None and not (moment.event.cwd is not None and is_marked(moment.event.cwd)):
            _end_in_time(environ, harness)
            if not stays_out(moment.event, environ, ACT):
                _answer(harness, moment, environ)
    except HookProblem as problem:
        code, message = problem.args
        log_problem(environ, harness, code, message, ACT)


def _end_in_time(environ: "Mapping[str, str]", harness: str) -> None:
    # What `signal` is built on: that loads `enum`, which takes longer than everything else.
    import _signal  # pyright: ignore[reportMissingModuleSource] - built into the interpreter

    def end(*_: object) -> None:
        try:
            log_problem(environ, harness, "timed-out", f"nothing was injected within {LIMIT_SECONDS:g} s", ACT)
        finally:
            os._exit(0)

    _signal.signal(_signal.SIGALRM, end)
    _signal.setitimer(_signal.ITIMER_REAL, LIMIT_SECONDS)


def _answer(named: str, moment: Moment, environ: "Mapping[str, str]") -> None:
    root, doubt = root_and_doubt(environ)
    notes = trouble = ""
    try:
        has_notes = is_directory(f"{root}/topics")  # otherwise there are no notes yet, and nothing must be created
    except OSError as error:
        has_notes, trouble = False, f"{root}/topics cannot be looked at: {error.strerror}"
    answer = HookInjection(named, moment, environ, os.path.realpath(root))
    if has_notes or answer.team:
        notes, trouble = answer.injection().text, answer.trouble
    failed = take_notice(home_of(environ), SESSION) if moment.kind == START else None
    if failed is not None:  # in marks of its own, so that it is not learnt from a session (P26)
        told = f"{CONTEXT_START}\n{failed} Please tell the person so: `memory status` says more.\n{CONTEXT_END}"
        notes = f"{told}\n\n{notes}" if notes else told
    if notes:
        document = json_object(hook_output(named, moment.event.event or "", notes))
        data = memoryview(f"{document}\n".encode("utf-8", "backslashreplace"))
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:  # the harness has gone: there is nobody to tell
            pass
    if answer.unlooked and fork_aside():
        grounded(answer.unlooked, answer.repository, answer.root, UNHURRIED_SECONDS)
        return
    if doubt:
        raise HookProblem("config-invalid", f"{doubt}, so {root} was looked into")
    if trouble:
        raise HookProblem("store-io", trouble)
