"""What a hook tells a session, chosen and recorded: `cli.inject_hook` prints it, and the page shows what it would be.

Where the notes are as they were the last time (`recall.start_cache`), it loads C modules and our own light ones only.
"""

import os
import time

from agent_memory import __version__
from agent_memory.capture.hook import HookProblem, current_directory
from agent_memory.capture.hook_files import mentions, timestamp_of
from agent_memory.capture.places import KnownPlaces
from agent_memory.capture.repository import may_be_in_work_tree, read_repository, work_tree_above
from agent_memory.files.root import LOCAL_NAME, TEAM_DIRECTORY, config_path, home_of, local_state_directory
from agent_memory.recall.assembling import (
    NOTHING,
    NOTHING_KNOWN,
    PROMPT,
    SESSION_START,
    Injection,
    Passage,
    Profile,
    assemble,
    profile_named,
)
from agent_memory.recall.delivery_log import Delivery, DeliveryLog, is_held_out, known_ids, last_other_session
from agent_memory.recall.grounding import HOOK_SECONDS, grounded
from agent_memory.recall.moment import ASKED, COMPACTED, Moment, max_chars, read_files, shown_whole, unread_session
from agent_memory.recall.start_cache import UNMERGED, Fingerprint, fingerprint_of, keep_cached, read_cached
from agent_memory.text.json_shape import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from returns.result import Result

    from agent_memory.app import Memory
    from agent_memory.errors import Error

RECOVERY_SECONDS = 1.0
"""How long reading the transcript of a session that was cut off may take."""
_INBOX_PLACES = ("inbox", "inbox/.processed", "inbox/.failed")


class Offer(Record):
    """What there is to tell before it is known what finds room."""

    passages: tuple[Passage, ...] = ()
    profile: Profile | None = None
    more: int = 0
    """Notes that might be told, too, and were not made ready."""
    hold_out: int = 0
    """One session in so many is told nothing."""


