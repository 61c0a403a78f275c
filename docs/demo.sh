#!/bin/sh
# The main job on the bundled sample session, in a throw-away home: capture, consolidate, look.
# Touches nothing outside a temporary directory, and needs no account, no network and no language model.
set -eu
place=$(mktemp -d "${TMPDIR:-/tmp}/agent-memory-demo.XXXXXX")
export HOME="$place/home" AGENT_MEMORY_ROOT="$place/home/memories"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR AGENT_MEMORY_DEPTH 2>/dev/null || true
session=5f0c2b7e-3d41-4a86-9c1f-2e8d7b6a9054
transcripts="$HOME/.claude/projects/-home-dana-parcels"
mkdir -p "$transcripts" "$HOME/parcels"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

memory sample > "$transcripts/$session.jsonl"

say '1. A Claude Code session ends. Its hook runs: memory capture --harness claude-code --hook'
printf '{"hook_event_name": "SessionEnd", "session_id": "%s", "transcript_path": "%s", "cwd": "%s", "reason": "other"}' \
  "$session" "$transcripts/$session.jsonl" "$HOME/parcels" | memory capture --harness claude-code --hook
ls "$AGENT_MEMORY_ROOT/inbox"

say '2. Cron runs: memory consolidate'
memory consolidate

say '3. The notes: memory list'
memory list

say '4. As files, which are yours'
for note in "$AGENT_MEMORY_ROOT"/topics/*.md; do
  printf '\n--- %s\n' "${note##*/}"
  cat "$note"
done

say '5. Every change is a commit: git log'
git -C "$AGENT_MEMORY_ROOT" log --format='%h %s%n%w(0,4,4)%b' --stat=100

say 'What to do next'
cat <<EOF
This store is in $AGENT_MEMORY_ROOT; throw it away with: rm -r $place
For your own sessions, put this into the hooks of ~/.claude/settings.json (Stop and SessionEnd):
    {"type": "command", "command": "memory capture --harness claude-code --hook", "timeout": 10}
and run \`memory consolidate\` now and then. Notes get better with your own model behind it:
    ~/.config/agent-memory/config.json: {"llm": {"preset": "claude"}}
EOF
