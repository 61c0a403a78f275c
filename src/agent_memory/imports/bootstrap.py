"""`memory bootstrap`: what a checkout says about its project, as proposals, each with the lines or commits it rests on.

By rules, a proposal says what a newcomer finds out by opening several files or reading the history; a model is asked about
the same. Nothing is read through a link, and what instruction files tell agents anyway is not said again.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

from agent_memory.errors import PathRefused, RecorderFailed, StoreIo
from agent_memory.files.paths import path_in, read_image
from agent_memory.git.git_process import GitProcess
from agent_memory.harness.transcripts import files_below
from agent_memory.imports.base import SOURCES_LINE, Found, LeftOut, Record
from agent_memory.note.note import Harness, Importance, Kind, Listing
from agent_memory.ports import Agent
from agent_memory.prompt.prompt import Frame, PromptFacts, plan_prompt_budget, render_consolidate_prompt
from agent_memory.prompt.reply import parse_reply
from agent_memory.redaction.redact import redact
from agent_memory.results import unwrap
from agent_memory.rules.drafts import taken_ids
from agent_memory.rules.plan import PlanFacts, SessionRequest
from agent_memory.rules.plan_window import plan_window
from agent_memory.rules.shown import catalog_of, tag_vocabulary
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.own_marks import without_own_text
from agent_memory.session.queue import FileSnapshot, InboxEntry
from agent_memory.session.windows import cut_windows
from agent_memory.text.instants import day_of
from agent_memory.text.json_codec import NotJson, load_json
from agent_memory.text.json_shape import is_object
from agent_memory.text.markdown import derive_description, first_heading, prose_lines
from agent_memory.text.plain_text import first_few, one_line

_MOST_PROPOSALS, _MOST_LINES, _MOST_SOURCES, _MOST_READ = 10, 30, 6, 200
_WALK_DEPTH, _MOST_WALKED = 3, 50_000
_MOST_COMMITS, _LARGE_COMMIT = 1_000, 30
"""A commit of many files moves or formats them: it does not show that they belong together."""

Lines = Iterator[tuple[str, str]]
"""The lines of a proposal, each with where it comes from: `file:line`, or a commit."""


@define(slots=False)
class Checkout:
    """A directory of a project, and what its git knows. `key` is its scope."""

    root: str
    key: str
    environ: Mapping[str, str]
    left: dict[str, str] = field(factory=dict[str, str], init=False)
    """What could not be read, and why."""
    _texts: dict[str, str] = field(factory=dict[str, str], init=False)

    def proposals(self) -> Iterator[Found]:
        """Yields up to ten proposals, the most useful first, and what could not be read."""
        yield from islice(chain.from_iterable(self._proposed(*each) for each in _RULES), _MOST_PROPOSALS)
        yield from (LeftOut(name, reason) for name, reason in self.left.items())

    def _proposed(
        self, id: str, kind: Kind, title: str, tag: str, rule: Callable[[Checkout], Lines]
    ) -> Iterator[Record]:
        said = list({one_line(line, 400): source for line, source in islice(rule(self), _MOST_READ)}.items())
        fresh = [each for each in said if not self._is_told(each[0])]
        if 2 * len(fresh) < len(said) or (kind is Kind.PROJECT and fresh[:1] != said[:1]):
            return  # an instruction file covers the subject
        fresh = fresh[:_MOST_LINES]
        importance = Importance.HIGH if kind in (Kind.PROJECT, Kind.CONVENTION) else Importance.MEDIUM
        for lines in [fresh] if fresh and kind is not Kind.LESSON else [[each] for each in fresh]:
            own_id = f"{id}-{lines[0][1].split()[-1]}" if kind is Kind.LESSON else id
            about = re.split(r"(?<=\w[.!?]) | on \d{4}-", lines[0][0])[0].rstrip(".")
            name = one_line(title.format(name=self.name, line=about), 120)
            text = "\n".join(f"- {line}" for line, _ in lines) if len(lines) > 1 else lines[0][0]
            body = _with_sources(text, (source for _, source in lines))
            yield Record(f"{self.key}/{own_id}", body, name, "", kind, (tag,), place=self.root, importance=importance)

    def _is_told(self, line: str) -> bool:
        told = [text for name in self.named("AGENTS.md|CLAUDE.md") if (text := self.text(name))]
        words = re.findall(r"`([^`]+)`", line)
        return bool(told and words) and all(word in text for text in told for word in words)

    # -- files --------------------------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files that git knows, else those that lie a few directories deep; the uppermost first."""
        listed = self._git("ls-files", "-z").split("\0")[:-1]
        if not listed:
            walked = islice(files_below(self.root, _WALK_DEPTH), _MOST_WALKED)
            listed = [each[0].removeprefix(f"{self.root}/") for each in walked if not isinstance(each, OSError)]
        outside_git = (name for name in listed if not name.startswith(".git/"))
        return tuple(sorted(outside_git, key=lambda name: (name.count("/"), name)))

    def named(self, pattern: str) -> list[str]:
        """Returns the first files whose paths fit this pattern."""
        return list(islice(filter(re.compile(pattern).fullmatch, self.names), _MOST_READ))

    def text(self, name: str) -> str:
        """Returns the text of a file without our own section; empty where it cannot be read."""
        if name not in self._texts:
            self._texts[name] = ""
            try:
                image = read_image(path_in(self.root, name), 256 << 10)
                self._texts[name] = without_own_text(image.data.decode("utf-8-sig")) if image else ""
            except (PathRefused, StoreIo) as error:
                self.left[name] = str(error.facts.get("reason", error)).split(",")[0]
            except UnicodeDecodeError as error:
                self.left[name] = f"it is not UTF-8 at byte {error.start:,}"
        return self._texts[name]

    def at(self, name: str, part: str) -> str:
        """Returns `file:line` of the first place where a file holds this text."""
        before, found, _ = self.text(name).partition(part)
        return f"{name}:{before.count(chr(10)) + 1}" if found else name

    def values(self, name: str, *keys: str) -> Mapping[str, Any]:
        """Returns an object in a TOML or JSON file, below these keys; empty where there is none."""
        text = self.text(name) if name in self.names else ""
        try:
            found: Any = tomllib.loads(text) if name.endswith("toml") else load_json(text) if text else {}
        except (tomllib.TOMLDecodeError, NotJson, RecursionError) as error:
            self.left[name] = f"it cannot be read: {error}"
            return {}
        for key in keys:
            found = found.get(key) if is_object(found) else None
        return found if is_object(found) else {}

    @cached_property
    def manifests(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What says in a manifest what the project is, with the file: those that bear its name, else all, since there may
        be one for its documentation alone."""
        places = (("pyproject.toml", "project"), ("package.json",), ("Cargo.toml", "package"), ("composer.json",))
        found = [(place[0], values) for place in places if (values := self.values(*place))]
        return [each for each in found if self.is_named(each[1])] or found

    @property
    def name(self) -> str:
        return os.path.basename(self.root if self.key.startswith("path:") else self.key)

    def is_named(self, manifest: Mapping[str, Any]) -> bool:
        return os.path.basename(str(manifest.get("name"))).lower() == self.name.lower()

    # -- history ------------------------------------------------------------------------------------------------------

    @cached_property
    def commits(self) -> list[list[str]]:
        """The last commits that are no merges, newest first: id, seconds, subject, body, files by NUL."""
        told = self._git(
            "log", "-z", f"-n{_MOST_COMMITS}", "--no-merges", "--no-renames", "--no-show-signature", "--no-ext-diff",
            "--name-only", "--format=%x01%h%x02%ct%x02%s%x02%b%x02",
        )  # fmt: skip
        parts = (each.split("\x02") for each in told.split("\x01"))
        return [each for each in parts if len(each) == 5 and each[1].isdecimal()]

    @cached_property
    def touched(self) -> list[frozenset[str]]:
        """The files of each commit that is not large, as far as they are still there."""
        there, files = frozenset(self.names), (each[4].strip("\n\0").split("\0") for each in self.commits)
        return [there.intersection(each) for each in files if len(each) <= _LARGE_COMMIT]

    def _git(self, *arguments: str) -> str:
        """Returns git's output, which reaches no network; empty where there is no repository, or git does not answer."""
        if not os.path.lexists(f"{self.root}/.git"):
            return ""
        try:
            output = GitProcess(Path(self.root), self.environ).run(*arguments, config=("protocol.allow=never",))
        except RecorderFailed as error:
            self.left[f"git {arguments[0]}"] = str(error)
            return ""
        return output.stdout.decode("utf-8", "replace") if output.ok else ""


def _with_sources(text: str, sources: Iterable[str]) -> str:
    where = first_few(list(dict.fromkeys(sources)), _MOST_SOURCES)
    return f"{text}\n\n{SOURCES_LINE}{where}" if where else text


# -- the rules --------------------------------------------------------------------------------------------------------

_GO_MODULE = re.compile(r"(?m)^(?:require )?[ \t]*([\w.-]+\.[\w./-]+) v\S+$")


def _identity(of: Checkout) -> Lines:
    said = [(name, text) for name in of.named(r"(?i)readme(\.\w+)?") if (text := _prose(of.text(name)))]
    told = [each for each in of.manifests if isinstance(each[1].get("description"), str)]
    said += [(name, each["description"]) for name, each in told]
    if not said:
        return
    source, text = next(((name, each["description"]) for name, each in told if of.is_named(each)), said[0])
    yield text if text.lower().startswith(of.name.lower()) else f"{of.name}: {text}", of.at(source, text[:40])
    for name, values in of.manifests:
        needed = of.values(name, "dependencies") or values.get("dependencies") or values.get("require") or ()
        versions = (values.get("requires-python"), values.get("rust-version"), of.values(name, "engines").get("node"))
        language = {"pyproject.toml": "Python", "Cargo.toml": "Rust", "composer.json": "PHP"}.get(name, "Node")
        built = _listed(re.split(r"[^\w@/.-]", each)[0] for each in needed if isinstance(each, str))
        words = (language, *(each for each in versions if isinstance(each, str)), built and f"built on {built}")
        if any(words[1:]):
            yield " ".join(filter(None, words)), of.at(name, "dependencies")
    for name in of.named(r"go\.mod"):
        if modules := _GO_MODULE.findall(of.text(name)):
            yield f"Go built on {_listed(modules)}", name
    if packed := of.named(r"(Dockerfile|fly\.toml|vercel\.json|netlify\.toml|wrangler\.\w+|Procfile|.*/Chart\.yaml)"):
        yield f"It is packed or deployed by {_listed(packed)}", packed[0]


_LATER = re.compile(r"(?i)\n## (?!overview|about|introduction|description|what|purpose)")


def _prose(text: str) -> str:
    """Returns the first paragraph that says something, before the sections about details: no badges, pictures, headings,
    quotes."""
    aside = r"(?s)<!--.*?-->|</?(?!http)[a-zA-Z][^<>]*>|\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\))?|(?m:^[^\n]+\n[=-]{3,}$)"
    marks = re.compile(r"(?m)^[ \t]*([#>|=*:.-]|\[.*?\]:).*$|\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?")
    parts = re.split(r"\n\s*\n", re.sub(aside, "", "\n".join(prose_lines(_LATER.split(text)[0][:10_000]))))
    plain = (" ".join(marks.sub(r"\2", each).split()) for each in parts)
    return next((each for each in plain if len(each.split()) >= 6 and "." in each and not _FILLER.search(each)), "")


_FILLER = re.compile(
    r"(?i)\b(made|generated|bootstrapped) (with|by|using)\b|\bsponsor|^(run(ning)?|for more information)\b"
)
_USEFUL = re.compile(
    r"(?i)(?:^|[:_.-])(build|bench|check|ci|codegen|coverage|dev|docs?|e2e|fix|fmt|format|gen\w*|lint|migrate|release|run|"
    r"serve|setup|start|tests?|type\w*|verify|vet|watch)(?![a-z])"
)
_CHECKS = re.compile(r"\b(tests?|pytest|tox|nox|lint|check|clippy|fmt|format|mypy|ruff|eslint|tsc|vet|vitest|jest)\b")
_NO_CHECK = re.compile(r"^(if|for|while|cd|echo|\[) |\binstall\b|\$|\\$")
_STEP = re.compile(r"(?m)^[ \t]*(?:- )?(?:run|script): *(?:[|>][-+]? *\n\s+)?([^\s#].*)$")
_RUNNERS = (
    (r"(GNU)?[Mm]akefile", "make", r"(?m)(?:^#+ ?(.+)\n)?^([A-Za-z][\w-]*):(?![=:])[^\n#]*(?:#+ *(.*))?$"),
    (r"\.?[Jj]ustfile", "just", r"(?m)(?:^# ?(.+)\n)?^@?([A-Za-z][\w-]*)(?: [^:=\n]*)?:(?!=)[^\n#]*(?:#+ *(.*))?$"),
    (r"[Tt]askfile\.ya?ml", "task", r"(?m)()^  ([\w:-]+):\s*\n(?:    desc: *(.*))?"),
    (r"tox\.ini", "tox -e", r"(?m)()^\[testenv:([\w-]+)\]()"),
    (r"\.?mise\.toml", "mise run", r'(?m)()^\[tasks\."?([\w:-]+)"?\]\n(?:description = "(.*)")?'),
    (r"noxfile\.py", "nox -s", r"(?m)()^@nox\.session.*\ndef (\w+)\(()"),
)
_CI = (
    r"\.github/workflows/.*\.ya?ml|\.gitlab-ci\.yml|\.pre-commit-config\.yaml|\.builds/.*\.ya?ml|\.circleci/config\.yml"
)


def _commands(of: Checkout) -> Lines:
    found = [
        (word, f"{runner} {word}", after or before, name, word if "." in name else f"{word}:")
        for pattern, runner, target in _RUNNERS
        for name in of.named(pattern)
        for before, word, after in re.findall(target, of.text(name))
    ]
    npm = next((each for each in ("pnpm", "yarn", "bun") if of.named(rf"{each}[.-]lock.*")), "npm")
    for word, script in of.values("package.json", "scripts").items():
        found.append((word, f"{npm} run {word}", f"`{one_line(str(script), 80)}`", "package.json", f'"{word}"'))
    found = [each for each in found if _USEFUL.search(each[0])]
    for _, command, meaning, name, part in sorted(found, key=lambda each: not each[0].isalpha())[:12]:
        yield f"`{command}`{f': {meaning}' if re.search('[a-zA-Z]', meaning) else ''}", of.at(name, part)
    for name in of.named(_CI):
        checks = [each for each in _STEP.findall(of.text(name)) if _CHECKS.search(each) and not _NO_CHECK.search(each)]
        ran = checks or re.findall(r"(?m)^ *- id: *(\S+)", of.text(name))
        if ran and not re.search("nightly|publish|release|smoke", name):
            yield f"`{name}` runs {_listed(ran, 4)}", of.at(name, ran[0])


_RULE = re.compile(
    r"(?i)\b(must|never|always|requires?|should|avoid|prefer|deve[mr]?|nunca|sempre)\b|^(please )?do(n['’]t| not)"
)
_COURTESY = re.compile(
    r"(?i)^\W*(?-i:[a-z0-9`])|^\W*(should|but|its?|this|these|that|they|both)\b|\b(thanks?|welcome|conduct|questions?|help|feel free|you should be|issues)\b"
)


def _asked(of: Checkout) -> Lines:
    for name in of.named(r"(?i)(docs/|\.github/)?(contributing|ai_policy)(\.\w+)?"):
        marks = re.compile(r"(?m)^[ \t]*([#|>=]|\[.*?\]:|<!--).*$|!?\[([^\]\n]{0,200})\]\([^)\n]{0,400}\)|\*\*")
        text = marks.sub(r"\2", "\n".join(prose_lines(of.text(name))))
        for said in re.split(r"\n\s*\n|\n\s*(?:[-*+]|\d+[.)])\s+|(?<=[.!?])\s+(?=[A-Z`])", text):
            is_rule = _RULE.search(said) and said.rstrip()[-1] in ".!" and not _COURTESY.search(said)
            if is_rule and 5 <= len(said.split()) <= 40:
                yield said.strip("-*+ \n"), of.at(name, said.strip().split("\n")[0])


def _together(of: Checkout) -> Lines:
    often, groups = Counter(chain.from_iterable(of.touched)), list[set[str]]()
    pairs = Counter(pair for names in of.touched for pair in combinations(sorted(names), 2))
    for pair, count in pairs.most_common():
        one, other = often[pair[0]], often[pair[1]]
        stems = sorted((re.sub(r"\W|_", "", os.path.basename(name).split(".")[0]) for name in pair), key=len)
        is_obvious = stems[0] in stems[1] or re.search(
            r"(?i)test|spec|fixture|lock|\.(sum|snap)\b|\.(md|rst) .*\.(md|rst)$|^\.github/.* \.github/", " ".join(pair)
        )
        if count < 6 or count < 0.7 * max(one, other) or count * len(of.touched) < 4 * one * other or is_obvious:
            continue
        if near := [each for each in groups if not each.isdisjoint(pair)]:
            near[0].update(pair, *near[1:])
            groups = [each for each in groups if each not in near[1:]]
        else:
            groups.append(set(pair))
    for names in groups[:6]:
        yield f"Most commits that change one of these change the others: {_listed(sorted(names), 6)}", "git log"


def _headings(pattern: str) -> Callable[[Checkout], Lines]:
    def rule(of: Checkout) -> Lines:
        over = re.compile(r"(?im)^[^\w\n]*(status\W{1,9})?(superseded|rejected|deprecated|proposed|draft)\b")
        for name in of.named(pattern):
            title = re.sub(r"(?i)^(ADR[- ]?)?\d+\s*[.:–—-]?\s*", "", first_heading(of.text(name)) or "")
            if title and not over.search(of.text(name)[:1_000]):
                yield f"{title} (`{name}`)", os.path.dirname(name) or name

    return rule


def _directories(of: Checkout) -> Lines:
    told: set[str] = set()
    for name in of.named(r"(?:[^/.][^/]*/){1,3}(Cargo\.toml|README\.md|__init__\.py|doc\.go|package\.json)"):
        directory, text = os.path.dirname(name), of.text(name)
        begin = re.match(r"(?s)\s*(?:[rR]?\"\"\"|'''|// |/\*)\s*(.+?)(?:\"\"\"|'''|\n\s*\n|\n//\s*\n|$)", text)
        said = begin[1].replace("\n// ", " ") if begin else _prose(text) if name.endswith(".md") else ""
        if name.endswith(("toml", "json")):
            said = str((of.values(name, "package") or of.values(name)).get("description", ""))
        said = derive_description(said)
        known = re.findall(r"[a-z]+", f"{directory} {of.name} a an the of for and package module tools".lower())
        is_aside = re.search(r"(?i)(^|/)(test|example|fixture|vendor|node_modules|bench|tutorial)", directory)
        if not is_aside and directory not in told and len({*re.findall("[a-z]+", said.lower())}.difference(known)) >= 3:
            told.add(directory)
            yield f"`{directory}/`: {one_line(said, 160)}", of.at(name, said[:30])


def _habits(of: Checkout) -> Lines:
    commits = [each for each in of.commits if not re.match(r"(?i)revert|bump|merge", each[2])][:200]
    if len(commits) < 20:
        return
    types = Counter(found[1] for each in commits if (found := re.match(r"(\w+)(?:\([^)]*\))?!?: \S", each[2])))
    usual = _listed((f"{word}:" for word, count in types.most_common() if count > 2), 7)
    for words, pattern in (
        (f"A commit's subject begins with its type or area: {usual}", r"\w+(\([^)]*\))?!?: \S"),
        ("Commits are signed off (`git commit -s`)", r"(?is).*\nsigned-off-by:"),
        ("Pull requests are squashed: a subject ends with the number, as in `(#123)`", r".*\(#\d+\)\n"),
    ):
        if sum(bool(re.match(pattern, f"{each[2]}\n{each[3]}")) for each in commits) >= 0.7 * len(commits):
            yield words, f"git log {commits[-1][0]}..{commits[0][0]}"
    often = Counter(chain.from_iterable(of.touched))
    for name in of.named(r"(?i)(docs/)?(change|history|news|release)\w*\.\w+"):
        if often[name] >= 0.25 * len(of.touched):
            yield f"A change comes with a line in `{name}`", "git log"


def _reason(body: str) -> str:
    """Returns the lines of a commit's body that say why; empty where it says little."""
    aside = re.compile(
        r"(?i)\s*([*-] )?((this )?reverts? |[\w-]+-by:|[a-z]+(-[a-z]+)+: \S+$|\(cherry|(\w+: )?https?:\S+$|[#*-]*$)"
    )
    reason = " ".join(line.strip() for line in body.split("\n") if not aside.match(line))
    return reason if len(reason.split()) >= 6 else ""


def _reasons(of: Checkout) -> Lines:
    said = ((subject, _reason(body), id) for id, _, subject, body, _ in of.commits)
    told = (each for each in said if each[1] and not re.match(r"(?i)bump|\[\S+ci\]", each[0]))
    yield from ((f"{subject}: {one_line(why, 600)}", f"commit {id}") for subject, why, id in islice(told, 40))


def _reverts(of: Checkout) -> Lines:
    later: set[str] = set()
    for id, seconds, subject, body, _ in of.commits:
        found = re.match(r"(?i)(revert|re-?apply|re-?land):? +\"?(.+?)\"?$", subject)
        reason = _reason(body)
        if found and found[1].lower() == "revert" and found[2] not in later and reason:
            what = f'"{found[2]}" was reverted' if '"' in subject else subject  # which may say `revert: take out …`
            yield f"{what} on {day_of(int(seconds) * 1000)}: {reason}", f"commit {id}"
        later.add(found[2] if found else subject)


_ADRS = r"(?i:(.*/)?(adrs?|decisions|decision-records)/[^/]*\d[^/]*\.md)"
_FOR_AGENTS = (
    r"\.cursorrules|\.windsurfrules|GEMINI\.md|\.github/.*instructions\.md|\.(cursor|windsurf|roo)/rules/.*\.mdc?"
)
_RULES = (
    ("identity", Kind.PROJECT, "{line}", "topic__project", _identity),
    ("commands", Kind.CONVENTION, "How {name} is built, tested and checked", "topic__testing", _commands),
    ("asked", Kind.CONVENTION, "Rules for contributions to {name}", "topic__workflow", _asked),
    ("together", Kind.CONVENTION, "Files of {name} that change together", "topic__git", _together),
    ("decisions", Kind.DECISION, "Decisions of {name} that are in force", "topic__architecture", _headings(_ADRS)),
    ("directories", Kind.FACT, "Directories of {name} and what is in them", "topic__architecture", _directories),
    ("commits", Kind.CONVENTION, "How commits of {name} look", "topic__git", _habits),
    ("rules", Kind.FACT, "Rules in {name} that only some agents are given", "topic__agents", _headings(_FOR_AGENTS)),
    ("revert", Kind.LESSON, "{line}", "topic__git", _reverts),
)


def _listed(words: Iterable[str], most: int = 10) -> str:
    return first_few([f"`{one_line(each, 80)}`" for each in dict.fromkeys(words)], most)


_SHOWN = (
    r"(?i:readme(\.\w+)?|pyproject\.toml|package\.json|cargo\.toml|composer\.json|go\.mod|(claude|agents)\.md|"
    rf"(.*/)?(contributing|ai_policy|pull_request_template)(\.\w+)?)|{'|'.join(each[0] for each in _RUNNERS)}|{_CI}|"
    rf"{_FOR_AGENTS}|{_ADRS}"
)
_PART_LINES, _MAX_PART_CHARS, _MOST_PARTS = 60, 6_000, 4


def ask(
    of: Checkout, agent: Agent, template: str, live: Listing, archive: Listing, now_ms: int, word: Callable[[], str]
) -> Iterator[Found]:
    """Yields what a model proposes about the checkout, checked like a reply of consolidate. It is asked once, and again
    when what it is shown has changed."""
    by_rules = chain.from_iterable(rule(of) for rule in (_together, _habits, _reverts, _directories, _reasons))
    parts = [("git ls-files", "\n".join(of.names[:_MOST_READ])), *((source, line) for line, source in by_rules)]
    parts += [
        (f"{name}:{start + 1}", "\n".join(lines[start : start + _PART_LINES])[:_MAX_PART_CHARS])
        for name in of.named(_SHOWN)
        if any(lines := of.text(name).split("\n"))
        for start in range(0, min(len(lines), _MOST_PARTS * _PART_LINES), _PART_LINES)
    ]
    turns = tuple(Turn(at, Role.TOOL, f"{source}\n{text}", source) for at, (source, text) in enumerate(parts, 1))
    digest = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    made = (each.imported or "" for note in (*live.entries, *archive.entries) for each in note.meta.sources)
    if not of.names or any(f"{of.key}/{digest}-" in each for each in made):
        yield LeftOut(
            of.name, "nothing has changed since a model was asked about it" if of.names else "there is no text"
        )
        return
    entry = InboxEntry(now_ms, Harness.MANUAL, FileSnapshot(""))
    catalog = catalog_of((), live.entries, of.key)
    budget = unwrap(plan_prompt_budget(template, agent.max_prompt_chars or 0, catalog))
    window = cut_windows(History(Harness.MANUAL, of.key, turns, of.name), budget.window_chars(0))[0]
    request, tags = SessionRequest("", word(), entry, window, now_ms=now_ms), tag_vocabulary(live.entries)
    facts = PromptFacts(Frame(request.nonce, word()), request, of.key, budget.beside(window), catalog, tags)
    reply = unwrap(agent.answer(evolve(request, prompt=render_consolidate_prompt(template, facts))))
    proposed = unwrap(parse_reply(redact(reply.text).text, request.nonce))
    taken = taken_ids(live, archive)
    plan = plan_window(proposed, PlanFacts(entry, window, of.key, live.entries, taken, {}, agent.status, now_ms))
    for number, note in enumerate([each.entry for each in plan.changes if each.entry][:_MOST_PROPOSALS]):
        meta, cited = note.meta, {turn for each in note.meta.sources for turn in each.turns}
        body = _with_sources(note.body, (turn.record_id for turn in turns if turn.number in cited))
        yield Record(
            f"{of.key}/{digest}-{number}", body, meta.title, meta.description, meta.kind, meta.tags, place=of.root,
            importance=meta.importance, confidence=meta.confidence, names=(meta.id,),
        )  # fmt: skip
    yield from (LeftOut(each.subject, "; ".join(each.reasons)) for each in plan.dropped)
    yield from (LeftOut(name, reason) for name, reason in of.left.items())
