"""What a hook's call puts into a session: what is ready for the place, what a prompt finds, without what the session has."""

import os
import time

from agent_memory import __version__
from agent_memory.adapters.injecting.delivery_files import DeliveryLog
from agent_memory.adapters.injecting.later_capture import was_captured_since
from agent_memory.adapters.injecting.shelf_files import Looks, Shelf, keep_shelf, looks_of, read_shelf
from agent_memory.adapters.surroundings.places import KnownPlaces
from agent_memory.adapters.surroundings.repository import may_be_in_work_tree, read_repository, work_tree_above
from agent_memory.adapters.surroundings.root import config_path, local_state_directory
from agent_memory.domain.injecting.already_shown import read_files, shown_whole
from agent_memory.domain.injecting.assembling import assemble
from agent_memory.domain.injecting.deliveries import Delivery, known_ids, last_other_session
from agent_memory.domain.injecting.harness_forms import max_chars
from agent_memory.domain.injecting.moment import ASKED, COMPACTED, Moment
from agent_memory.domain.injecting.passage import NOTHING, Injection, Passage
from agent_memory.domain.injecting.profiles import PROMPT, SESSION_START, Profile, profile_named
from agent_memory.surfaces.hook_call import HookProblem, current_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from returns.result import Result

    from agent_memory.app import Memory
    from agent_memory.errors import Error

RECOVERY_SECONDS = 1.0
"""So long the transcript of a session that was cut off may take to be read."""
_MAX_SECTION_BYTES = 1 << 20
_LOCAL_CONFIG = "memory.config.json"
"""As in `adapters.surroundings.config_files`, which takes longer to load."""


