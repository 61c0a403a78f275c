"""Redaction measured: how much of each set it removes, how often it is wrong on ordinary text, and how fast it is.

    python -m bench.redaction [--corpora DIR] [--nosey-parker DIR] [--trufflehog DIR] [--text PATH …] [--show]

Sets: our own samples and those in published formats (tests/fixtures/); the examples of gitleaks, by string and by rule;
with `--nosey-parker` the examples of a checkout of that scanner's rules (`…/data/default/builtin/rules`), masks and
one-word demonstration passwords included; with `--trufflehog` the literal inputs of the tests of a checkout of that
scanner's detectors (`…/pkg/detectors`) from which they want a finding. Our own samples again in other coats: encoded,
escaped, wrapped. A secret counts as removed when something was found and, where the set says which part is
the secret, that part is gone. Beside it stand the four expressions that Codex redacts its memories with.

With `--hostile`, how fast it goes through text that is made to slow it down: each keyword of each rule over and over, with
each of eight separators, in rows of 100,000 characters; the slowest are named, beside ordinary text in the same run.

Hits on ordinary text are upper bounds of false hits: `--show` prints each, to be judged by eye.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import frozen
from ruamel.yaml import YAML

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from bench.measure import MEGA, SHARED, print_table

from agent_memory.redaction.redact import redact
from agent_memory.redaction.rule import RULES
from fixtures.coats import LEGIBLE, OPAQUE, letters_of
from fixtures.ordinary_passwords import LINES
from fixtures.published_formats import PUBLISHED
from fixtures.secret_samples import SAMPLES

CODEX = tuple(
    map(
        re.compile,
        (
            r"sk-[A-Za-z0-9]{20,}",
            r"\bAKIA[0-9A-Z]{16}\b",
            r"(?i)\bBearer\s+[A-Za-z0-9._\-]{16,}\b",
            r"(?i)\b(?:api[_-]?key|token|secret|password)\b(?:\s*[:=]\s*)[\"']?[^\s\"']{8,}",
        ),
    )
)


SEPARATORS = ("", "=", ": ", " ", "\n", '"', "://", "='")
HOSTILE_PIECES = (
    "密码=",
    "authorization=",
    "password=",
    "<private>",
    "</private>",
    "-----BEGIN PRIVATE KEY-----",
    "\\u0041",
    "%41",
    "|",
)
_HOSTILE_CHARS, _SLOWEST = 100_000, 12
_GO_TEXT = re.compile(r'`([^`]*)`|"((?:[^"\\\n]|\\.)*)"')
_GO_CASE = re.compile(r'input:\s*(?P<input>`[^`]*`|"(?:[^"\\\n]|\\.)*"),\s*want:\s*\[\]string\{(?P<want>[^}]*)\}')


@frozen
class Case:
    rule: str
    text: str
    secret: str = ""


def ours(text: str) -> str:
    return redact(text).text


def four_expressions(text: str) -> str:
    for expression in CODEX:
        text = expression.sub("[removed]", text)
    return text


def is_removed(case: Case, remover: Callable[[str], str]) -> bool:
    left = remover(case.text)
    return left != case.text and (not case.secret or case.secret not in left)


def own_cases() -> list[Case]:
    return [Case(sample.kind, sample.text, sample.secret) for sample in SAMPLES]


def published_cases() -> list[Case]:
    return [Case(each.kind, each.text, each.secret) for each in PUBLISHED]


def trufflehog_cases(directory: Path) -> list[Case]:
    """Where a test wants several parts together, the longest that stands in the text is the secret."""
    found = []
    for path in sorted(directory.rglob("*_test.go")):
        for case in _GO_CASE.finditer(path.read_text("utf-8", "replace")):
            text, wanted = _go_texts(case["input"])[0], _go_texts(case["want"])
            parts = sorted((each for each in wanted if each and each in text), key=len)
            if wanted:
                found.append(Case(path.parent.name, text, parts[-1] if parts else ""))
    return found


def _go_texts(source: str) -> list[str]:
    return [raw or quoted.replace('\\"', '"').replace("\\n", "\n") for raw, quoted in _GO_TEXT.findall(source)]


def gitleaks_cases(directory: Path) -> list[Case]:
    def decoded(row: dict[str, str], key: str) -> str:
        return base64.b64decode(row.get(key, "")).decode("utf-8", "replace")

    rows = (
        json.loads(line)
        for name in ("examples", "generated_from_rules")
        for line in (directory / f"{name}.jsonl").open()
    )
    return [
        Case(row["rule"], decoded(row, "text_b64"), decoded(row, "secret_b64")) for row in rows if row["label"] == 1
    ]


def nosey_parker_cases(directory: Path) -> list[Case]:
    """Examples of the rules for secrets; those for names of accounts, buckets and the like are left out."""
    rules = [
        rule
        for path in sorted(directory.glob("*.yml"))
        for rule in YAML(typ="safe", pure=True).load(path.read_text("utf-8"))["rules"]
    ]
    secret = [rule for rule in rules if "identifier" not in (rule.get("categories") or [])]
    return [Case(rule["id"], example) for rule in secret for example in rule.get("examples") or []]


def recall_rows(sets: dict[str, list[Case]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, cases in sets.items():
        removed = [is_removed(case, ours) for case in cases]
        kinds: dict[str, bool] = defaultdict(bool)
        for case, gone in zip(cases, removed, strict=True):
            kinds[case.rule] = kinds[case.rule] or gone
        plain = sum(is_removed(case, four_expressions) for case in cases)
        removed_share, kinds_share = _share(sum(removed), len(cases)), _share(sum(kinds.values()), len(kinds))
        rows.append((name, str(len(cases)), removed_share, str(len(kinds)), kinds_share, _share(plain, len(cases))))
    return rows


def coat_rows() -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, put_on in (*OPAQUE.items(), *LEGIBLE.items()):
        gone = 0
        for sample in SAMPLES:
            result, ends = redact(put_on(sample.text)), letters_of(sample.secret)
            left = letters_of(result.text)
            gone += bool(result.found) and (name in OPAQUE or not (ends[:24] in left or ends[-16:] in left))
        rows.append((name, _share(gone, len(SAMPLES))))
    return rows


def text_rows(sets: dict[str, list[str]], show: bool) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, texts in sets.items():
        size = sum(map(len, texts)) / MEGA
        started = time.process_time()
        found = [redact(text).found for text in texts]
        seconds = time.process_time() - started
        hits = sum(count for each in found for _, count in each)
        baseline = _plain_seconds(texts)
        rows.append(
            (name, f"{size:.1f}", str(hits), f"{hits / size:.2f}", f"{size / seconds:.1f}", f"{seconds / baseline:.1f}")
        )
        if show:
            _show(texts)
    return rows


def hostile_rows(ordinary: list[str]) -> list[tuple[str, ...]]:
    """The slowest, and the middle of them all."""
    keywords = sorted({keyword for rule in RULES for keyword in rule.keywords})
    pieces = (*HOSTILE_PIECES, *(keyword + separator for keyword in keywords for separator in SEPARATORS))
    speeds = sorted((_speed((piece * _HOSTILE_CHARS)[:_HOSTILE_CHARS]), piece) for piece in dict.fromkeys(pieces))
    named = [*speeds[:_SLOWEST], (speeds[len(speeds) // 2][0], "half of them are faster than")]
    named.append((_speed("".join(ordinary)[: 10 * _HOSTILE_CHARS]), "ordinary text"))
    return [(repr(piece), f"{speed:.2f}") for speed, piece in named]


def _speed(text: str) -> float:
    started = time.process_time()
    redact(text)
    return len(text) / MEGA / (time.process_time() - started)


def _plain_seconds(texts: list[str]) -> float:
    expression = re.compile(r"[A-Za-z]+ing\b")
    started = time.process_time()
    for text in texts:
        expression.findall(text)
    return time.process_time() - started


def _show(texts: Iterable[str]) -> None:
    for text in texts:
        for line in text.splitlines() if redact(text).found else ():
            if (result := redact(line)).found:
                print(f"  {result.text[:160]}\n    {line[:160]}")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _texts_below(directory: Path, *patterns: str) -> list[str]:
    paths = (
        path
        for pattern in patterns
        for path in sorted(directory.rglob(pattern))
        if path.is_file() and "site-packages" not in path.parts
    )
    return [path.read_text("utf-8", "replace") for path in paths]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=SHARED)
    parser.add_argument("--nosey-parker", type=Path)
    parser.add_argument("--trufflehog", type=Path)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    arguments = parser.parse_args(argv)
    recall = {"our samples": own_cases(), "published formats": published_cases()}
    recall["ordinary passwords"] = [Case(password, line, password) for line, password in LINES]
    if (gitleaks := arguments.corpora / "corpora/gitleaks-examples").is_dir():
        recall["gitleaks"] = gitleaks_cases(gitleaks)
    if arguments.nosey_parker:
        recall["Nosey Parker"] = nosey_parker_cases(arguments.nosey_parker)
    if arguments.trufflehog:
        recall["TruffleHog"] = trufflehog_cases(arguments.trufflehog)
    texts = {"Python's library": _texts_below(Path(sysconfig.get_path("stdlib")), "*.py")}
    if (fixtures := arguments.corpora / "fixtures").is_dir():
        texts["transcripts"] = _texts_below(fixtures, "*.json", "*.jsonl")
        texts["prose and talk"] = _texts_below(arguments.corpora / "data", "*.json*") + _texts_below(
            arguments.corpora, "*.md"
        )
    for path in arguments.text:
        texts[path.name] = _texts_below(path, "*") if path.is_dir() else [path.read_text("utf-8", "replace")]
    print_table(
        "Recall, beside the four expressions of Codex",
        ("set", "strings", "removed", "kinds", "with one removed", "four expressions"),
        recall_rows(recall),
    )
    print_table("Our samples in other coats", ("coat", "removed"), coat_rows())
    print_table(
        "Ordinary text; the ratio is to one pass with one plain expression",
        ("text", "MB", "hits", "hits a MB", "MB/s", "ratio"),
        text_rows(texts, arguments.show),
    )
    if arguments.hostile:
        print_table("Hostile text", ("over and over", "MB/s"), hostile_rows(texts["Python's library"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
