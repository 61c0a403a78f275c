"""What stores find, side by side: questions whose answers are known, put to each of them in one run.

    python -m bench retrieval [--set locomo --path locomo10.json] [--store ours,fts5,tantivy,NAME=mcp:'COMMAND …'] [--limit K]

Without `--set`: `coding`, the hand-written notes of tests/fixtures/retrieval. Every conversation of a set is a store of its
own. `ours` is `Memory.search` by words, `ours-hybrid` by meaning too; `fts5` and `tantivy` stem, and leave stop words out.
Figures are means over questions, in percent, with 95 % intervals of a bootstrap: over conversations where there are CLUSTERS
or more, since the questions about one are alike, else over questions. The difference is that to the first store, question by
question, in Recall@10. Exit code 1 where `ours` finds less in that than `fts5`, beyond its interval.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from attrs import frozen
from bench.measure import print_table
from bench.results import Figure, keep
from bench.sets import HAND_WRITTEN, SETS, Corpus, Question, read_set
from bench.stores import BUILT_IN, McpServer, NewStore, stores_of

DEPTH = 10
CLUSTERS = 5
RESAMPLES = 2_000
MEASURES = ("recall_5", "recall_10", "ndcg_10", "mrr")
RECALL_10 = 1
_GAINS = [1 / math.log2(rank + 2) for rank in range(DEPTH)]


@frozen
class Answers:
    """One store's answers to a set: by corpus, by question the four MEASURES; what a search took, at the median; and how many
    questions it refused as they were."""

    by_corpus: Sequence[Sequence[Sequence[float]]]
    ms: float
    refused: int = 0


@frozen
class Mean:
    """A mean over questions in percent, and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"


def judged(ids: Sequence[str], question: Question) -> tuple[float, ...]:
    """Returns the MEASURES of one answer. A document counts once."""
    hits = [id in question.relevant for id in list(dict.fromkeys(ids))[:DEPTH]]
    total = len(question.relevant)
    gained = sum(gain for gain, hit in zip(_GAINS, hits, strict=False) if hit)
    first = 1 / (hits.index(True) + 1) if True in hits else 0.0
    return sum(hits[:5]) / total, sum(hits) / total, gained / sum(_GAINS[:total]), first


def answers_of(store: NewStore, corpora: Sequence[Corpus]) -> Answers:
    """Returns what a store answers, made anew for each corpus."""
    by_corpus, took, refused = [], list[float](), 0
    for corpus in corpora:
        with tempfile.TemporaryDirectory(prefix="agent-memory-bench-", ignore_cleanup_errors=True) as directory:
            opened = store(Path(directory))
            with opened if isinstance(opened, AbstractContextManager) else nullcontext():
                opened.add(corpus.documents)
                figures = []
                for question in corpus.questions:
                    start = time.perf_counter()
                    ids = opened.search(question.query, DEPTH)
                    took.append((time.perf_counter() - start) * 1000)
                    figures.append(judged(ids, question))
                refused += opened.refused if isinstance(opened, McpServer) else 0
        by_corpus.append(figures)
    return Answers(by_corpus, statistics.median(took), refused)


class Bootstrap:
    """Draws of conversations, or of questions: first all of them, then RESAMPLES at random, the same for every store."""

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self.is_clustered = len(corpora) >= CLUSTERS
        chance, count = (
            random.Random(7),
            len(corpora if self.is_clustered else [1 for each in corpora for _ in each.questions]),
        )
        self.draws = [range(count), *(chance.choices(range(count), k=count) for _ in range(RESAMPLES))]

    def means(self, answers: Answers, measure: int) -> Sequence[float]:
        """Returns the mean over questions in percent, by draw."""
        drawn = [[each[measure] for each in corpus] for corpus in answers.by_corpus]
        drawn = drawn if self.is_clustered else [[each] for corpus in drawn for each in corpus]
        sums, counts = list(map(sum, drawn)), list(map(len, drawn))
        return [100 * sum(map(sums.__getitem__, draw)) / sum(map(counts.__getitem__, draw)) for draw in self.draws]

    def difference(self, answers: Answers, other: Answers) -> Mean:
        """Returns by how much Recall@10 is above the other's; each draw is of both."""
        pairs = zip(self.means(answers, RECALL_10), self.means(other, RECALL_10), strict=True)
        return mean_of([one - two for one, two in pairs])


def mean_of(means: Sequence[float]) -> Mean:
    """Returns the first, and the interval of the others."""
    tail, others = RESAMPLES // 40, sorted(means[1:])
    return Mean(means[0], others[tail], others[-tail - 1])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="coding", choices=SETS)
    parser.add_argument("--path", type=Path, help="the file of the set; of beam the directory")
    parser.add_argument(
        "--store", action="append", metavar="NAME[,NAME …]", help=f"{', '.join(BUILT_IN)}, mcp:COMMAND, MODULE:CLASS"
    )
    parser.add_argument("--limit", type=int, metavar="K", help="the first K conversations alone")
    chosen = parser.parse_args(argv)
    if chosen.path is None and chosen.set != "coding":
        parser.error(f"--set {chosen.set} needs --path: the set is not part of the project")
    corpora = read_set(chosen.set, chosen.path or HAND_WRITTEN, chosen.limit)
    found = {name: answers_of(store, corpora) for name, store in stores_of(chosen.store or ["ours,fts5"]).items()}
    bootstrap = Bootstrap(corpora)
    show(chosen.set, corpora, found, bootstrap)
    is_below = {"ours", "fts5"} <= set(found) and bootstrap.difference(found["ours"], found["fts5"]).high < 0
    return 1 if is_below else 0


def show(name: str, corpora: Sequence[Corpus], found: Mapping[str, Answers], bootstrap: Bootstrap) -> None:
    """Prints and keeps the figures of all stores."""
    first, rows = next(iter(found.values())), []
    for store, answers in found.items():
        means = {each: mean_of(bootstrap.means(answers, number)) for number, each in enumerate(MEASURES)}
        if answers is not first:
            means["difference"] = bootstrap.difference(answers, first)
        for each, mean in means.items():
            for what, value in (("", mean.value), ("_low", mean.low), ("_high", mean.high)):
                keep(Figure(f"{name}, {store}", f"{each}{what}_percent", round(value, 4)))
        keep(Figure(f"{name}, {store}", "question_p50_ms", round(answers.ms, 2)))
        keep(Figure(f"{name}, {store}", "refused_questions", answers.refused))
        rows.append((store, *map(str, means.values()), *([""] if answers is first else []), f"{answers.ms:,.1f} ms"))
    questions = sum(len(corpus.questions) for corpus in corpora)
    documents = sum(len(corpus.documents) for corpus in corpora)
    keep(Figure(name, "questions", questions), Figure(name, "conversations", len(corpora)))
    keep(Figure(name, "documents", documents))
    columns = ("store", "Recall@5", "Recall@10", "nDCG@10", "MRR@10", "to the first", "a question")
    over = "conversations" if bootstrap.is_clustered else "questions"
    title = (
        f"{name}: {questions:,} questions, {len(corpora)} conversations, {documents:,} documents; intervals over {over}"
    )
    print_table(title, columns, rows)
    for store, answers in found.items():
        if answers.refused:
            print(f"{store} refused {answers.refused:,} questions; it was asked their words alone.\n")


if __name__ == "__main__":
    sys.exit(main())
