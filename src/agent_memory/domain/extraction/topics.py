"""Tags of a note: the technologies and subjects that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_TAGS = 4

# Names that are also common words (go, node, express, spring …) are left out: they are tags only by the files' language.
_TECHNOLOGY_NAMES = """
    android angular ansible apache astro aws azure babel bash bazel bun celery chrome clickhouse cloudflare cmake cron
    css cuda cypress datadog deno django docker duckdb elasticsearch electron elixir esbuild eslint expo fastapi ffmpeg
    figma firebase flask flutter gcp gemini git github gitlab golang gradle grafana graphql grpc haskell helm heroku
    html hypothesis ios java javascript jenkins jest jira jwt kafka keycloak kotlin kubernetes langchain laravel
    lefthook linux lua macos markdown maven mcp memcached mongodb mypy mysql nats neovim netlify nextjs nginx nix npm
    numpy nuxt oauth ollama openai opentelemetry pandas perl php playwright pnpm poetry posthog postgres postgresql
    powershell prettier prisma prometheus protobuf pulumi puppeteer pydantic pytest python pytorch rabbitmq rails react
    redis redux rollup ruby ruff rust s3 sass scala selenium sentry shadcn shellcheck shopify sidekiq snowflake solidity
    spark sql sqlalchemy sqlite ssh stripe supabase svelte swiftui systemd tailwind tauri tensorflow terraform toml tox
    typescript ubuntu uv vercel vim vite vitest vscode vue wasm webpack websocket xcode xstate yaml yarn zig zod zsh
"""
_TECHNOLOGIES = frozenset(_TECHNOLOGY_NAMES.split())
_SAME = {"postgresql": "postgres", "next.js": "nextjs", "k8s": "kubernetes", "websockets": "websocket"}
_SUBJECTS = {
    "testing": r"\b(?:tests?|testing|testes?|pytest|vitest|jest|fixtures?)\b",
    "ci": r"\b(?:CI|github actions|pipeline|workflow file)\b",
    "telemetry": r"\b(?:telemetry|analytics|telemetria)\b",
    "performance": r"\b(?:slow|latency|performance|faster|timeouts?|\d+ ?ms|lento|desempenho)\b",
    "security": r"\b(?:security|vulnerab\w+|csrf|xss|permissions?|segurança)\b",
    "database": r"\b(?:database|migrations?|schema|base de dados|banco de dados|migraç\w+)\b",
    "api": r"\b(?:(?-i:API|REST)|endpoints?)\b",
    "cli": r"\b(?:CLI|command line|linha de comandos?)\b|`--[a-z]",
    "hooks": r"\b(?:hooks?)\b",
    "docs": r"\b(?:documentation|readme|changelog|docs|documentação)\b",
    "deployment": r"\b(?:deploy\w*|release|rollback|staging|production|produção)\b",
    "time-zones": r"\b(?:time ?zones?|utc|daylight saving|dst|fusos? horários?)\b",
    "configuration": r"\b(?:config\w*|settings?|env(?:ironment)? variables?|configuraç\w+)\b",
    "code-style": r"\b(?:duplicat\w+ (?:code|logic)|naming|refactor\w*|code style|comments|formatting)\b",
}
_LANGUAGES = {
    "py": "python", "go": "go", "rs": "rust", "ts": "typescript", "tsx": "typescript", "js": "javascript",
    "jsx": "javascript", "java": "java", "kt": "kotlin", "rb": "ruby", "php": "php", "swift": "swift", "c": "c",
    "h": "c", "cpp": "c++", "cc": "c++", "cs": "c#", "sh": "shell", "sql": "sql", "css": "css", "html": "html",
    "tf": "terraform", "nix": "nix", "ex": "elixir", "dart": "dart", "vue": "vue", "svelte": "svelte", "lua": "lua",
}  # fmt: skip
_WORD = re.compile(r"(?<![\w.])[a-z][a-z0-9]*(?:\.js|\+\+|#)?")


def tags_of(text: str, files: Iterable[str] = ()) -> tuple[str, ...]:
    """At most four `topic__…` tags: technologies named, subjects, and the commonest language of the files."""
    words = dict.fromkeys(_SAME.get(word, word) for word in _WORD.findall(text.lower()))
    named = [word for word in words if word in _TECHNOLOGIES]
    subjects = [subject for subject, pattern in _SUBJECTS.items() if re.search(pattern, text, re.IGNORECASE)]
    found = dict.fromkeys((*named[:3], *subjects, *_language(files)))
    return tuple(f"topic__{name}" for name in tuple(found)[:MAX_TAGS])


def _language(files: Iterable[str]) -> tuple[str, ...]:
    endings = [_LANGUAGES[ending] for path in files if (ending := path.rsplit(".", 1)[-1].lower()) in _LANGUAGES]
    return (max(endings, key=endings.count),) if endings else ()
