"""A paragraph on each method for docs/methods.md. A baseline describes itself, in its docstring and in `about`."""

from __future__ import annotations

import inspect
from typing import NamedTuple

from paper.baselines import BASELINES, Baseline


class Description(NamedTuple):
    methods: tuple[str, ...]  # names in the benchmark
    text: str
    source: str
    known: str  # what must be known in advance
    networks: int = 0


_OURS = (
    Description(
        ("inb", "inb-bernoulli", "inb-multinomial"),
        "Naive Bayes with a latent true label. Rows are scored out of fold; the scores are calibrated on the labels "
        "together with the mislabeling matrix; labels that are probably wrong are down-weighted, and a round is kept "
        "only if it predicts held-out labels better. It assumes that a label depends on the true class only. `inb` "
        "uses `BernoulliINB` for tables and `MultinomialINB` for text; the other two always use one of them.",
        "this package",
        "nothing",
    ),
    Description(
        ("inb-em", "inb-paper"),
        "The same model fitted by EM alone. `inb-paper` is the paper's maximum likelihood estimator; `inb-em` has "
        "priors whose strength is estimated from the data. Both are only as good as the model: where features depend "
        "on each other, EM drifts away from the labels.",
        "the paper, and this package",
        "nothing",
    ),
    Description(
        ("mislabel-lr",),
        "The latent label and the mislabeling matrix around another classifier, here logistic regression: fitted out "
        "of fold, calibrated, and refitted with down-weighted labels.",
        "this package",
        "nothing",
    ),
)
_PEERS = (
    Description(
        ("nb-noisy", "nb-clean"),
        "scikit-learn's naive Bayes on the given labels, and on the true labels: what doing nothing costs, and an "
        "upper bound that no real method has access to. `nb-clean` never counts as best.",
        "scikit-learn",
        "nothing; all true labels for `nb-clean`",
    ),
    Description(
        ("lr-noisy", "lr-clean"),
        "The same with scikit-learn's logistic regression: the starting point of the methods built on it, and the "
        "accuracy it reaches if every label is right. `lr-clean` never counts as best.",
        "scikit-learn",
        "nothing; all true labels for `lr-clean`",
    ),
    Description(
        ("cleanlab-lr", "cleanlab-bernoulli", "cleanlab-multinomial"),
        "Confident learning: the cross-validated probabilities of a classifier show how often each label is given "
        "where another class is probable; that many of the least probable labels are dropped, and the classifier is "
        "retrained on the rest. With logistic regression and with two kinds of naive Bayes. It assumes that mistakes "
        "depend on the class only, and that the probabilities are roughly calibrated.",
        "cleanlab (Northcutt and others, 2021)",
        "nothing",
    ),
    Description(
        ("doubtlab",),
        "Four reasons to doubt a label, all from a logistic regression trained on the same labels: an uncertain "
        "prediction, a different prediction, low confidence in the label, high confidence in another one. It "
        "produces a list for review; its classifier is the logistic regression trained on all labels.",
        "doubtlab",
        "nothing",
    ),
    Description(
        ("self-training",),
        "The least certain fifth of the labels is removed, and naive Bayes labels these rows again, the most certain "
        "ones first.",
        "scikit-learn (Yarowsky, 1995)",
        "the share of labels to remove, here always a fifth",
    ),
)


def descriptions() -> list[Description]:
    return [*_OURS, *_baselines(), *_PEERS]


def _baselines() -> list[Description]:
    """One per class: some methods are variants of the same class."""
    names: dict[type[Baseline], list[str]] = {}
    for name, make in BASELINES.items():
        names.setdefault(type(make()), []).append(name)
    return [
        Description(tuple(methods), _intro(kind), kind.about.source, kind.about.assumes, kind.about.networks)
        for kind, methods in names.items()
    ]


def _intro(kind: type) -> str:
    """The part of its docstring before the parameters, as one paragraph."""
    intro, _, _ = (inspect.getdoc(kind) or "").partition("\nParameters\n")
    return " ".join(intro.split())
