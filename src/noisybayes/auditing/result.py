"""The audit as returned to users: findings, the rows they are about, and how they were obtained."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._shares import percent, range_of
from ..data.errors import errors_in_python_words
from ..data.roles import Roles
from ..text.features import Block, Recipe
from .columns import Columns, polars_to_pandas
from .evidence import Evidence
from .findings import Findings
from .intervals import Intervals
from .noise_rate import NoiseRate
from .streamed import StreamedTable
from .table import Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Run:
    """How an audit was run."""

    title: str = "labels"
    source: str | None = None
    command: str | None = None
    created: str = ""
    seconds: float = 0.0
    seed: int = 0
    notes: tuple[str, ...] = ()
    embedded_with: dict[str, str] | None = None  # name and kind of the model of the texts


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of `audit`.

    Attributes
    ----------
    table : DataFrame
        One row per example, with the index of the audited data frame: given, suggested, p_wrong (missing where
        there is no label), p_suggested, corrected, suspect, verified. For a table with more rows than are fitted, a
        LazyFrame of polars instead: the whole table with these columns, in files that exist as long as the audit.
    suspects : DataFrame
        The suspect rows, most suspicious first, with the label and text columns; of a large table the first 10,000.
    health : DataFrame
        One row per label, most wrong labels first.
    labelers : DataFrame or None
        One row per labeler, highest error rate first; None without `labeler`.
    sources : DataFrame or None
        One row per level of each source: labeled rows, share of wrong labels with its interval, and a note; None
        without `source`.
    consensus : DataFrame or None
        One row per example with several labels: its `id`, the most probable label given all labels and features, its
        probability, the number of labels, and the share of them that agree. None if every row has one label.
    noise_rate : float
        Estimated share of wrong labels.
    mislabel_matrix : ndarray of shape (n_classes, n_classes)
        P(observed | true), as [observed, true].
    rate : NoiseRate
        The share of wrong labels. If rows were checked at random, `low` and `high` are an interval; otherwise they are
        None, and in audits by the robust fit a plausible range.
    intervals : Intervals
        Estimate of `mislabel_matrix`, `noise_rate` and `wrong_by_label`; in audits by the robust fit with low and high,
        valid if mistakes depend on the class only.
    by_class, confused_pairs : DataFrame
        Rows and share of wrong labels by label; pairs of labels by how often one is given instead of the other.
    contradictions : DataFrame
        Checked rows whose label was kept although it is most probably wrong; check them again.
    warnings : list of str
        Reasons to doubt the results.
    model : TableClassifier or estimator
        The fitted classifier.
    """

    findings: Findings
    _fitted: Any  # the model, a scikit-learn class or not
    run: Run = field(default_factory=Run)
    source: Table | None = None  # the audited table; None for rows given with a classifier
    recipe: Recipe | None = None
    index: Any = None  # index of the audited data frame; None: positions
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    def _closing(self, resources: ExitStack) -> Audit:
        """This audit, which closes `resources` when it is garbage-collected."""
        weakref.finalize(self, resources.close)
        return self

    @property
    def model(self) -> Any:
        if "model" not in self._cache:
            from ..estimators.inb import as_estimator

            wrapped = hasattr(self._fitted, "predict")
            self._cache["model"] = self._fitted if wrapped else as_estimator(self._fitted)
        return self._cache["model"]

    @property
    def roles(self) -> Roles | None:
        return None if self.source is None else self.source.roles

    @property
    def table(self) -> pd.DataFrame | pl.LazyFrame:
        rows = self.findings.rows
        return rows.lazy if isinstance(rows, StreamedTable) else self._frame("table", self.index)

    @property
    def suspects(self) -> pd.DataFrame:
        return self._frame("suspects", self.index)

    @property
    def health(self) -> pd.DataFrame:
        return self._frame("health")

    @property
    def labelers(self) -> pd.DataFrame | None:
        return self._frame_or_none("labelers")

    @property
    def sources(self) -> pd.DataFrame | None:
        return self._frame_or_none("sources")

    @property
    def consensus(self) -> pd.DataFrame | None:
        return self._frame_or_none("consensus", self.index)

    @property
    def noise_rate(self) -> float:
        return self.findings.noise_rate

    @property
    def rate(self) -> NoiseRate:
        return self.findings.rate

    @property
    def mislabel_matrix(self) -> Any:
        return self.findings.mislabel_matrix

    @property
    def intervals(self) -> Intervals:
        return self.findings.intervals

    @property
    def by_class(self) -> pd.DataFrame:
        return self._frame("by_class")

    @property
    def confused_pairs(self) -> pd.DataFrame:
        return self._frame("confused_pairs")

    @property
    def contradictions(self) -> pd.DataFrame:
        return self._frame("contradictions")

    @property
    def warnings(self) -> list[str]:
        return self.findings.warnings

    def to_polars(self, table: str = "table") -> pl.DataFrame | None:
        """One of the tables as a polars data frame; pandas is not needed.

        Parameters
        ----------
        table : str, default "table"
            The name of an attribute: "table", "suspects", "health", "labelers", "sources", "consensus", "by_class",
            "confused_pairs" or "contradictions".

        Returns
        -------
        polars.DataFrame or None
            The columns of the attribute. Instead of an index, suspects and contradictions have the column `position`
            (from 0) and the others have the index as a column. None if the attribute is None.
        """
        columns = self._columns(table)
        return None if columns is None else columns.to_polars()

    def _columns(self, table: str) -> Columns | None:
        from .row_frames import TABLES

        if table not in TABLES:
            raise ValueError(f"an audit has no table {table!r}; it has {', '.join(map(repr, TABLES))}")
        columns: Columns | None = self._once(f"columns of {table}", TABLES[table])
        return columns

    def _frame(self, table: str, index: Any = None) -> pd.DataFrame:
        columns = self._columns(table)
        assert columns is not None
        frame: pd.DataFrame = self._once(table, lambda _: columns.to_pandas(index))
        return frame

    def _frame_or_none(self, table: str, index: Any = None) -> pd.DataFrame | None:
        return None if self._columns(table) is None else self._frame(table, index)

    def gather(self, columns: Sequence[str], rows: Any) -> pl.DataFrame:
        """Some columns of some rows (positions) of the audited table."""
        assert self.source is not None
        streamed = self.findings.rows
        return (streamed if isinstance(streamed, StreamedTable) else self.source).gather(columns, rows)

    def evidence(self, rows: Any, most: int = 10) -> list[Evidence]:
        """Evidence for the suggested label against the given one, for each of `rows` (as in the index of `table`)."""
        from .row_frames import positions_of

        return self.findings.evidence(positions_of(rows, self.index), most)

    def feature_name(self, column: int) -> tuple[str, str, str]:
        """Feature, column of the table and kind of a column of X."""
        block = next((block for block in self._blocks if block.start <= column < block.stop), None)
        if block is not None:
            return block.names[column - block.start], block.column, block.kind
        names = getattr(self._fitted, "feature_names_in_", None)
        name = f"column {column}" if names is None else str(names[column])
        return name, name, "numeric"

    @property
    def _blocks(self) -> tuple[Block, ...]:
        return () if self.recipe is None else self.recipe.blocks

    def summary(self) -> dict[str, Any]:
        """The whole audit as a plain dict, for JSON and the report; computed once and not to be modified."""
        from .summary import summarise

        summary: dict[str, Any] = self._once("summary", summarise)
        return summary

    def _once(self, name: str, make: Callable[[Audit], Any]) -> Any:
        if name not in self._cache:
            self._cache[name] = make(self)
        return self._cache[name]

    def random_sample(self, size: int = 50) -> pd.DataFrame:
        """Rows drawn at random for checking: row (from 1), id, given, true_label (for you to fill in), and the columns.

        Parameters
        ----------
        size : int, default 50
            Number of rows. A larger sample begins with the smaller one.
        """
        from .random_checks import sample_frame

        return polars_to_pandas(sample_frame(self, size))

    def to_html(self) -> str:
        """One self-contained page."""
        from ..report.html import render_html

        return render_html(self.summary())

    def to_markdown(self) -> str:
        from ..report.markdown import render_markdown

        return render_markdown(self.summary())

    def to_json(self) -> str:
        return json.dumps(self.summary(), ensure_ascii=False, indent=1)

    def save(self, folder: str | Path, format: str = "csv", sample: int | None = None) -> Path:
        """Write report, tables, JSON and model to a folder that is new, empty or contains an earlier audit.

        Parameters
        ----------
        folder : str or Path
            The folder.
        format : {"csv", "parquet", "xlsx"}, default "csv"
            Format of the tables.
        sample : int, optional
            Also write this many rows drawn at random to to_check.csv, for you to check.
        """
        from ..report.outputs import write_audit

        with errors_in_python_words():
            return write_audit(self, Path(folder), format, sample=sample)

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:70vh;border:0" title="noisybayes audit"></iframe>'

    def __repr__(self) -> str:
        rows = self.findings.rows
        wrong = self.noise_rate * rows.n_labeled
        labels = "label" if round(wrong) == 1 else "labels"
        suspects = "suspect" if rows.n_suspects == 1 else "suspects"
        low, high = self.rate.low, self.rate.high
        interval = "" if low is None or high is None else f", {range_of(low, high)}"
        return (
            f"<Audit of {rows.n_rows:,} rows: about {wrong:,.0f} wrong {labels} "
            f"({percent(self.noise_rate)}{interval}), {rows.n_suspects:,} {suspects}>"
        )
