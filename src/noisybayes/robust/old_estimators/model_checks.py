"""Invariants of every fitted model, whatever file it came from: types, shapes, ranges, finite numbers.

Scores are computed by compiled code that trusts its arrays; a wrong index there would crash the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dataset.tree import Array
from ..old_model.em import Model, Params, Stats
from ..old_model.families import Bernoulli, Family, Gaussian, Mixed, Multinomial
from ..old_model.families.bernoulli import BernoulliParams, BetaPrior
from ..old_model.families.gaussian import GaussianParams, GaussianPrior, GaussianStats
from ..old_model.mislabel import Fixed
from ..old_model.ordinal import Ordinal
from ..old_model.structures import STRUCTURES
from ..recalibration import Recalibration
from ..score_models import BlockFamily
from ..scoring import Scoring
from ..words import Words
from . import arguments

# sums of probabilities in single precision
_TOLERANCE = 1e-3
_MAX_CLASSES = 1_000_000
# arrays that hold one entry per class and column
_FEATURE_ATTRIBUTES = ("feature_prob_", "theta_", "var_")


def check_model(estimator: Any) -> None:
    """Raise a ValueError that names the violated invariant."""
    fitted = vars(estimator)
    _check_settings(estimator)
    K, d = _classes(fitted["classes_"]), _integer(fitted["n_features_in_"], "n_features_in_", minimum=1)
    _check_names(fitted.get("feature_names_in_"), d)
    _check_generative(fitted["_model"], fitted["params_"], fitted["statistics_"], K, d)
    _check_scoring(fitted["_scoring"], fitted["_model"].family, K, d)
    _probabilities(fitted["class_prior_"], "class_prior_", (K,))
    for name in ("mislabel_matrix_", "_label_matrix"):
        _probabilities(fitted[name], name, (K, K))
    recalibration = _of_type(fitted["_recalibration"], Recalibration, "_recalibration")
    for part in recalibration:
        _number(part, "_recalibration")
    for name in _FEATURE_ATTRIBUTES:
        if name in fitted:
            _finite(fitted[name], name, (K, d))


def _check_settings(estimator: Any) -> None:
    arguments.method(estimator.method)
    arguments.fit_settings(estimator)
    arguments.checked_compress(estimator.compress)
    arguments.n_jobs(estimator.n_jobs)


def _classes(classes: Any) -> int:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not 1 <= len(classes) <= _MAX_CLASSES:
        raise ValueError("classes_ is not a list of labels")
    labels = classes.tolist()
    if classes.dtype == object and not all(isinstance(label, str | int | float) for label in labels):
        raise ValueError("classes_ contains something that is not a label")
    if len(set(labels)) < len(labels):
        raise ValueError("classes_ contains a label twice")
    return len(classes)


def _check_names(names: Any, d: int) -> None:
    if names is None:
        return
    if not isinstance(names, np.ndarray) or names.shape != (d,) or not all(isinstance(n, str) for n in names.tolist()):
        raise ValueError(f"feature_names_in_ are not the names of {d} columns")


def _check_generative(model: Any, params: Any, stats: Any, K: int, d: int) -> None:
    _of_type(model, Model, "_model")
    _of_type(params, Params, "params_")
    _of_type(stats, Stats, "statistics_")
    _probabilities(params.prior, "params_.prior", (1, K), axis=1)
    _probabilities(params.mislabel, "params_.mislabel", (1, K, K), axis=1)
    joint = _finite(stats.joint, "statistics_.joint", (1, K + 1, K))
    if joint.min() < -_TOLERANCE * max(1.0, float(joint.max())):
        raise ValueError("statistics_.joint contains a negative weight")
    _check_family(model.family, d)
    _check_block(model.family, params.features, stats.features, model.feature_prior, K, d)
    if not isinstance(model.structure, (*STRUCTURES.values(), Fixed)):
        raise ValueError("the structure of the mislabeling matrix is of an unknown kind")
    if isinstance(model.structure, Ordinal) and sorted(model.structure.ranks or range(K)) != list(range(K)):
        raise ValueError(f"the positions of the classes on their scale are not 0 to {K - 1}")
    known: Any = model.structure
    known = known.matrix if isinstance(known, Fixed) else known.pseudo
    if np.shape(known) not in ((), (K, K)):
        raise ValueError(f"the structure of the mislabeling matrix has the shape {np.shape(known)}")
    _at_least(known, "the structure of the mislabeling matrix", 0.0)
    if model.class_prior is not None:
        _probabilities(model.class_prior, "class_prior", (K,))


def _check_family(family: Any, d: int) -> None:
    """Check the family, and that the blocks of a mixed one partition the columns."""
    _of_type(family, Family, "the family")
    if isinstance(family, Gaussian):
        if np.shape(family.centre) not in ((), (d,)):
            raise ValueError(f"the centre has the shape {np.shape(family.centre)}")
        _at_least(family.centre, "the centre", -np.inf)
    if isinstance(family, Bernoulli) and family.binarize is not None:
        _number(family.binarize, "binarize")
    if isinstance(family, Mixed):
        _of_type(family.families, tuple, "the families")
        _of_type(family.columns, tuple, "the columns")
        if sorted(np.concatenate([_columns(columns, d) for columns in family.columns]).tolist()) != list(range(d)):
            raise ValueError(f"the blocks do not partition the {d} columns")
        for part, columns in zip(family.families, family.columns, strict=True):
            if isinstance(part, Mixed):
                raise ValueError("a block is mixed itself")
            _check_family(part, len(columns))


def _check_block(family: Any, params: Any, stats: Any, prior: Any, K: int, d: int) -> None:
    if isinstance(family, Mixed):
        for name, value in (("params", params), ("statistics", stats), ("prior", prior)):
            if type(value) is not tuple or len(value) != len(family.families):
                raise ValueError(f"the {name} do not belong to {len(family.families)} blocks")
        for part, columns, p, s, q in zip(family.families, family.columns, params, stats, prior, strict=True):
            _check_block(part, p, s, q, K, len(columns))
        return
    _check_params(family, params, K, d)
    if isinstance(family, Gaussian):
        _of_type(stats, GaussianStats, "the statistics")
        _of_type(prior, GaussianPrior, "the prior")
    if isinstance(family, Bernoulli):
        _of_type(prior, BetaPrior, "the prior")
    for leaf in _leaves(stats):
        _finite(leaf, "the statistics", (K, d))
    for leaf in _leaves(prior):
        if np.shape(leaf) not in ((), (1,), (d,)):
            raise ValueError(f"the prior has the shape {np.shape(leaf)}")
        _at_least(leaf, "the prior", -np.inf if isinstance(family, Gaussian) else 0.0)


def _check_params(family: Any, params: Any, K: int, d: int) -> None:
    params_types = {Bernoulli: BernoulliParams, Gaussian: GaussianParams}
    if type(family) in params_types:
        _of_type(params, params_types[type(family)], "the parameters")
    arrays = [_finite(leaf, "the parameters", (K, d)) for leaf in _leaves(params)]
    if isinstance(family, Bernoulli | Multinomial) and max(array.max(initial=0.0) for array in arrays) > _TOLERANCE:
        raise ValueError("the logarithm of a probability is positive")
    if isinstance(family, Gaussian) and params.var.min(initial=1.0) <= 0:
        raise ValueError("a variance is not positive")


def _check_scoring(scoring: Any, family: Family, K: int, d: int) -> None:
    _of_type(scoring, Scoring, "_scoring")
    _of_type(scoring.families, tuple, "the scores")
    _of_type(scoring.params, tuple, "the scores")
    n_scores = len(scoring.families)
    if n_scores == 0:
        raise ValueError("there are no scores")
    _finite(scoring.temperature, "the temperatures", (n_scores,))
    constant = _array(scoring.constant, "the constants", (K,))
    if not (constant < np.inf).all():  # a class that lost all its rows has probability 0
        raise ValueError("the constants are not finite")
    for scored, params in zip(scoring.families, scoring.params, strict=True):
        _check_score(scored, params, family, K, d)


def _check_score(scored: Any, params: Any, family: Family, K: int, d: int) -> None:
    """Rows come to a mixed model as a tuple of blocks, and to any other as one matrix."""
    if isinstance(scored, BlockFamily):
        if not isinstance(family, Mixed):
            raise ValueError("the scores are for blocks, but the model has none")
        block = _integer(scored.block, "the block", minimum=0)
        if block >= len(family.columns) or not np.array_equal(scored.columns, family.columns[block]):
            raise ValueError("the scores are for other columns than the block")
        if _integer(scored.n_columns, "n_columns", minimum=1) != d or isinstance(scored.family, BlockFamily | Mixed):
            raise ValueError("the scores are for another table")
        _check_score(scored.family, params, scored.family, K, len(family.columns[block]))
    elif isinstance(scored, Words):
        if isinstance(family, Mixed):
            raise ValueError("the scores are of another family")
        _finite(params, "the scores", (K, d))
    else:
        if isinstance(scored, Mixed) != isinstance(family, Mixed):
            raise ValueError("the scores are of another family")
        _check_family(scored, d)
        parts = zip(scored.families, scored.columns, params, strict=True) if isinstance(scored, Mixed) else ()
        for part, columns, p in parts:
            _check_params(part, p, K, len(columns))
        if isinstance(scored, Mixed):
            _same_columns(scored, family)
        else:
            _check_params(scored, params, K, d)


def _same_columns(scored: Mixed, family: Any) -> None:
    if len(scored.columns) != len(family.columns) or not all(map(np.array_equal, scored.columns, family.columns)):
        raise ValueError("the scores are for other columns than the blocks")


def _columns(columns: Any, d: int) -> Array:
    if not isinstance(columns, np.ndarray) or columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise ValueError("the columns of a block are not whole numbers")
    if len(columns) == 0 or columns.min() < 0 or columns.max() >= d:
        raise ValueError(f"the columns of a block are not among 0..{d - 1}")
    return columns


def _leaves(tree: Any) -> list[Any]:
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, tuple) else [tree]


def _of_type(value: Any, cls: type[Any], name: str) -> Any:
    if not isinstance(value, cls):
        raise ValueError(f"{name}: expected a {cls.__name__}, got a {type(value).__name__}")
    return value


def _array(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.dtype.itemsize not in (4, 8):
        raise ValueError(f"{name}: not an array of numbers")
    if value.shape != shape:
        raise ValueError(f"{name}: expected the shape {shape}, got {value.shape}")
    return value


def _finite(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    array = _array(value, name, shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: a number is not finite")
    return array


def _probabilities(value: Any, name: str, shape: tuple[int, ...], axis: int = 0) -> None:
    """All of a vector, or each column of a matrix, sum to 1."""
    array = _finite(value, name, shape)
    if array.min() < 0 or np.abs(array.sum(axis=axis) - 1.0).max() > _TOLERANCE:
        raise ValueError(f"{name}: not probabilities that sum to 1")


def _at_least(value: Any, name: str, minimum: float) -> None:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all() or (array < minimum).any():
        raise ValueError(f"{name} contains a number out of range")


def _number(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{name}: {str(value)[:40]!r} is not a number")


def _integer(value: Any, name: str, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**31:
        raise ValueError(f"{name}: {str(value)[:40]!r} is not a whole number of at least {minimum}")
    return value
