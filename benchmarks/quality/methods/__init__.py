"""The methods, ours and the peers: name -> function(Task) -> Outcome."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import noisybayes
from noisybayes._extras import require

from . import (
    audits,
    baselines,
    cleanlab,
    doubtlab,
    embedded,
    inb,
    mislabel,
    naive_bayes,
    plain_regression,
    self_training,
)
from .outcome import Method, Outcome

__all__ = [
    "FOR_NUMBERS",
    "FOR_SCALES",
    "FOR_VECTORS",
    "GIVEN_RATES",
    "METHODS",
    "NEEDS_TRUTH",
    "OURS",
    "SECTION_METHODS",
    "Method",
    "Outcome",
    "check_packages",
]  # fmt: skip

METHODS: dict[str, Method] = {
    "inb": inb.default,
    "inb-bernoulli": inb.bernoulli,
    "inb-multinomial": inb.multinomial,
    "inb-em": inb.em,
    "inb-paper": inb.paper,
    "mislabel-lr": mislabel.with_logistic_regression,
    "nb-noisy": naive_bayes.noisy,
    "nb-clean": naive_bayes.clean,
    "lr-noisy": plain_regression.noisy,
    "lr-clean": plain_regression.clean,
    "cleanlab-lr": cleanlab.with_logistic_regression,
    "cleanlab-bernoulli": cleanlab.with_bernoulli,
    "cleanlab-multinomial": cleanlab.with_multinomial,
    "doubtlab": doubtlab.with_logistic_regression,
    "self-training": self_training.with_naive_bayes,
    **baselines.methods(),
}
if "method" not in inspect.signature(noisybayes.MultinomialINB).parameters:
    del METHODS["inb-em"]  # then every fit is by EM
if "MislabelClassifier" not in noisybayes.__all__:
    del METHODS["mislabel-lr"]

OURS = ("inb", "inb-bernoulli", "inb-multinomial", "inb-em", "inb-paper", "mislabel-lr")
#: Not in METHODS: they show what a wrong noise rate does to one method.
GIVEN_RATES: dict[str, Method] = baselines.given_rates()
#: Not in METHODS: for numeric tables.
FOR_NUMBERS: dict[str, Method] = {
    "audit": audits.by_views,
    "audit-naive-bayes": audits.by_naive_bayes,
    "cleanlab-linear": cleanlab.with_scaled_regression,
    "cleanlab-forest": cleanlab.with_forest,
    "cleanlab-boosting": cleanlab.with_boosting,
}
#: Not in METHODS: for labels on a scale.
FOR_SCALES: dict[str, Method] = {
    "audit": audits.by_views,
    "audit-ordinal": audits.by_ordinal,
    **{name: method for name, method in FOR_NUMBERS.items() if name.startswith("cleanlab")},
}
#: Not in METHODS: for texts with vectors.
FOR_VECTORS: dict[str, Method] = {
    "audit-words": embedded.by_words,
    "audit-embeddings": embedded.by_words_and_vectors,
    "mislabel-vectors": embedded.mechanism_on_vectors,
    "cleanlab-vectors": embedded.cleanlab_on_vectors,
}
#: Methods used in single sections of the page, not in "all".
SECTION_METHODS: dict[str, Method] = {**FOR_NUMBERS, **FOR_SCALES, **FOR_VECTORS}
#: The only methods that see the true labels of the training rows.
NEEDS_TRUTH = ("nb-clean", "lr-clean", *GIVEN_RATES)
#: The package that a method needs, and the extra of this project that installs it.
_PACKAGES = {
    "cleanlab-lr": ("cleanlab", "bench"),
    "cleanlab-bernoulli": ("cleanlab", "bench"),
    "cleanlab-multinomial": ("cleanlab", "bench"),
    **dict.fromkeys(
        ("cleanlab-linear", "cleanlab-forest", "cleanlab-boosting", "cleanlab-vectors"), ("cleanlab", "bench")
    ),
    "doubtlab": ("doubtlab", "bench"),
    **dict.fromkeys(baselines.need_torch(), ("torch", "neural")),
}


def check_packages(names: Iterable[str]) -> None:
    """Fail before a long run if the package of a peer is missing."""
    for name in names:
        if name in _PACKAGES:
            package, extra = _PACKAGES[name]
            require(package, extra=extra, purpose=f"the method {name}")
