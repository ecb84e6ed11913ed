"""The views of an audit: those that were chosen, or those that suit its columns and size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..data.errors import InputError
from ..text.features import Block
from ..views import NAIVE_BAYES, VIEWS
from .given_inputs import GivenInputs
from .judged import Judged

if TYPE_CHECKING:
    from .table_fit import FitOptions

#: "auto", or names of `VIEWS` and "naive-bayes"
Views = str | Sequence[str]

AUTO = "auto"
#: Views that need an input from the user, and its argument.
NEEDS = {"pred-probs": "pred_probs", "embeddings": "embeddings", "estimator": "estimator"}
# With more rows than this, numeric tables use naive Bayes only; the other views would take many times as long.
_MOST_ROWS = 20_000
# The same with more cells than this.
_MOST_CELLS = 2_000_000
# The same with more scores (rows times classes) than this.
_MOST_SCORES = 400_000
# Default views of numeric tables.
_OF_NUMBERS = ("linear", "neighbours", "trees")


def check_views(options: FitOptions) -> None:
    """Refuse invalid views before anything is read."""
    names = (options.views,) if isinstance(options.views, str) else tuple(options.views)
    if names == (AUTO,):
        names = ()
    for name in names:
        if name not in VIEWS and name != NAIVE_BAYES:
            raise InputError(f"there is no view {name!r}; choose from {', '.join([AUTO, NAIVE_BAYES, *VIEWS])}")
        if name in NEEDS and getattr(options.given, NEEDS[name]) is None:
            raise InputError(f"the view {name!r} needs {NEEDS[name]}=")
    others = [name for name in (*names, *_given_views(options.given)) if name != NAIVE_BAYES]
    if others:
        check_in_memory(f"the view {others[0]!r}", options)
    if options.views == ():
        raise InputError("views is empty; for naive Bayes alone, use views=('naive-bayes',)")


def check_in_memory(what: str, options: FitOptions) -> None:
    """Refuse options that need the default fit of rows in memory, if the method differs or the rows are elsewhere."""
    if options.memory is not None or options.engine != "local":
        raise InputError(
            f"{what} needs all rows in memory, on one machine; leave it out, or audit without --memory and --engine"
        )
    check_method(what, options)


def check_method(what: str, options: FitOptions) -> None:
    """Refuse options that need the default fit, if the method differs."""
    if options.method != "crossfit":
        raise InputError(f"{what} needs method 'crossfit', not {options.method!r}")


def chosen_views(options: FitOptions, judged: Judged, blocks: Sequence[Block], X: Any) -> tuple[str, ...]:
    """Names without duplicates; naive Bayes alone if there are too few rows for folds."""
    if judged.training is None or options.memory is not None or options.engine != "local":
        return (NAIVE_BAYES,)
    names: tuple[str, ...] = (options.views,) if isinstance(options.views, str) else tuple(options.views)
    given = _given_views(options.given)
    if names == (AUTO,):
        names = (NAIVE_BAYES, *_auto(blocks, X, len(judged.classes))) if blocks or not given else ()
    return tuple(dict.fromkeys((*names, *given)))


def _given_views(given: GivenInputs) -> tuple[str, ...]:
    found = [view for view, argument in NEEDS.items() if getattr(given, argument) is not None]
    if given.embeddings is not None:
        found.append("neighbours")
    return tuple(found)


def _auto(blocks: Sequence[Block], X: Any, n_classes: int) -> tuple[str, ...]:
    n, d = X.shape
    has_numbers = any(block.kind == "numeric" for block in blocks)
    has_texts = any(block.kind == "text" for block in blocks)
    too_large = n > _MOST_ROWS or n * d > _MOST_CELLS or n * n_classes > _MOST_SCORES
    if has_texts or not has_numbers or too_large:
        return ()
    return _OF_NUMBERS
