"""The events that Copilot CLI records and that say nothing about the work (versions 0.0.420 to 1.0.8x)."""

from __future__ import annotations

SILENT_EVENTS = frozenset(
    (
        *("abort", "pending_messages.modified", "skill.invoked", "hook.start", "hook.end", "hook.progress"),
        *("system.message", "system.notification"),
        *(
            f"session.{name}"
            for name in (
                *("autopilot_objective_changed", "auto_mode_resolved", "background_tasks_changed", "binary_asset"),
                *("context_cleared", "custom_agents_updated", "custom_notification", "error", "extensions_loaded"),
                *("handoff", "idle", "import_legacy", "info", "mcp_server_status_changed", "mcp_servers_loaded"),
                *("mode_changed", "permissions_changed", "plan_changed", "remote_steerable_changed"),
                *("schedule_cancelled", "schedule_created", "schedule_rearmed", "session_limits_changed", "shutdown"),
                *("skills_loaded", "snapshot_rewind", "task_complete", "todos_changed", "tools_updated", "truncation"),
                *("usage_checkpoint", "usage_info", "warning", "workspace_file_changed"),
            )
        ),
        *(
            f"assistant.{name}"
            for name in (
                *("intent", "message_delta", "message_start", "reasoning", "reasoning_delta", "streaming_delta"),
                *("turn_end", "turn_retry", "turn_start", "usage", "tool_call_delta"),
            )
        ),
        *("model.call_failure", "tool.execution_partial_result", "tool.execution_progress"),
        *("capabilities.changed", "commands.changed", "sampling.requested", "sampling.completed"),
        *("command.queued", "command.execute", "command.completed", "mcp.oauth_required", "mcp.oauth_completed"),
        *("elicitation.requested", "elicitation.completed", "user_input.requested", "user_input.completed"),
        *("exit_plan_mode.requested", "exit_plan_mode.completed", "external_tool.requested", "external_tool.completed"),
        *("permission.requested", "permission.completed"),
        *("auto_mode_switch.requested", "auto_mode_switch.completed"),
    )
)
"""Among them `hook.*`, nearly half of all, which repeat what was typed, and `session.snapshot_rewind`: what was rewound is
removed from the file."""

SUBAGENT_EVENTS = frozenset(
    ("subagent.started", "subagent.completed", "subagent.failed", "subagent.selected", "subagent.deselected")
)

COMPACTION_EVENTS = frozenset(("session.compaction_start", "session.compaction_complete"))
