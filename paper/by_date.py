"""20 Newsgroups split by date, as in published work: our methods and a peer beside published figures."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from benchmarks.data.datasets import newsgroups
from benchmarks.data.noise import boundary_noise, pair_noise, uniform_noise
from benchmarks.quality.methods.outcome import logistic_regression, out_of_fold, tfidf
from benchmarks.quality.tasks import Task, generator
from benchmarks.quality.word_counts import vocabulary
from benchmarks.result_files import Row, table
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes.data.simulate import corrupt

from .compare import cell, mean_of, methods_in, paired, repetitions, settings_in
from .experiment import Experiment
from .methods import Array, Draw
from .news_words import N_WORDS, made_documents
from .text_methods import TEXT_METHODS, TEXT_TITLES

KINDS = {"uniform": "uniform", "asymmetric": "asymmetric", "instance": "instance-dependent"}
RATES = (20, 40)
PEERS = ("text-cleanlab", "text-mislabel")
#: Accuracy as published, fine-tuned BERT: Wang, Tan, Guo and Li, EMNLP Findings 2023.
LAFT = {
    ("uniform", 20): 82.0, ("asymmetric", 20): 83.7, ("instance", 20): 83.6,
    ("uniform", 40): 76.9, ("asymmetric", 40): 82.0, ("instance", 40): 80.5,
}  # fmt: skip


class Setting(NamedTuple):
    kind: str
    rate: int  # percent
    quick: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.rate} %"


class Documents(NamedTuple):
    X: Any  # CSR counts
    true: Array
    X_test: Any
    true_test: Array


class ByDate(Experiment):
    TITLE = "20 Newsgroups, split by date"
    METHODS = tuple(TEXT_METHODS)
    REPS = 5

    def settings(self, quick: bool = False) -> dict[str, Setting]:
        if quick:
            return {each.name: each for each in [Setting("instance", RATES[0], quick)]}
        return {each.name: each for rate in RATES for kind in KINDS for each in [Setting(kind, rate)]}

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """The split is always the same; the mistakes are drawn at random."""
        data = _documents(setting.quick)
        K, rng = int(data.true.max()) + 1, generator(f"by date, {setting.name}", seed)
        if setting.kind == "instance":
            observed = boundary_noise(data.true, _hesitation(setting.quick), setting.rate / 100, rng)
        else:
            noise = uniform_noise if setting.kind == "uniform" else pair_noise
            observed = corrupt(data.true, noise(K, setting.rate / 100), rng)
        return Draw(data.X, observed, data.true, data.X_test, data.true_test, K)

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

The other section splits the documents at random, as the paper does. Published work trains on the earlier 11,314
documents and tests on the later 7,532, which is harder. The features are the TF-IDF of the {N_WORDS:,} words with the
largest summed TF-IDF in the training part; headers, footers and quotes are kept. Uniform: any other group; asymmetric:
the next group; instance-dependent: the second choice of logistic regression, where it is uncertain. LAFT is fine-tuned
BERT with help from a large language model (Wang, Tan, Guo and Li, EMNLP Findings 2023, as published); its mistakes are
of the same kinds, but drawn by a different program. Accuracy in percent; repetitions: {repetitions(rows)}.

{_accuracies(rows, self)}
{_unfinished(rows, self)}"""

    def findings(self, rows: list[Row]) -> list[str]:
        sentences = []
        for setting, each in self.settings().items():
            gain = paired(rows, setting, "text-inb", "text-nb")
            mine = mean_of(cell(rows, setting, "text-inb"), "accuracy", 100)
            if gain.n and mine.n:
                peers = {name: mean_of(cell(rows, setting, name), "accuracy", 100) for name in PEERS}
                shown = [f"{TEXT_TITLES[name]} {mean.shown()}" for name, mean in peers.items() if mean.n]
                sentences.append(
                    f"By date, {KINDS[each.kind]}, {each.rate} %: INB (ours) {mine.shown()} %, "
                    f"{gain.shown(sign=True)} points over NB; "
                    f"{'; '.join([*shown, f'LAFT with BERT {LAFT[each.kind, each.rate]}'])}."
                )
        return sentences


def _accuracies(rows: list[Row], experiment: ByDate) -> str:
    methods = methods_in(rows, experiment.METHODS)
    known = {**experiment.settings(), **experiment.settings(quick=True)}
    lines = []
    for setting in settings_in(rows, list(experiment.settings())):
        each = known[setting]
        means = [mean_of(cell(rows, setting, method), "accuracy", 100).shown() for method in methods]
        lines.append([KINDS[each.kind], each.rate, *means, LAFT[each.kind, each.rate]])
    return table(["mistakes", "rate, %", *(TEXT_TITLES[method] for method in methods), "LAFT"], lines)


def _unfinished(rows: list[Row], experiment: ByDate) -> str:
    computed = {(row["setting"], row["method"]) for row in rows}
    methods, settings = methods_in(rows, experiment.METHODS), settings_in(rows, list(experiment.settings()))
    if len(computed) == len(methods) * len(settings):
        return ""
    return "\nCells with a dash were not run for lack of computing time; the command below continues with them.\n"


@cache
def _documents(quick: bool) -> Documents:
    if quick:
        counts, _, labels = made_documents()
        counts = sparse.csr_array(counts, dtype=np.float64)
        return Documents(counts[:300], labels[:300], counts[300:], labels[300:])
    train, test = newsgroups("train"), newsgroups("test")
    vectorizer = CountVectorizer(dtype=np.float64).fit(train.texts)
    in_train, in_test = (sparse.csr_array(vectorizer.transform(part.texts)) for part in (train, test))
    columns = vocabulary(in_train, N_WORDS)
    names = np.unique(train.labels)
    true, true_test = (np.asarray(np.searchsorted(names, part.labels)) for part in (train, test))
    return Documents(in_train[:, columns], true, in_test[:, columns], true_test)


@cache
def _hesitation(quick: bool) -> Array:
    """Out-of-fold P(class | x) of a classifier trained on the true labels."""
    data = _documents(quick)
    task = Task("by date", "text", data.X, data.true, None, data.X_test, None, 0)
    return out_of_fold(logistic_regression(), tfidf(task).train, data.true, 0)


BY_DATE = ByDate()
