"""Short descriptions of the methods and data sets for the page."""

from __future__ import annotations

from paper.baselines import BASELINES

from .datasets import DATASETS


def _baseline_note(name: str) -> str:
    model = BASELINES[name]()
    changed = ", ".join(f'{key}="{value}"' for key, value in getattr(BASELINES[name], "keywords", {}).items())
    call = f"`{type(model).__name__}({changed})`" if changed else f"`{type(model).__name__}`"
    source = f" ({model.about.source})" if model.about.source else ""
    return f"{call}: {model.about.idea}{source}; assumes {model.about.assumes}{_GIVEN.get(name, '')}"


_RATE = ", here always 0.2"
#: The assumed values that are passed to a baseline.
_GIVEN = {"bayesanil": _RATE, "co-teaching": _RATE, "mentornet": _RATE + ", as no row is verified"}
METHOD_NOTES = {
    "inb": "our default: `MultinomialINB` on TF-IDF for text, `BernoulliINB` for tables, default arguments",
    "inb-bernoulli": "`BernoulliINB` on words present or not, or on the columns of a table",
    "inb-multinomial": "`MultinomialINB` on TF-IDF, or on the columns of a table",
    "inb-em": 'as `inb`, but fitted by the generative EM (`method="em"`)',
    "inb-paper": "the paper's estimator, `BernoulliINB.paper()`",
    "mislabel-lr": "`MislabelClassifier` around logistic regression",
    "nb-noisy": "scikit-learn's naive Bayes on the observed labels; flags rows whose 5-fold prediction differs",
    "nb-clean": "the same on the *true* labels: a bound, not a method; it never counts as best",
    "lr-noisy": "scikit-learn's logistic regression on the observed labels",
    "lr-clean": "the same on the *true* labels: a bound, not a method; it never counts as best",
    "cleanlab-lr": "cleanlab with logistic regression, 5-fold, its default settings",
    "cleanlab-bernoulli": "cleanlab with `BernoulliNB`",
    "cleanlab-multinomial": "cleanlab with `MultinomialNB`",
    "doubtlab": "doubtlab: four reasons for doubt based on a logistic regression fitted on all rows",
    "self-training": "scikit-learn's `SelfTrainingClassifier` on naive Bayes, least certain fifth of labels removed",
    **{name: _baseline_note(name) for name in BASELINES},
    "audit": "`noisybayes.audit` of a numeric table, with its default views",
    "audit-naive-bayes": 'the same by naive Bayes alone, `views=("naive-bayes",)`',
    "cleanlab-linear": "cleanlab with logistic regression on standardised columns, 5-fold",
    "cleanlab-forest": "cleanlab with `RandomForestClassifier`, 5-fold",
    "cleanlab-boosting": "cleanlab with `HistGradientBoostingClassifier`, 5-fold",
    "audit-ordinal": '`noisybayes.audit(mislabel="ordinal")` of labels on a scale',
    "audit-words": "`noisybayes.audit` of texts without their vectors",
    "audit-embeddings": "the same with the vectors, `embeddings=`",
    "mislabel-vectors": "`MislabelClassifier` around logistic regression on the vectors",
    "cleanlab-vectors": "cleanlab with logistic regression on the vectors, 5-fold",
}

#: By the beginning of the name; the first match counts.
DATASET_NOTES = {
    "simulation-unbalanced": "The paper's simulation with a first class three times as large as each other class; the "
    "name contains the paper's n (80 % for training) and the lower end of the interval of P(right label).",
    "simulation": "The paper's simulation: 500 binary features, 5 classes; the name contains the paper's n (80 % for "
    "training) and the lower end of the interval of P(right label).",
    "newsgroups": "20 Newsgroups, random splits, the 7,302 words with the largest summed TF-IDF in the training texts; "
    "the name contains the kind of noise and its percentage.",
    "noisy-ag-news-clean": "NoisyAG-News with its gold labels; seeds change the order of the rows.",
    "noisy-ag-news": "NoisyAG-News: labels of human annotators; seeds change the order of the rows.",
    "livestream-clean": "The paper's Live Streaming Dialog Dataset with the experts' labels, random 80/20 splits.",
    "livestream": "The paper's Live Streaming Dialog Dataset: volunteers' labels, tested on the experts', random 80/20 "
    "splits.",
    "imbalanced": "Simulated texts: six classes from 50 % down to 2 % of the rows, structured noise.",
    "unbalanced": "Texts of two or three classes, subsampled to unequal shares; the name contains the source, the "
    "number of classes, the share of the largest, the kind of noise and its percentage.",
    "ordinal": "Labels on a scale of five; the name contains the kind of noise and its percentage.",
    "embedded": "Texts with sentence embeddings.",
    "table": "A numeric table; the name contains the kind of noise and its percentage.",
    "many-classes": "Simulated short texts: 120 classes of about 50 rows, structured noise.",
}


def dataset_note(name: str) -> str:
    if name not in DATASETS:
        return "A data set from the plug-in folder."
    return next(note for beginning, note in DATASET_NOTES.items() if name.startswith(beginning))
