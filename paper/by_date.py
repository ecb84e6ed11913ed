"""20 Newsgroups split by date, as in published work: our methods and a peer beside published figures."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from noisybayes.data.simulate import corrupt

from .data import boundary_noise, generator, newsgroups, pair_noise, uniform_noise
from .experiment import Array, Draw, Experiment
from .methods import TITLES, logistic_regression, tfidf
from .newsgroups import N_WORDS
from .rows import Row, accuracy, methods_in, paired, repetitions, settings_in, table

_KINDS = {"uniform": "uniform", "asymmetric": "asymmetric", "instance": "instance-dependent"}
_RATES = (20, 40)
_PEERS = ("text-cleanlab", "text-mislabel")
#: Accuracy as published, fine-tuned BERT: Wang, Tan, Guo and Li, EMNLP Findings 2023.
_LAFT = {
    ("uniform", 20): 82.0, ("asymmetric", 20): 83.7, ("instance", 20): 83.6,
    ("uniform", 40): 76.9, ("asymmetric", 40): 82.0, ("instance", 40): 80.5,
}  # fmt: skip


class Setting(NamedTuple):
    kind: str
    rate: int  # percent


class ByDate(Experiment):
    TITLE = "20 Newsgroups, split by date"
    METHODS = ("text-nb", "text-nb-correct", "text-inb", *_PEERS)
    REPS = 1

    def settings(self) -> dict[str, Setting]:
        return {f"{kind}, {rate} %": Setting(kind, rate) for rate in _RATES for kind in _KINDS}

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """The split is always the same; the mistakes are drawn at random."""
        data = _documents()
        K, rng = data.n_classes, generator(f"by date, {setting.kind}, {setting.rate} %", seed)
        if setting.kind == "instance":
            observed = boundary_noise(data.true, _out_of_fold(), setting.rate / 100, rng)
        else:
            noise = uniform_noise if setting.kind == "uniform" else pair_noise
            observed = corrupt(data.true, noise(K, setting.rate / 100), rng)
        return data._replace(y=observed)

    def page(self, rows: list[Row]) -> str:
        methods = methods_in(rows, self.METHODS)
        lines = []
        for setting in settings_in(rows, self.settings()):
            kind, rate = self.settings()[setting]
            means = [accuracy(rows, setting, method).shown() for method in methods]
            lines.append([_KINDS[kind], rate, *means, _LAFT[kind, rate]])
        return f"""## {self.TITLE}

The other section splits the documents at random, as the paper does. Published work trains on the earlier 11,314
documents and tests on the later 7,532, which is harder. The features are the TF-IDF of the {N_WORDS:,} words with the
largest summed TF-IDF in the training part; headers, footers and quotes are kept. Uniform: any other group; asymmetric:
the next group; instance-dependent: the second choice of logistic regression, where it is uncertain. LAFT is fine-tuned
BERT with help from a large language model (Wang, Tan, Guo and Li, EMNLP Findings 2023, as published); its mistakes are
of the same kinds, but drawn by a different program. Accuracy in percent; repetitions: {repetitions(rows)}.

{table(["mistakes", "rate, %", *(TITLES[method] for method in methods), "LAFT"], lines)}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        sentences = []
        for setting in settings_in(rows, self.settings()):
            kind, rate = self.settings()[setting]
            mine, gain = accuracy(rows, setting, "text-inb"), paired(rows, setting, "text-inb", "text-nb")
            beside = [f"{TITLES[name]} {accuracy(rows, setting, name).shown()}" for name in _PEERS]
            sentences.append(
                f"By date, {_KINDS[kind]}, {rate} %: INB (ours) {mine.shown()} %, {gain.shown(sign=True)} points over "
                f"NB; {'; '.join(beside)}; LAFT with BERT {_LAFT[kind, rate]}."
            )
        return sentences


@cache
def _documents() -> Draw:
    """Word counts, with right labels only."""
    train, test = newsgroups("train"), newsgroups("test")
    vectorizer = CountVectorizer(dtype=np.float64).fit(train.texts)
    in_train, in_test = (sparse.csr_array(vectorizer.transform(part.texts)) for part in (train, test))
    columns = _vocabulary(in_train)
    return Draw(
        in_train[:, columns], train.labels, train.labels, in_test[:, columns], test.labels, int(train.labels.max()) + 1
    )


def _vocabulary(counts: Any) -> Array:
    """Columns of the words with the largest summed TF-IDF, among those in at least two rows."""
    columns = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= 2)
    weight = np.asarray(TfidfTransformer().fit_transform(counts[:, columns]).sum(axis=0)).reshape(-1)
    return np.sort(columns[np.argsort(-weight, kind="stable")[:N_WORDS]])


@cache
def _out_of_fold() -> Array:
    """Out-of-fold P(class | x) of a classifier trained on the true labels."""
    data = tfidf(_documents())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(logistic_regression(), data.X, data.true, cv=folds, method="predict_proba"))


BY_DATE = ByDate()
