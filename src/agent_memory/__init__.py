"""agent-memory: the memory that coding agents share, as plain markdown in a git repository.

Another program embeds it by building the machines over its own adapters: `ConsolidateIo` and `DefragIo` name them, `consolidate` and
`defrag` run them, and `ports` says what each must do. Public names are loaded on first use: importing this package costs nothing, since
`memory capture` runs inside every turn of every agent.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.acts.service import MemoryService, Remembered
    from agent_memory.agent.agent_command import BuiltinAgent
    from agent_memory.app import Memory, open_memory
    from agent_memory.caller import Caller
    from agent_memory.capture.inbox_files import Inbox
    from agent_memory.config import Config
    from agent_memory.errors import Error
    from agent_memory.files.locks import Locks
    from agent_memory.machines import Consolidate, Defrag, Model, Pipeline, drive
    from agent_memory.note.note import (
        Harness,
        Importance,
        Kind,
        Listed,
        Listing,
        MemoryEntry,
        Meta,
        Origin,
        Sensitivity,
        Source,
        Status,
        StoredEntry,
        Tier,
        TierList,
        Usage,
    )
    from agent_memory.note.tagging import TagVocabulary
    from agent_memory.pipelines.backfill import BackfillIo, Watching, WatchIo, plan_backfill, put_backfill, watch
    from agent_memory.pipelines.consolidate import ConsolidateIo, consolidate, steps
    from agent_memory.pipelines.defrag import DefragIo, defrag
    from agent_memory.pipelines.undo import UndoIo, undo
    from agent_memory.ports import Agent, Clock, Embedder, HistorySource, Recorder, SessionFinder
    from agent_memory.recall.assembling import Injection
    from agent_memory.recall.candidates import InjectRequest
    from agent_memory.recall.hits import Mode, ScorePart, SearchAnswer, SearchHit, SearchRequest, Snippet
    from agent_memory.recall.known_notes import KnownNotes
    from agent_memory.recall.reading import ListedEntries, ListFilter, ReadEntry, Reading, ShownEntry
    from agent_memory.recall.searching import Searching
    from agent_memory.rules.change import (
        Applied,
        Change,
        ChangeGroup,
        Dropped,
        Published,
        Receipt,
        SectionBudget,
        Target,
    )
    from agent_memory.rules.drafts import Expiry, MetaPatch, NoteDraft
    from agent_memory.rules.findings import Analysis, Finding
    from agent_memory.rules.plan import (
        Action,
        AgentReply,
        AgentRequest,
        DefragPlan,
        DefragProposal,
        DefragRequest,
        Plan,
        SessionRequest,
    )
    from agent_memory.rules.run import DefragRun, Run, Settled
    from agent_memory.section.publishing import Publisher
    from agent_memory.section.targets import Targets
    from agent_memory.session.found_session import Backfill, FoundSession, Rest
    from agent_memory.session.history import History, Role, SessionMark, ToolCall, Turn
    from agent_memory.session.queue import (
        AmpThread,
        Context,
        FileSnapshot,
        InboxEntry,
        InlineNote,
        Outcome,
        Pending,
        SessionFile,
        Trouble,
    )
    from agent_memory.store.bookkeeping import SessionMarks, StateValue
    from agent_memory.store.kept_histories_files import KeptHistories
    from agent_memory.store.run_files import DefragRecords, RunLog, RunRecords
    from agent_memory.store.store_files import Store
    from agent_memory.store.usage_ledger import UsageLedger

__all__ = [
    "Action", "Agent", "AgentReply", "AgentRequest", "AmpThread", "Analysis", "Applied", "Backfill", "BackfillIo",
    "BuiltinAgent", "Caller", "Change", "ChangeGroup", "Clock", "Config", "Consolidate", "ConsolidateIo", "Context",
    "Defrag", "DefragIo", "DefragPlan", "DefragProposal", "DefragRecords", "DefragRequest", "DefragRun", "Dropped",
    "Embedder", "Error", "Expiry", "FileSnapshot", "Finding", "FoundSession", "Harness", "History", "HistorySource",
    "Importance", "Inbox", "InboxEntry", "InjectRequest", "Injection", "InlineNote", "KeptHistories", "Kind",
    "KnownNotes", "ListFilter", "Listed", "ListedEntries", "Listing", "Locks", "Memory", "MemoryEntry",
    "MemoryService", "Meta", "MetaPatch", "Mode", "Model", "NoteDraft", "Origin", "Outcome", "Pending", "Pipeline",
    "Plan", "Published", "Publisher", "ReadEntry", "Reading", "Receipt", "Recorder", "Remembered", "Rest", "Role",
    "Run", "RunLog", "RunRecords", "ScorePart", "SearchAnswer", "SearchHit", "SearchRequest", "Searching",
    "SectionBudget", "Sensitivity", "SessionFile", "SessionFinder", "SessionMark", "SessionMarks", "SessionRequest",
    "Settled", "ShownEntry", "Snippet", "Source", "StateValue", "Status", "Store", "StoredEntry", "TagVocabulary",
    "Target", "Targets", "Tier", "TierList", "ToolCall", "Trouble", "Turn", "UndoIo", "Usage", "UsageLedger",
    "WatchIo", "Watching", "consolidate", "defrag", "drive", "open_memory", "plan_backfill", "put_backfill",
    "steps", "undo", "watch",
]  # fmt: skip


def homes_in(path: str) -> dict[str, str]:
    """Returns the module of each name that a source file imports from this package, for type checkers or at run time."""
    import ast

    with open(path, encoding="utf-8") as file:
        nodes = ast.walk(ast.parse(file.read()))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    ours = ((each.module, each.names) for each in imports if each.module and each.module.startswith(__name__))
    return {alias.name: module for module, names in ours for alias in names}


def __getattr__(name: str) -> object:
    home = homes_in(__file__).get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *homes_in(__file__)])
