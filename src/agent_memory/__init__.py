"""agent-memory: the memory that coding agents share, as plain markdown in a git repository.

Another program embeds it by building the machines over its own adapters: `ConsolidateIo` and `DefragIo` name them, `consolidate` and
`defrag` run them, `ports` says what each must do, and the `Dict…` adapters keep everything in memory. Public names are loaded on first
use: importing this package costs nothing, since `memory capture` runs inside every turn of every agent.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.adapters.agent.builtin_agent import BuiltinAgent as BuiltinAgent
    from agent_memory.adapters.disk.dict_locks import DictLocks as DictLocks
    from agent_memory.adapters.git.dict_recorder import DictRecorder as DictRecorder
    from agent_memory.adapters.harness.dict_finder import DictFinder as DictFinder
    from agent_memory.adapters.harness.dict_histories import DictHistories as DictHistories
    from agent_memory.adapters.inbox.dict_inbox import DictInbox as DictInbox
    from agent_memory.adapters.records.dict_defrag_records import DictDefragRecords as DictDefragRecords
    from agent_memory.adapters.records.dict_kept_histories import DictKeptHistories as DictKeptHistories
    from agent_memory.adapters.records.dict_run_log import DictRunLog as DictRunLog
    from agent_memory.adapters.records.dict_run_records import DictRunRecords as DictRunRecords
    from agent_memory.adapters.records.dict_session_marks import DictSessionMarks as DictSessionMarks
    from agent_memory.adapters.records.dict_spend_ledger import DictSpendLedger as DictSpendLedger
    from agent_memory.adapters.records.dict_state_keys import DictStateKeys as DictStateKeys
    from agent_memory.adapters.records.dict_tag_vocabulary import DictTagVocabulary as DictTagVocabulary
    from agent_memory.adapters.records.dict_usage_ledger import DictUsageLedger as DictUsageLedger
    from agent_memory.adapters.store.dict_store import DictStore as DictStore
    from agent_memory.adapters.targets.dict_targets import DictTargets as DictTargets
    from agent_memory.bootstrap import Memory as Memory, open_memory as open_memory
    from agent_memory.config import Config as Config
    from agent_memory.domain.actions import Action as Action, DefragProposal as DefragProposal
    from agent_memory.domain.agent_request import (
        AgentReply as AgentReply,
        AgentRequest as AgentRequest,
        DefragRequest as DefragRequest,
        SessionRequest as SessionRequest,
    )
    from agent_memory.domain.backfill import Backfill as Backfill
    from agent_memory.domain.change import (
        Applied as Applied,
        Change as Change,
        Create as Create,
        Dropped as Dropped,
        Receipt as Receipt,
        Replace as Replace,
        Restore as Restore,
        Retire as Retire,
        Together as Together,
    )
    from agent_memory.domain.defrag_plan import DefragPlan as DefragPlan
    from agent_memory.domain.defrag_run import DefragRun as DefragRun
    from agent_memory.domain.entry import (
        Listed as Listed,
        Listing as Listing,
        MemoryEntry as MemoryEntry,
        Meta as Meta,
        Source as Source,
        StoredEntry as StoredEntry,
        Usage as Usage,
    )
    from agent_memory.domain.findings import Analysis as Analysis, Finding as Finding
    from agent_memory.domain.found_session import FoundSession as FoundSession
    from agent_memory.domain.history import (
        History as History,
        Role as Role,
        SessionMark as SessionMark,
        ToolCall as ToolCall,
        Turn as Turn,
    )
    from agent_memory.domain.inbox_entry import (
        AmpThread as AmpThread,
        Context as Context,
        FileSnapshot as FileSnapshot,
        InboxEntry as InboxEntry,
        InlineNote as InlineNote,
        OpencodeSession as OpencodeSession,
        SessionFile as SessionFile,
    )
    from agent_memory.domain.injecting.passage import Injection as Injection
    from agent_memory.domain.injecting.request import InjectRequest as InjectRequest
    from agent_memory.domain.note_draft import (
        Caller as Caller,
        Expiry as Expiry,
        MetaPatch as MetaPatch,
        NoteDraft as NoteDraft,
    )
    from agent_memory.domain.plan import Plan as Plan
    from agent_memory.domain.queue import Outcome as Outcome, Pending as Pending, Trouble as Trouble
    from agent_memory.domain.run import Run as Run, Settled as Settled
    from agent_memory.domain.searching.search_answer import (
        ScorePart as ScorePart,
        SearchAnswer as SearchAnswer,
        SearchHit as SearchHit,
        Snippet as Snippet,
    )
    from agent_memory.domain.searching.search_request import Mode as Mode, SearchRequest as SearchRequest
    from agent_memory.domain.section import Published as Published, SectionBudget as SectionBudget, Target as Target
    from agent_memory.domain.state_value import StateValue as StateValue
    from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary as TagVocabulary
    from agent_memory.domain.tiers import Tier as Tier, TierList as TierList
    from agent_memory.domain.vocabulary import (
        Harness as Harness,
        Importance as Importance,
        Kind as Kind,
        Origin as Origin,
        Sensitivity as Sensitivity,
        Status as Status,
    )
    from agent_memory.domain.watching import Rest as Rest
    from agent_memory.errors import Error as Error
    from agent_memory.known_notes import KnownNotes as KnownNotes
    from agent_memory.machines.consolidate import Consolidate as Consolidate
    from agent_memory.machines.defrag import Defrag as Defrag
    from agent_memory.machines.pipeline import Model as Model, Pipeline as Pipeline
    from agent_memory.pipelines.backfill import plan_backfill as plan_backfill, put_backfill as put_backfill
    from agent_memory.pipelines.backfill_io import BackfillIo as BackfillIo
    from agent_memory.pipelines.consolidate import consolidate as consolidate, steps as steps
    from agent_memory.pipelines.consolidate_io import ConsolidateIo as ConsolidateIo
    from agent_memory.pipelines.defrag import defrag as defrag
    from agent_memory.pipelines.defrag_io import DefragIo as DefragIo
    from agent_memory.pipelines.driver import drive as drive
    from agent_memory.pipelines.undo import undo as undo
    from agent_memory.pipelines.undo_io import UndoIo as UndoIo
    from agent_memory.pipelines.watch import Watching as Watching, WatchIo as WatchIo, watch as watch
    from agent_memory.ports import (
        Agent as Agent,
        Clock as Clock,
        DefragRecords as DefragRecords,
        Embedder as Embedder,
        HistorySource as HistorySource,
        Inbox as Inbox,
        Index as Index,
        KeptHistories as KeptHistories,
        KeptVocabulary as KeptVocabulary,
        Locks as Locks,
        Meanings as Meanings,
        Places as Places,
        Recorder as Recorder,
        RunLog as RunLog,
        RunRecords as RunRecords,
        SessionFinder as SessionFinder,
        SessionMarks as SessionMarks,
        SpendLedger as SpendLedger,
        StateKeys as StateKeys,
        Store as Store,
        Targets as Targets,
        UsageLedger as UsageLedger,
    )
    from agent_memory.publishing import Publisher as Publisher
    from agent_memory.reading import (
        ListedEntries as ListedEntries,
        ListFilter as ListFilter,
        ReadEntry as ReadEntry,
        Reading as Reading,
        ShownEntry as ShownEntry,
    )
    from agent_memory.searching import Searching as Searching
    from agent_memory.service import MemoryService as MemoryService, Remembered as Remembered
    from agent_memory.wording import describe as describe

_HOMES = {
    "Action": "agent_memory.domain.actions",
    "Agent": "agent_memory.ports",
    "AgentReply": "agent_memory.domain.agent_request",
    "AgentRequest": "agent_memory.domain.agent_request",
    "AmpThread": "agent_memory.domain.inbox_entry",
    "Analysis": "agent_memory.domain.findings",
    "Applied": "agent_memory.domain.change",
    "Backfill": "agent_memory.domain.backfill",
    "BackfillIo": "agent_memory.pipelines.backfill_io",
    "BuiltinAgent": "agent_memory.adapters.agent.builtin_agent",
    "Caller": "agent_memory.domain.note_draft",
    "Change": "agent_memory.domain.change",
    "Clock": "agent_memory.ports",
    "Config": "agent_memory.config",
    "Consolidate": "agent_memory.machines.consolidate",
    "ConsolidateIo": "agent_memory.pipelines.consolidate_io",
    "Context": "agent_memory.domain.inbox_entry",
    "Create": "agent_memory.domain.change",
    "Defrag": "agent_memory.machines.defrag",
    "DefragIo": "agent_memory.pipelines.defrag_io",
    "DefragPlan": "agent_memory.domain.defrag_plan",
    "DefragProposal": "agent_memory.domain.actions",
    "DefragRecords": "agent_memory.ports",
    "DefragRequest": "agent_memory.domain.agent_request",
    "DefragRun": "agent_memory.domain.defrag_run",
    "DictDefragRecords": "agent_memory.adapters.records.dict_defrag_records",
    "DictFinder": "agent_memory.adapters.harness.dict_finder",
    "DictHistories": "agent_memory.adapters.harness.dict_histories",
    "DictInbox": "agent_memory.adapters.inbox.dict_inbox",
    "DictKeptHistories": "agent_memory.adapters.records.dict_kept_histories",
    "DictLocks": "agent_memory.adapters.disk.dict_locks",
    "DictRecorder": "agent_memory.adapters.git.dict_recorder",
    "DictRunLog": "agent_memory.adapters.records.dict_run_log",
    "DictRunRecords": "agent_memory.adapters.records.dict_run_records",
    "DictSessionMarks": "agent_memory.adapters.records.dict_session_marks",
    "DictSpendLedger": "agent_memory.adapters.records.dict_spend_ledger",
    "DictStore": "agent_memory.adapters.store.dict_store",
    "DictTagVocabulary": "agent_memory.adapters.records.dict_tag_vocabulary",
    "DictTargets": "agent_memory.adapters.targets.dict_targets",
    "DictStateKeys": "agent_memory.adapters.records.dict_state_keys",
    "DictUsageLedger": "agent_memory.adapters.records.dict_usage_ledger",
    "Dropped": "agent_memory.domain.change",
    "Embedder": "agent_memory.ports",
    "Error": "agent_memory.errors",
    "Expiry": "agent_memory.domain.note_draft",
    "FileSnapshot": "agent_memory.domain.inbox_entry",
    "Finding": "agent_memory.domain.findings",
    "FoundSession": "agent_memory.domain.found_session",
    "Harness": "agent_memory.domain.vocabulary",
    "History": "agent_memory.domain.history",
    "HistorySource": "agent_memory.ports",
    "Importance": "agent_memory.domain.vocabulary",
    "Inbox": "agent_memory.ports",
    "InboxEntry": "agent_memory.domain.inbox_entry",
    "Index": "agent_memory.ports",
    "InjectRequest": "agent_memory.domain.injecting.request",
    "Injection": "agent_memory.domain.injecting.passage",
    "InlineNote": "agent_memory.domain.inbox_entry",
    "KeptHistories": "agent_memory.ports",
    "KeptVocabulary": "agent_memory.ports",
    "Kind": "agent_memory.domain.vocabulary",
    "KnownNotes": "agent_memory.known_notes",
    "ListFilter": "agent_memory.reading",
    "Listed": "agent_memory.domain.entry",
    "ListedEntries": "agent_memory.reading",
    "Listing": "agent_memory.domain.entry",
    "Locks": "agent_memory.ports",
    "Meanings": "agent_memory.ports",
    "Memory": "agent_memory.bootstrap",
    "MemoryEntry": "agent_memory.domain.entry",
    "MemoryService": "agent_memory.service",
    "Meta": "agent_memory.domain.entry",
    "MetaPatch": "agent_memory.domain.note_draft",
    "Mode": "agent_memory.domain.searching.search_request",
    "Model": "agent_memory.machines.pipeline",
    "NoteDraft": "agent_memory.domain.note_draft",
    "OpencodeSession": "agent_memory.domain.inbox_entry",
    "Origin": "agent_memory.domain.vocabulary",
    "Outcome": "agent_memory.domain.queue",
    "Pending": "agent_memory.domain.queue",
    "Pipeline": "agent_memory.machines.pipeline",
    "Places": "agent_memory.ports",
    "Plan": "agent_memory.domain.plan",
    "Published": "agent_memory.domain.section",
    "Publisher": "agent_memory.publishing",
    "ReadEntry": "agent_memory.reading",
    "Reading": "agent_memory.reading",
    "Receipt": "agent_memory.domain.change",
    "Recorder": "agent_memory.ports",
    "Remembered": "agent_memory.service",
    "Replace": "agent_memory.domain.change",
    "Rest": "agent_memory.domain.watching",
    "Restore": "agent_memory.domain.change",
    "Retire": "agent_memory.domain.change",
    "Role": "agent_memory.domain.history",
    "Run": "agent_memory.domain.run",
    "RunLog": "agent_memory.ports",
    "RunRecords": "agent_memory.ports",
    "ScorePart": "agent_memory.domain.searching.search_answer",
    "SearchAnswer": "agent_memory.domain.searching.search_answer",
    "SearchHit": "agent_memory.domain.searching.search_answer",
    "SearchRequest": "agent_memory.domain.searching.search_request",
    "Searching": "agent_memory.searching",
    "SectionBudget": "agent_memory.domain.section",
    "Sensitivity": "agent_memory.domain.vocabulary",
    "SessionFile": "agent_memory.domain.inbox_entry",
    "SessionFinder": "agent_memory.ports",
    "SessionMark": "agent_memory.domain.history",
    "SessionMarks": "agent_memory.ports",
    "SessionRequest": "agent_memory.domain.agent_request",
    "Settled": "agent_memory.domain.run",
    "ShownEntry": "agent_memory.reading",
    "Snippet": "agent_memory.domain.searching.search_answer",
    "Source": "agent_memory.domain.entry",
    "SpendLedger": "agent_memory.ports",
    "StateKeys": "agent_memory.ports",
    "StateValue": "agent_memory.domain.state_value",
    "Status": "agent_memory.domain.vocabulary",
    "Store": "agent_memory.ports",
    "StoredEntry": "agent_memory.domain.entry",
    "TagVocabulary": "agent_memory.domain.tagging.tag_vocabulary",
    "Target": "agent_memory.domain.section",
    "Targets": "agent_memory.ports",
    "Tier": "agent_memory.domain.tiers",
    "TierList": "agent_memory.domain.tiers",
    "Together": "agent_memory.domain.change",
    "ToolCall": "agent_memory.domain.history",
    "Trouble": "agent_memory.domain.queue",
    "Turn": "agent_memory.domain.history",
    "UndoIo": "agent_memory.pipelines.undo_io",
    "Usage": "agent_memory.domain.entry",
    "UsageLedger": "agent_memory.ports",
    "WatchIo": "agent_memory.pipelines.watch",
    "Watching": "agent_memory.pipelines.watch",
    "consolidate": "agent_memory.pipelines.consolidate",
    "defrag": "agent_memory.pipelines.defrag",
    "describe": "agent_memory.wording",
    "drive": "agent_memory.pipelines.driver",
    "open_memory": "agent_memory.bootstrap",
    "plan_backfill": "agent_memory.pipelines.backfill",
    "put_backfill": "agent_memory.pipelines.backfill",
    "steps": "agent_memory.pipelines.consolidate",
    "undo": "agent_memory.pipelines.undo",
    "watch": "agent_memory.pipelines.watch",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
