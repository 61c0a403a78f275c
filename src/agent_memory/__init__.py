"""agent-memory: the memory that coding agents share, as plain markdown in a git repository.

Another program embeds it by building the machines over its own adapters: `ConsolidateIo` and `DefragIo` name them, `consolidate` and
`defrag` run them, and `ports` says what each must do. Public names are loaded on first use: importing this package costs nothing, since
`memory capture` runs inside every turn of every agent.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.acts.service import MemoryService as MemoryService, Remembered as Remembered
    from agent_memory.agent.agent_command import BuiltinAgent as BuiltinAgent
    from agent_memory.app import Memory as Memory, open_memory as open_memory
    from agent_memory.caller import Caller as Caller
    from agent_memory.capture.inbox_files import Inbox as Inbox
    from agent_memory.config import Config as Config
    from agent_memory.errors import Error as Error
    from agent_memory.files.locks import Locks as Locks
    from agent_memory.machines import (
        Consolidate as Consolidate,
        Defrag as Defrag,
        Model as Model,
        Pipeline as Pipeline,
        drive as drive,
    )
    from agent_memory.note.note import (
        Harness as Harness,
        Importance as Importance,
        Kind as Kind,
        Listed as Listed,
        Listing as Listing,
        MemoryEntry as MemoryEntry,
        Meta as Meta,
        Origin as Origin,
        Sensitivity as Sensitivity,
        Source as Source,
        Status as Status,
        StoredEntry as StoredEntry,
        Tier as Tier,
        TierList as TierList,
        Usage as Usage,
    )
    from agent_memory.note.tagging import TagVocabulary as TagVocabulary
    from agent_memory.pipelines.backfill import (
        BackfillIo as BackfillIo,
        Watching as Watching,
        WatchIo as WatchIo,
        plan_backfill as plan_backfill,
        put_backfill as put_backfill,
        watch as watch,
    )
    from agent_memory.pipelines.consolidate import (
        ConsolidateIo as ConsolidateIo,
        consolidate as consolidate,
        steps as steps,
    )
    from agent_memory.pipelines.defrag import DefragIo as DefragIo, defrag as defrag
    from agent_memory.pipelines.undo import UndoIo as UndoIo, undo as undo
    from agent_memory.ports import (
        Agent as Agent,
        Clock as Clock,
        Embedder as Embedder,
        HistorySource as HistorySource,
        Recorder as Recorder,
        SessionFinder as SessionFinder,
    )
    from agent_memory.recall.assembling import Injection as Injection
    from agent_memory.recall.candidates import InjectRequest as InjectRequest
    from agent_memory.recall.known_notes import KnownNotes as KnownNotes
    from agent_memory.recall.reading import (
        ListedEntries as ListedEntries,
        ListFilter as ListFilter,
        ReadEntry as ReadEntry,
        Reading as Reading,
        ShownEntry as ShownEntry,
    )
    from agent_memory.recall.search_values import (
        Mode as Mode,
        ScorePart as ScorePart,
        SearchAnswer as SearchAnswer,
        SearchHit as SearchHit,
        SearchRequest as SearchRequest,
    )
    from agent_memory.recall.searching import Searching as Searching
    from agent_memory.recall.snippet import Snippet as Snippet
    from agent_memory.rules.agent_request import (
        AgentReply as AgentReply,
        AgentRequest as AgentRequest,
        DefragRequest as DefragRequest,
        SessionRequest as SessionRequest,
    )
    from agent_memory.rules.change import (
        Applied as Applied,
        Change as Change,
        ChangeGroup as ChangeGroup,
        Dropped as Dropped,
        Receipt as Receipt,
    )
    from agent_memory.rules.drafts import Expiry as Expiry, MetaPatch as MetaPatch, NoteDraft as NoteDraft
    from agent_memory.rules.findings import Analysis as Analysis, Finding as Finding
    from agent_memory.rules.plan import (
        Action as Action,
        DefragPlan as DefragPlan,
        DefragProposal as DefragProposal,
        Plan as Plan,
    )
    from agent_memory.rules.run import DefragRun as DefragRun, Run as Run, Settled as Settled
    from agent_memory.rules.section import Published as Published, SectionBudget as SectionBudget, Target as Target
    from agent_memory.section.publishing import Publisher as Publisher
    from agent_memory.section.targets import Targets as Targets
    from agent_memory.session.found_session import Backfill as Backfill, FoundSession as FoundSession, Rest as Rest
    from agent_memory.session.history import (
        History as History,
        Role as Role,
        SessionMark as SessionMark,
        ToolCall as ToolCall,
        Turn as Turn,
    )
    from agent_memory.session.queue import (
        AmpThread as AmpThread,
        Context as Context,
        FileSnapshot as FileSnapshot,
        InboxEntry as InboxEntry,
        InlineNote as InlineNote,
        Outcome as Outcome,
        Pending as Pending,
        SessionFile as SessionFile,
        Trouble as Trouble,
    )
    from agent_memory.store.bookkeeping import SessionMarks as SessionMarks, StateValue as StateValue
    from agent_memory.store.kept_histories_files import KeptHistories as KeptHistories
    from agent_memory.store.run_files import DefragRecords as DefragRecords, RunLog as RunLog, RunRecords as RunRecords
    from agent_memory.store.store_files import Store as Store
    from agent_memory.store.usage_ledger import UsageLedger as UsageLedger


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
