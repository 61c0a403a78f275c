#!/bin/sh
# The main job on a sample session, in a throw-away home: capture, consolidate, look.
# Touches nothing outside a temporary directory, and needs no account, no network and no language model.
# Usage: sh docs/demo/run.sh, with `memory` on the PATH; `make demo` sees to that.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in memory git; do
  command -v "$tool" > /dev/null || { echo "The demo needs $tool on the PATH; \`make demo\` sets memory up." >&2; exit 1; }
done

place=$(mktemp -d "${TMPDIR:-/tmp}/agent-memory-demo.XXXXXX")
# Nothing that the caller's environment says may lead out of that place.
for name in $(env | awk -F= '/^(AGENT_MEMORY|CLAUDE|GIT|XDG)_[A-Za-z0-9_]*=/ { print $1 }'); do unset "$name"; done
export HOME="$place/home" AGENT_MEMORY_ROOT="$place/home/memories"
session=b19c5100-4b94-45e6-bd8c-ad7d7f3c7591
project="$HOME/tidetable"
transcript="$HOME/.claude/projects/-home-mara-code-tidetable/$session.jsonl"

say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
bold='' plain=''
if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi

# A project, and the transcript that Claude Code wrote while Mara worked on it.
mkdir -p "$project" "${transcript%/*}"
git init --quiet "$project"
git -C "$project" remote add origin https://github.com/mara/tidetable.git
cp "$here/session.jsonl" "$transcript"

say '1. A session of Claude Code ends, and its hook runs: memory capture --harness claude-code --hook'
printf '{"hook_event_name": "SessionEnd", "session_id": "%s", "transcript_path": "%s", "cwd": "%s", "reason": "other"}' \
  "$session" "$transcript" "$project" | memory capture --harness claude-code --hook
ls "$AGENT_MEMORY_ROOT/inbox" || { cat "$HOME/.local/state/agent-memory/hook-log.jsonl" >&2; exit 1; }

say '2. Now and then, cron runs: memory consolidate'
memory consolidate

say '3. What was kept: memory list'
memory list

say '4. Notes are files, and yours: topics/*.md'
for note in "$AGENT_MEMORY_ROOT"/topics/*.md; do
  printf '\n%s── %s%s\n' "$bold" "${note##*/}" "$plain"
  cat "$note"
done

say '5. Every change is a commit: git log'
git --no-pager -C "$AGENT_MEMORY_ROOT" log --format='%h %an: %s%n%n%w(0,4,4)%b'

say 'What to do next'
cat << NEXT
  Look around here:    AGENT_MEMORY_ROOT='$AGENT_MEMORY_ROOT' '$(command -v memory)' status
  Throw it away:       rm -r '$place'
  Install it:          uv tool install .    or    pipx install .
  Capture sessions:    memory setup          (hooks of the harnesses on this machine; asks first)
  Make them notes:     memory schedule on    (every two hours, by the machine's own scheduler)
  Use your own model:  {"llm": {"preset": "claude"}} in ~/.config/agent-memory/config.json makes the notes better
  Read on:             docs/tutorial.md: what one session learns, the next one knows
NEXT
