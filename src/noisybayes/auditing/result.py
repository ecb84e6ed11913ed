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

from ..audit.evidence import Evidence
from ..audit.rates import Rate
from ..data.errors import errors_in_python_words
from ..data.roles import Roles
from ..text.features import Block, Recipe
from .columns import Columns, polars_to_pandas
from .findings import Findings
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
    groups : DataFrame or None
        One row per labeler, level of a source and second opinion: its labels, the estimated share of wrong ones, how
        much that is above the others with a 90 % interval (`difference`, `low`, `high`), the pair it confuses most, and
        the agreement with others (Krippendorff's alpha). None without `labeler`, `source` and `second_opinion`.
    consensus : DataFrame or None
        One row per example with several labels: its `id`, the most probable label given all labels and features, its
        probability, the number of labels, and the share of them that agree. None if every row has one label.
    rate : Rate
        The share of wrong labels: `estimate` (the mean P(wrong)), `at_least` (what nine in ten real data sets exceed;
        None where labels that are all right could look the same), and what was counted, as (n, wrong, low, high):
        `random` (rows checked at random) and `reviewed` (rows chosen otherwise), None without such rows.
    matrix : ndarray of shape (n_classes, n_classes)
        P(observed | true) by expected counts, as [observed, true].
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
        return self._fitted

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
    def groups(self) -> pd.DataFrame | None:
        return self._frame_or_none("groups")

    @property
    def consensus(self) -> pd.DataFrame | None:
        return self._frame_or_none("consensus", self.index)

    @property
    def rate(self) -> Rate:
        return self.findings.rate

    @property
    def matrix(self) -> Any:
        return self.findings.mislabel_matrix

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
            The name of an attribute: "table", "suspects", "health", "groups", "consensus", "by_class",
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

    def random_sample(self, size: int = 50, by: str | None = None) -> pd.DataFrame:
        """Rows drawn at random for checking: row (from 1), id, given, true_label (for you to fill in), and the columns.

        Parameters
        ----------
        size : int, default 50
            Number of rows. A larger sample begins with the smaller one.
        by : str, optional
            Draw in equal parts from each value of this column, such as the labeler.
        """
        from .random_checks import sample_frame

        return polars_to_pandas(sample_frame(self, size, by))

    def to_html(self) -> str:
        """One self-contained page."""
        from ..report.html import render_html

        return render_html(self.summary())

    def to_markdown(self) -> str:
        from ..report.markdown import render_markdown

        return render_markdown(self.summary())

    def to_json(self) -> str:
        return json.dumps(self.summary(), ensure_ascii=False, indent=1)

    def save(
        self, folder: str | Path, format: str = "csv", sample: int | None = None, sample_by: str | None = None
    ) -> Path:  # fmt: skip
        """Write report, tables, JSON and model to a folder that is new, empty or contains an earlier audit.

        Parameters
        ----------
        folder : str or Path
            The folder.
        format : {"csv", "parquet", "xlsx"}, default "csv"
            Format of the tables.
        sample : int, optional
            Also write this many rows drawn at random to to_check.csv, for you to check.
        sample_by : str, optional
            Draw them in equal parts from each value of this column, such as the labeler.
        """
        from ..report.outputs import write_audit

        with errors_in_python_words():
            return write_audit(self, Path(folder), format, sample=sample, sample_by=sample_by)

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:70vh;border:0" title="noisybayes audit"></iframe>'

    def __repr__(self) -> str:
        return f"<Audit: {' '.join(self.summary()['headline'])}>"