class HookInjection:
    """The answer to one moment. `named` is whose hook was called; `root` is real."""

    def __init__(self, named: str, moment: Moment, environ: "Mapping[str, str]", home: str | None, root: str) -> None:
        self.named = named
        self.moment = moment
        self.environ = environ
        self.home = home
        self.root = root
        self.directory = moment.cwd or current_directory()
        self.repository = read_repository(self.directory, environ, home)
        self.scope = self.repository.scope
        self.now_ms = time.time_ns() // 1_000_000
        self.trouble = ""
        """What went wrong beside what can be said, as a sentence for the log."""

    def injection(self) -> Injection:
        """What to say; it is recorded as said."""
        if self.moment.kind == COMPACTED:
            return self._recorded((), None)
        if self.moment.kind == ASKED:
            return self._recorded(*self._found())
        return self._recorded(*self._ready())

    def _recorded(self, passages: "tuple[Passage, ...]", profile: Profile | None, more: int = 0) -> Injection:
        """Assembled without what the session has already. The log is held meanwhile: of two hooks that are told of one event
        the second finds nothing more to say."""
        moment, session = self.moment, self.moment.session_id
        shown = self._shown_whole() if passages else frozenset[str]()
        try:
            with DeliveryLog(self.root) as log:
                known = known_ids(
                    log.deliveries(session), moment.harness, session, self.now_ms, is_fresh=moment.is_fresh
                )
                injection = (
                    NOTHING
                    if profile is None
                    else assemble(passages, profile, known | shown, max_chars(self.named), more)
                )
                event = COMPACTED if moment.is_fresh else moment.kind
                log.append(
                    Delivery(self.now_ms, moment.harness, session, event, injection.ids, injection.tokens, self.scope)
                )
                return injection
        except OSError as error:
            raise HookProblem("store-io", f"could not write to {self.root}: {error.strerror or error}") from None

    def _shown_whole(self) -> "frozenset[str]":
        """What the managed sections show that this harness reads by itself."""
        if self.home is None:
            return frozenset()
        groups = read_files(self.moment.harness, self.home, self.environ, _work_tree_around(self.directory))
        return frozenset(id for group in groups for id in shown_whole(_first_text(group)))

    # -- at the start of a session ------------------------------------------------------------------------------------

    def _ready(self) -> "tuple[tuple[Passage, ...], Profile | None, int]":
        if self.home is not None and not KnownPlaces(self.home, self.root).has(self.repository):
            self._memory().scope_here()  # the notes of a place that was renamed come with it
        looked_at_ns = time.time_ns()
        try:
            looks = self._looks()
        except OSError as error:
            raise HookProblem("store-io", f"{self.root}/topics cannot be listed: {error.strerror}") from None
        shelf = read_shelf(self.root, looks, self.now_ms)
        if shelf is None:
            shelf = self._prepared()
            keep_shelf(self.root, looks, shelf, looked_at_ns)
        profile = profile_named(SESSION_START, shelf.profiles, shelf.budget)
        return (*self._recovery(), *shelf.passages), profile, shelf.more

    def _looks(self) -> Looks:
        local = f"{self.directory}/{_LOCAL_CONFIG}"
        others = [local, f"{self.root}/state/tiers.json"]
        if self.home is not None:
            others += [config_path(self.home), f"{local_state_directory(self.home)}/trusted.json"]
        place = [self.scope, str(may_be_in_work_tree(self.directory))]
        return looks_of(self.root, "\n".join((*place, local) if os.path.lexists(local) else place), others, __version__)

    def _prepared(self) -> Shelf:
        from agent_memory.bootstrap.injecting import prepare

        shelf: Shelf = _value(prepare(self._memory()))
        return shelf

    def _recovery(self) -> "tuple[Passage, ...]":
        """The last words of the last session here, where the person asked and nothing came after."""
        deliveries = DeliveryLog(self.root).deliveries(self.scope)
        last = last_other_session(deliveries, self.scope, self.moment.session_id, self.now_ms)
        if last is None or last.event != ASKED or self._was_captured(last):
            return ()
        from agent_memory.bootstrap.injecting import recover

        memory = self._memory()
        return _within(RECOVERY_SECONDS, lambda: recover(memory, last.harness, last.session))

    def _was_captured(self, last: Delivery) -> bool:
        """Also where that cannot be told: what is known already is not said again as if it were lost."""
        try:
            return was_captured_since(self.root, last.harness, last.session, last.at_ms)
        except OSError as error:
            self.trouble = f"{error.filename} cannot be read: {error.strerror}"
            return True

    # -- when the person asks -----------------------------------------------------------------------------------------

    def _found(self) -> "tuple[tuple[Passage, ...], Profile | None]":
        from agent_memory.domain.injecting.relevance import can_connect

        if not can_connect(self.moment.prompt):
            return (), None
        from agent_memory.bootstrap.injecting import find_relevant

        memory = self._memory()
        config = memory.config.inject
        profile = profile_named(PROMPT, config.profiles, config.token_budget)
        unread: list[str] = []
        memory.warn = unread.append
        found = _value(find_relevant(memory, self.moment.prompt))
        if unread:
            raise HookProblem("store-io", " ".join(unread))
        return found, profile

    def _memory(self) -> "Memory":
        from agent_memory.app import open_memory

        environ = {**self.environ, "AGENT_MEMORY_ROOT": self.root}
        memory: Memory = _value(open_memory(environ, self.directory, lambda _: None))
        return memory


def _value(result: "Result[Any, Error]") -> "Any":
    from returns.result import Failure

    from agent_memory.wording import describe

    if isinstance(result, Failure):
        error = result.failure()
        raise HookProblem(error.code, describe(error))
    return result.unwrap()


def _within(seconds: float, act: "Callable[[], tuple[Passage, ...]]") -> "tuple[Passage, ...]":
    """What it comes to, or nothing once the time is up: the process ends without it."""
    from threading import Thread

    found: list[Passage] = []
    thread = Thread(target=lambda: found.extend(act()), daemon=True)
    thread.start()
    thread.join(seconds)
    return tuple(found)


def _work_tree_around(directory: str) -> str | None:
    """None, too, where it cannot be told: what a session may have read of it is said once more then."""
    try:
        return work_tree_above(directory)
    except OSError:
        return None


def _first_text(paths: "Iterable[str]") -> str:
    for path in paths:
        if text := _text_of(path):
            return text
    return ""


def _text_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_SECTION_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
