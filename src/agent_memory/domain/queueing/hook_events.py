"""Which events of a harness record a session, by their names.

An entry is only a hint that a session has content, several fold into one, and end events get lost on every harness. So every
event of a session counts (the turn's end, which is the checkpoint; the session's end; compaction, a failed turn, a prompt, an
event that we have never heard of), except those that can say nothing new: the ones in the midst of a turn, whose end follows,
and the start of a session that is still empty. Free of imports, since capture uses it inside every turn of every agent.
"""

MID_TURN_EVENTS = frozenset(
    (
        # Claude Code, Codex, Copilot, Goose
        *("pretooluse", "posttooluse", "posttoolusefailure", "posttoolbatch", "tooluse"),
        *("permissionrequest", "permissiondenied", "notification", "subagentstart", "cwdchanged", "filechanged"),
        *("configchange", "instructionsloaded", "taskcreated", "elicitation", "elicitationresult"),
        *("worktreecreate", "worktreeremove"),
        # Gemini
        *("beforetool", "aftertool", "beforetoolselection", "beforemodel", "aftermodel"),
        # Cursor
        *("beforeshellexecution", "aftershellexecution", "beforemcpexecution", "aftermcpexecution", "beforereadfile"),
        *("afterfileedit", "beforetabfileread", "aftertabfileedit", "afteragentthought", "afteragentresponse"),
        # Amp, opencode, Pi
        *("toolcall", "toolresult", "toolexecutebefore", "toolexecuteafter", "toolexecutionstart", "toolexecutionend"),
        *("messageupdated", "messageremoved", "messagepartupdated", "messagepartremoved", "messagepartdelta"),
        *("messagestart", "messageupdate", "messageend", "turnstart", "context", "modelselect"),
        *("sessioncreated", "sessionupdated", "sessionstatus", "sessiondiff", "sessiondeleted", "fileedited"),
        *("todoupdated", "permissionasked", "permissionupdated", "permissionreplied", "filewatcherupdated"),
    )
)
"""Plain names, as the harnesses' documents list their events. Among them those that make, describe or delete a session."""

STARTS_WITH_CONTENT = frozenset(("resume", "compact"))
"""The `source` of session starts that go on with a session; `startup`, `clear`, `new` and `fork` begin an empty one."""


def plain_name(event: str) -> str:
    """One spelling of an event's name: `session_start`, `session.start` and `SessionStart` are `sessionstart`."""
    return event.casefold().replace(".", "").replace("_", "").replace("-", "")


def says_nothing_new(event: str, source: object, agent_type: object) -> bool:
    """Whether an event needs no entry. `agent_type` is "" for the helper that writes a compaction's summary, which is no
    sub-agent of the person's."""
    name = plain_name(event)
    if name == "sessionstart":
        return not (isinstance(source, str) and source in STARTS_WITH_CONTENT)
    if name == "subagentstop":
        return agent_type == ""
    return name in MID_TURN_EVENTS
