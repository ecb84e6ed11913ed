"""The methods, ours and the peers: name -> function(Task) -> Outcome, by the kind of data they are for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import noisybayes
from noisybayes import BernoulliINB, MislabelClassifier, MultinomialINB
from noisybayes._extras import require
from noisybayes.audit.classifier import TableClassifier
from noisybayes.audit.columns import ColumnKinds
from noisybayes.audit.pool import Given, fit_pool
from noisybayes.audit.rows import Rule
from noisybayes.auditing.pooled import PooledRows, findings_of_pool
from noisybayes.text.features import Block

from .tasks import (
    N_FOLDS,
    Array,
    Features,
    Method,
    Outcome,
    Task,
    binary,
    centered,
    logistic_regression,
    of_given,
    out_of_fold,
    tfidf,
)

# --- ours ------------------------------------------------------------------------------------------------------------


def default(task: Task) -> Outcome:
    """The audit of a text column, TF-IDF as the other methods see it, or of yes/no columns."""
    features = tfidf(task)
    classes, observed = np.unique(task.y, return_inverse=True)
    train, test = (sparse.csr_array(part) for part in features)
    kinds = ColumnKinds.fit([Block("text" if task.kind == "text" else "binary", "x", 0, train.shape[1], ())], train)
    columns, unknown = kinds(train), np.full(len(observed), -1)
    pool = fit_pool(columns, Given(observed, unknown, len(classes)), seed=task.seed)
    rows = PooledRows(classes, pool, observed, unknown, tuple(columns), train.shape[1])
    found = findings_of_pool(rows, Rule(None))
    model = TableClassifier.of(pool, kinds, classes, train.shape[1], found.rate.estimate)
    results = found.rows.results
    return Outcome(
        p_wrong=results.p_wrong,
        flagged=results.suspect,
        suggested=classes[results.suggested],
        noise_rate=found.rate.estimate,
        test_pred=model.predict(test),
        calibrated=True,
        corrected=classes[results.corrected],
    )


def by_em(task: Task) -> Outcome:
    """The generative EM: MultinomialINB on TF-IDF for text, BernoulliINB for tables of zeros and ones."""
    model = MultinomialINB if task.kind == "text" else BernoulliINB
    return of_model(model(method="em"), tfidf(task), task.y)


def paper(task: Task) -> Outcome:
    return of_model(BernoulliINB.paper(), binary(task), task.y)


def mislabel(task: Task) -> Outcome:
    return of_model(MislabelClassifier(logistic_regression()), centered(task), task.y)


def mislabel_on_vectors(task: Task) -> Outcome:
    return of_model(MislabelClassifier(logistic_regression()), _vectors(task), task.y)


def of_model(model: Any, features: Features, y: Array) -> Outcome:
    """Fit one of our estimators; P(wrong) out of fold if it has that."""
    model.fit(features.train, y)
    in_folds = hasattr(model, "true_proba_")
    posterior = model.true_proba_ if in_folds else model.predict_true_proba(features.train, y)
    by_matrix = 1.0 - of_given(posterior, model.classes_, y)
    suggested = model.classes_[posterior.argmax(axis=1)]
    return Outcome(
        p_wrong=by_matrix,
        flagged=suggested != y,
        suggested=suggested,
        noise_rate=float(by_matrix.mean()),
        test_pred=model.predict(features.test),
        calibrated=True,
    )


def audit(task: Task, **asked: Any) -> Outcome:
    """Of a numeric table, or of labels on a scale."""
    columns = {f"x{j}": task.X[:, j] for j in range(task.X.shape[1])}
    test = {f"x{j}": task.X_test[:, j] for j in range(task.X.shape[1])}
    return _audited(task, columns, test, numeric=_varying(task.X), **asked)


def audit_texts(task: Task, vectors: bool) -> Outcome:
    """Of the words or, where there are any, the columns; and of the vectors."""

    def frame(data: Any) -> dict[str, Any]:
        return {"text": data.texts, **{f"x{j}": data.columns[:, j] for j in range(data.columns.shape[1])}}

    features = {"binary": _varying(task.X.columns)} if task.X.columns.shape[1] else {"text": "text"}
    asked = {"embeddings": task.X.vectors} if vectors else {}
    return _audited(task, frame(task.X), frame(task.X_test), **features, **asked)


def _audited(task: Task, columns: dict[str, Any], test: dict[str, Any], **asked: Any) -> Outcome:
    labels = pl.Series([f"class {code:03d}" for code in task.y.tolist()])  # in the order of their codes
    result = noisybayes.audit(
        pl.DataFrame({**columns, "label": labels}), label="label", random_state=task.seed, **asked
    )
    table = result.table
    predicted = result.model.predict(result.recipe.transform(pl.DataFrame(test)))  # type: ignore[union-attr]
    return Outcome(
        p_wrong=table["p_wrong"].to_numpy(),
        flagged=table["suspect"].to_numpy(),
        suggested=_codes(table["suggested"]),
        noise_rate=result.rate.estimate,
        test_pred=_codes(predicted),
        calibrated=True,
        corrected=_codes(table["corrected"]),
    )


def _codes(labels: Any) -> Array:
    return np.array([int(str(label).removeprefix("class ")) for label in labels])


def _varying(X: Array) -> list[str]:
    """Without constant columns, which carry no information."""
    return [f"x{j}" for j in range(X.shape[1]) if X[:, j].min() < X[:, j].max()]


def _vectors(task: Task) -> Features:
    return Features(task.X.vectors.astype(np.float64), task.X_test.vectors.astype(np.float64))


# --- plain classifiers: on the observed labels, and on the true ones as an upper bound -------------------------------


def naive_bayes(task: Task, clean: bool = False) -> Outcome:
    return _plain(MultinomialNB() if task.kind == "text" else BernoulliNB(), tfidf(task), task, clean)


def clean_regression(task: Task) -> Outcome:
    return _plain(logistic_regression(), centered(task), task, clean=True)


def _plain(model: Any, features: Features, task: Task, clean: bool) -> Outcome:
    """A label is flagged where the out-of-fold prediction of a classifier trained on these labels differs from it."""
    labels = task.true if clean else task.y
    if labels is None:
        raise ValueError("a bound needs the true labels")
    classes = np.unique(labels)
    proba = out_of_fold(model, features.train, labels, task.seed)
    suggested = classes[proba.argmax(axis=1)]
    flagged = suggested != task.y
    test_pred = clone(model).fit(features.train, labels).predict(features.test)
    return Outcome(1.0 - of_given(proba, classes, task.y), flagged, suggested, float(flagged.mean()), test_pred)


# --- peers -----------------------------------------------------------------------------------------------------------


def cleanlab(task: Task, classifier: Any, features: Any) -> Outcome:
    """As its documentation uses it: 5-fold probabilities, find_label_issues, CleanLearning."""
    library = require("cleanlab", extra="bench", purpose="the peer cleanlab")
    model, (train, test) = classifier(task), features(task)
    classes, labels = np.unique(task.y, return_inverse=True)  # it takes labels 0..K-1 without gaps
    proba = library.count.estimate_cv_predicted_probabilities(train, labels, model, cv_n_folds=N_FOLDS, seed=task.seed)
    # The same rows, sooner: it would fork this process for each call, which can also hang a process with threads.
    processes = {"n_jobs": 1}
    flagged = library.filter.find_label_issues(labels, proba, **processes)
    # CleanLearning would compute the same probabilities; passing them halves its time
    learner = library.classification.CleanLearning(model, cv_n_folds=N_FOLDS, find_label_issues_kwargs=processes)
    learner.fit(train, labels, pred_probs=proba)
    return Outcome(
        p_wrong=1.0 - library.rank.get_label_quality_scores(labels, proba),
        flagged=flagged,
        suggested=np.where(flagged, classes[proba.argmax(axis=1)], task.y),
        noise_rate=float(1.0 - np.trace(library.count.estimate_joint(labels, proba))),
        test_pred=classes[learner.predict(test)],
    )


def doubtlab(task: Task) -> Outcome:
    """Four reasons for doubt based on a logistic regression, as in its documentation."""
    require("doubtlab", extra="bench", purpose="the peer doubtlab")
    reason, ensemble = import_module("doubtlab.reason"), import_module("doubtlab.ensemble")
    features = centered(task)
    model = logistic_regression().fit(features.train, task.y)
    doubt = ensemble.DoubtEnsemble(
        proba=reason.ProbaReason(model),
        wrong_prediction=reason.WrongPredictionReason(model),
        long_confidence=reason.LongConfidenceReason(model),
        short_confidence=reason.ShortConfidenceReason(model),
    )
    # its table is sorted by doubt
    n_reasons = doubt.get_predicates(features.train, task.y).sort_index().to_numpy(np.float64).sum(axis=1)
    proba, flagged = model.predict_proba(features.train), n_reasons > 0
    return Outcome(
        # it ranks by the number of reasons; among ties the less probable label comes first
        p_wrong=n_reasons + 1.0 - of_given(proba, model.classes_, task.y),
        flagged=flagged,
        suggested=np.where(flagged, model.classes_[proba.argmax(axis=1)], task.y),
        noise_rate=float(flagged.mean()),
        test_pred=model.predict(features.test),
    )


# --- registry --------------------------------------------------------------------------------------------------------


def _cleanlab(classifier: Any, features: Any) -> Method:
    return partial(cleanlab, classifier=classifier, features=features)


_WORDS: dict[str, Method] = {
    "inb": default,
    "inb-em": by_em,
    "inb-paper": paper,
    "mislabel-lr": mislabel,
    "nb-noisy": naive_bayes,
    "nb-clean": partial(naive_bayes, clean=True),
    "lr-clean": clean_regression,
    "cleanlab-lr": _cleanlab(lambda task: logistic_regression(), centered),
    "cleanlab-bernoulli": _cleanlab(lambda task: BernoulliNB(), binary),
    "cleanlab-multinomial": _cleanlab(lambda task: MultinomialNB(), tfidf),
    "doubtlab": doubtlab,
}
_CLEANLAB_ON_NUMBERS: dict[str, Method] = {
    "cleanlab-linear": _cleanlab(lambda task: make_pipeline(StandardScaler(), logistic_regression()), tfidf),
    "cleanlab-forest": _cleanlab(lambda task: RandomForestClassifier(random_state=task.seed), tfidf),
    "cleanlab-boosting": _cleanlab(lambda task: HistGradientBoostingClassifier(random_state=task.seed), tfidf),
}
_NUMBERS = {"audit": audit, **_CLEANLAB_ON_NUMBERS}
_SCALES = {"audit": audit, "audit-ordinal": partial(audit, mislabel="ordinal"), **_CLEANLAB_ON_NUMBERS}
_VECTORS: dict[str, Method] = {
    "audit-words": partial(audit_texts, vectors=False),
    "audit-embeddings": partial(audit_texts, vectors=True),
    "mislabel-vectors": mislabel_on_vectors,
    "cleanlab-vectors": _cleanlab(lambda task: logistic_regression(), _vectors),
}
METHODS: dict[str, Method] = {**_WORDS, **_NUMBERS, **_SCALES, **_VECTORS}
#: Methods by the beginning of the names of the data sets that they are for.
_BY_DATASET = {"table-": _NUMBERS, "ordinal-": _SCALES, "embedded-": _VECTORS, "": _WORDS}
#: The only methods that see the true labels of the training rows.
NEEDS_TRUTH = ("nb-clean", "lr-clean")


def methods_for(dataset: str) -> Iterable[str]:
    return next(methods for beginning, methods in _BY_DATASET.items() if dataset.startswith(beginning))


def answer(method: str, task: Task) -> Outcome:
    """No method sees the labels that it is measured on, except those that train on the true labels by definition."""
    shown = task.without_truth()._replace(true=task.true if method in NEEDS_TRUTH else None)
    # a peer that changes the labels in place must not change them for the next one
    return METHODS[method](shown._replace(y=task.y.copy()))