class HookInjection:
    """The answer to one moment. `named` is the harness whose hook was called; `root` is real."""

    def __init__(self, named: str, moment: Moment, environ: "Mapping[str, str]", root: str) -> None:
        self.named = named
        self.moment = moment
        self.environ = environ
        self.home = home_of(environ)
        self.root = root
        self.directory = moment.event.cwd or current_directory()
        self.repository = read_repository(self.directory, environ)
        self.scope = self.repository.scope
        team = f"{self.repository.top}/{TEAM_DIRECTORY}"
        self.team = team if self.repository.common and os.path.isdir(team) else ""
        """The directory of the team's notes; empty if there is none."""
        self.now_ms = time.time_ns() // 1_000_000
        self.trouble = ""
        """A sentence for the log about what went wrong, although something can be said."""
        self.unlooked: Sequence[Passage] = ()
        """Notes for whose marks git may have had no time: who looks at them now makes the next hook know them."""

    def injection(self) -> Injection:
        """Returns what to say, without what the session has already, and records it as said. The log is locked
        meanwhile: of two hooks that are told of one event the second finds nothing more to say. Without a store, as in
        continuous integration, there may be notes of the team, and nothing is created."""
        moment, session = self.moment, self.moment.event.session_id
        offer = self.offer()
        if held_out := is_held_out(session, offer.hold_out):
            offer = Offer()
        if not os.path.isdir(self.root):
            return self.assembled(offer)
        log = DeliveryLog(self.root)

        def not_known() -> Injection:
            logged, is_fresh = log.deliveries(session), moment.is_fresh
            return self.assembled(offer, known_ids(logged, moment.harness, session, self.now_ms, is_fresh=is_fresh))

        try:
            with log:
                injection = not_known()
                event = COMPACTED if moment.is_fresh else moment.kind
                told = (injection.ids, injection.tokens, self.scope, moment.event.session_path or "", int(held_out))
                log.append(Delivery(self.now_ms, moment.harness, session, event, *told, injection.whole))
                return injection
        except OSError as error:  # it is better told twice than never
            self.trouble = f"could not write to {self.root}: {error.strerror or error}"
            return not_known()

    def offer(self) -> Offer:
        """Returns what there is to say. Records nothing."""
        began = time.monotonic()
        if self.moment.kind == COMPACTED:
            return Offer()
        if self.moment.kind == ASKED:
            return self._found()
        offer = self._ready()
        if time.monotonic() - began >= HOOK_SECONDS:  # once a session: a prompt may come every few seconds
            self.unlooked = offer.passages
        return offer

    def assembled(self, offer: Offer, known: "Mapping[str, bool]" = NOTHING_KNOWN) -> Injection:
        """Returns what finds room of an offer, without what the session knows."""
        if offer.profile is None:
            return NOTHING
        known = {**known, **dict.fromkeys(self.in_view(offer), True)}
        return assemble(offer.passages, offer.profile, known, max_chars(self.named), offer.more)

    def in_view(self, offer: Offer) -> "frozenset[str]":
        """Returns the notes that this harness reads whole, with the same marks, in a file with a managed section."""
        if not offer.passages:
            return frozenset()
        try:
            work_tree = work_tree_above(self.directory)
        except OSError:  # then what a session may have read of it is repeated
            work_tree = None
        groups = read_files(self.moment.harness, self.home, self.environ, work_tree)
        marks = {each.id: each.mark for each in offer.passages}
        texts = map(_first_text, groups)
        return frozenset(id for text in texts for id in shown_whole(text) if marks.get(id, "") in text)

    # -- at the start of a session ------------------------------------------------------------------------------------

    def _ready(self) -> Offer:
        if os.path.isdir(self.root) and not KnownPlaces(self.home, self.root).has(self.repository):
            self._memory().scope_on_arrival()  # the notes of a place that was renamed come with it
        began_ns = time.time_ns()
        try:
            fingerprint = self._fingerprint()
        except OSError as error:
            raise HookProblem("store-io", f"{self.root}/topics cannot be listed: {error.strerror}") from None
        prepared = read_cached(self.root, fingerprint, self.now_ms)
        if prepared is None:
            from agent_memory.inject import prepare

            prepared = _value(prepare(self._memory()))
            keep_cached(self.root, fingerprint, prepared, began_ns)
        profile = profile_named(SESSION_START, prepared.profiles, prepared.budget)
        passages = (*self._recovery(), *grounded(prepared.passages, self.repository, self.root))
        return Offer(passages, profile, prepared.more, prepared.hold_out)

    def _fingerprint(self) -> Fingerprint:
        local = f"{self.directory}/{LOCAL_NAME}"
        others = [local, f"{self.root}/state/tiers.json", f"{self.root}/{UNMERGED}"]
        others += [config_path(self.home), f"{local_state_directory(self.home)}/trusted.json"]
        place = [self.scope, str(may_be_in_work_tree(self.directory)), self.team]
        told_in = "\n".join((*place, local) if os.path.lexists(local) else place)
        return fingerprint_of(self.root, told_in, others, __version__, self.team)

    def _recovery(self) -> "tuple[Passage, ...]":
        """Returns the last words of the last session here, if the person asked something and nothing came after.
        Reading them takes ten times as long as everything else, so of a session that is still running, by its
        transcript, or that is too long to be read in time, only that is said."""
        deliveries = DeliveryLog(self.root).deliveries(self.scope)
        last = last_other_session(deliveries, self.scope, self.moment.event.session_id, self.now_ms)
        if last is None or last.event != ASKED:
            return ()
        try:
            if was_captured_since(self.root, last.harness, last.session, last.at_ms):
                return ()
        except OSError as error:  # what is known already is not repeated as if it were lost
            self.trouble = f"{error.filename} cannot be read: {error.strerror}"
            return ()
        if last.transcript:
            try:
                rested_seconds = time.time() - os.stat(last.transcript).st_mtime
            except OSError:
                return ()
            # A session whose transcript was written to within a minute counts as still running.
            if rested_seconds < 60.0:
                return (unread_session(last.harness, last.session),)
        from threading import Thread

        from agent_memory.inject import recover

        memory = self._memory()
        found: list[Passage] = []
        thread = Thread(target=lambda: found.extend(recover(memory, last.harness, last.session)), daemon=True)
        thread.start()
        thread.join(RECOVERY_SECONDS)  # the process ends without it
        return (unread_session(last.harness, last.session),) if thread.is_alive() else tuple(found)

    # -- when the person asks -----------------------------------------------------------------------------------------

    def _found(self) -> Offer:
        from agent_memory.recall.candidates import can_connect

        if not can_connect(self.moment.prompt):
            return Offer()
        from agent_memory.inject import find_relevant

        memory = self._memory()
        config = memory.config.inject
        profile = profile_named(PROMPT, config.profiles, config.token_budget)
        unread: list[str] = []
        memory.warn = unread.append
        found = _value(find_relevant(memory, self.moment.prompt))
        if unread:
            raise HookProblem("store-io", " ".join(unread))
        return Offer(found, profile, hold_out=memory.config.eval.hold_out)

    def _memory(self) -> "Memory":
        from agent_memory.app import open_memory

        environ = {**self.environ, "AGENT_MEMORY_ROOT": self.root}
        memory: Memory = _value(open_memory(environ, self.directory, lambda _: None))
        # A hook ends after some seconds; the next call goes on with further changed notes.
        memory.store.files.most_at_once = 300
        return memory


def _value(result: "Result[Any, Error]") -> "Any":
    from returns.result import Failure

    if isinstance(result, Failure):
        error = result.failure()
        raise HookProblem(error.code, str(error))
    return result.unwrap()


def _first_text(paths: "Iterable[str]") -> str:
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read(1 << 20).decode("utf-8", "replace")
        except OSError:
            continue
        if text:
            return text
    return ""


def was_captured_since(root: str, harness: str, session_id: str, at_ms: int) -> bool:
    """Returns whether an entry of the session was captured at that time or later, whatever became of it. OSError for a
    place that cannot be looked into: what was captured is unknown then (P6)."""
    stamp = timestamp_of(at_ms).replace(":", "-")
    for place in _INBOX_PLACES:
        try:
            names = os.listdir(f"{root}/{place}")
        except FileNotFoundError:
            continue
        for name in names:
            may_be = name >= stamp and f"_{harness}_" in name and name.endswith(".json")
            if may_be and mentions(f"{root}/{place}/{name}", f'"{session_id}"'):
                return True
    return False
