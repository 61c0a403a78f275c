"""The queue of what waits for a person, and each decision as one run that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.acts.review import ReviewAct, ReviewItem, ReviewKind
from agent_memory.app import Memory, open_memory
from agent_memory.caller import Caller
from agent_memory.errors import ActRefused
from agent_memory.note.note import Harness, MemoryEntry
from agent_memory.rules.drafts import Expiry, NoteDraft

CLIENT = Caller(client="cursor")
AGENT = Caller(Harness.CLAUDE_CODE, "CLAUDE_CODE_CHILD_SESSION")
LAMP = "The lamp is built with gcc 12 in 90 seconds."
RETRY = "The uploader retries after 5 s and then after 10 s, and uses the queue `jobs`."
PORTS = "Deploys of the lamp run from main only; the port is {}."


def remembered(memory: Memory, text: str, caller: Caller = Caller(), expiry: Expiry = Expiry(None)) -> str:  # noqa: B008
    return memory.called_by(caller).service.remember(NoteDraft(text, expiry=expiry)).unwrap().stored.meta.id


def waiting(memory: Memory) -> dict[ReviewKind, ReviewItem]:
    return {each.kind: each for each in memory.reviewing.items().unwrap()}


def files(memory: Memory) -> dict[str, bytes]:
    paths = (path for part in ("topics", "archive", "state") for path in (memory.root / part).rglob("*"))
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def external(memory: Memory) -> ReviewKind:
    remembered(memory, LAMP, CLIENT)
    return ReviewKind.EXTERNAL


def contradicting(memory: Memory) -> ReviewKind:
    remembered(memory, PORTS.format(8080))
    remembered(memory, PORTS.format(9090))
    return ReviewKind.CONTRADICTION


def alike(memory: Memory) -> ReviewKind:
    remembered(memory, RETRY)
    remembered(memory, RETRY.replace(".", " too."))
    return ReviewKind.NEAR_DUPLICATE


def expired(memory: Memory) -> ReviewKind:
    remembered(memory, LAMP, expiry=Expiry(1))
    return ReviewKind.EXPIRED


@pytest.mark.parametrize("act", ReviewAct)
@pytest.mark.parametrize("make", [external, contradicting, alike, expired])
def test_every_decision_can_be_undone(memory: Memory, make: Callable[[Memory], ReviewKind], act: ReviewAct) -> None:
    kind = make(memory)
    item, before = waiting(memory)[kind], files(memory)
    if act not in item.acts:
        assert isinstance(memory.reviewing.decide([item], act), Failure)
        assert files(memory) == before
        return
    text = None
    if act is ReviewAct.EDIT:
        stored = memory.store.read(item.notes[0].meta.id).unwrap()
        text = MemoryEntry(stored.meta, f"{stored.body} And that is that.")
    decided = memory.reviewing.decide([item], act, text=text).unwrap()
    assert decided.left == ()
    left = waiting(memory).get(kind)
    if act is ReviewAct.LATER:
        assert left is not None
        assert left.put_off_until_ms is not None
    elif act is ReviewAct.EDIT and len(item.notes) > 1:
        assert left != item
    else:
        assert left is None
    memory.undo(decided.run_id).unwrap()
    assert files(memory) == before
    assert waiting(memory)[kind] == item


def test_keeping_is_a_persons_word_and_no_agents(memory: Memory) -> None:
    external(memory)
    (item,) = waiting(memory).values()
    for caller in (AGENT, CLIENT):
        match memory.called_by(caller).reviewing.decide([item], ReviewAct.KEEP):
            case Failure(ActRefused()):
                pass
            case other:
                pytest.fail(f"{other}")
    memory.reviewing.decide([item], ReviewAct.KEEP).unwrap()
    assert memory.store.read(item.notes[0].meta.id).unwrap().meta.is_vouched_for
    assert memory.store.tiers().unwrap().warm == (item.notes[0].meta.id,)


@pytest.mark.parametrize("act", [ReviewAct.KEEP, ReviewAct.REJECT, ReviewAct.LATER])
def test_of_twenty_who_decide_at_once_one_does(memory: Memory, act: ReviewAct) -> None:
    external(memory)
    (item,) = waiting(memory).values()
    others = [evolve_memory(memory) for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda other: other.reviewing.decide([item], act), others))
    succeeded = [each for each in done if isinstance(each, Success)]
    assert len(succeeded) == (20 if act is ReviewAct.LATER else 1)
    reviews = [each for each in memory.log.runs().unwrap() if each.machine == "review"]
    assert len(reviews) == len(succeeded)


def evolve_memory(memory: Memory) -> Memory:
    return open_memory(memory.environ, memory.cwd, print).unwrap()


def test_what_was_kept_is_shown_again_once_it_changes(memory: Memory) -> None:
    alike(memory)
    item = waiting(memory)[ReviewKind.NEAR_DUPLICATE]
    memory.reviewing.decide([item], ReviewAct.KEEP).unwrap()
    assert not waiting(memory)
    memory.service.edit(item.notes[0].meta.id, body=f"{RETRY} It gives up then.").unwrap()
    assert ReviewKind.NEAR_DUPLICATE in waiting(memory)


def test_a_rejected_note_that_is_restored_may_be_learnt_again(memory: Memory) -> None:
    external(memory)
    (item,) = waiting(memory).values()
    memory.reviewing.decide([item], ReviewAct.REJECT).unwrap()
    assert list((memory.root / "state/rejected").iterdir())
    memory.service.restore(item.notes[0].meta.id).unwrap()
    assert not list((memory.root / "state/rejected").iterdir())
    assert evolve(item, notes=()) == evolve(waiting(memory)[ReviewKind.EXTERNAL], notes=())
