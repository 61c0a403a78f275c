"""What the path of a transcript says: which harness keeps it, and of a sub-agent's, which session started it.

Only the last parts of a path count, since every harness can be told to keep its files elsewhere. Free of imports, since
capture uses it inside every turn of every agent.
"""


def keeper_of(path: str) -> str | None:
    """The harness that names its transcripts in this way; None for a path that says nothing."""
    *above, name = path.split("/")[-4:]
    if "agent-transcripts" in above:
        return "cursor"
    if name.startswith("rollout-"):
        return "codex"
    if "chats" in above[-2:] and name.endswith((".json", ".jsonl")):
        return "gemini"
    if "session-state" in above[-2:]:
        return "copilot"
    return "claude-code" if above[-2:-1] == ["projects"] and name.endswith(".jsonl") else None


def root_session(path: str) -> tuple[str, str | None] | None:
    """The id of the session that started the sub-agent whose transcript this is, and its own transcript where the path
    tells it; None for a root's.

    `<session>/subagents/<sub-agent>.jsonl` (Claude Code, whose workflows are one level deeper, and Cursor), and
    `chats/<session>/<sub-agent>.jsonl` (Gemini).
    """
    parts = path.split("/")
    for at in (-2, -3):
        if len(parts) > 1 - at and parts[at] == "subagents":
            session, around = parts[at - 1], "/".join(parts[: at - 1])
            inside = parts[at - 2] == "agent-transcripts"
            return session, f"{around}/{session}/{session}.jsonl" if inside else f"{around}/{session}.jsonl"
    if len(parts) > 3 and parts[-3] == "chats":
        return parts[-2], None
    return None
