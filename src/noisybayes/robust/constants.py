"""Every constant of the robust fit, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


def constant(value: Any, reason: str) -> Any:
    return field(default=value, metadata={"reason": reason})


class Offsets(NamedTuple):
    """The base of the class offsets, and the penalty for leaving it."""

    penalty: float  # nats per row and square of an offset
    from_shares: bool = True  # from the log class shares, or else from zero
    nearly_fixed: bool = False  # so that the matrix has to explain the sizes of the classes


@dataclass(frozen=True)
class Config:
    n_folds: int = constant(
        5, "a fit to four fifths of the rows is nearly as good as one to all; sums make the folds cheap"
    )
    small_table_rows: int = constant(500, "fewer rows than this get `n_folds_small_table` folds")
    n_folds_small_table: int = constant(
        10, "with few rows, a fit to four fifths of them is visibly worse than one to all"
    )
    max_rounds: int = constant(3, "reweighting has hardly any effect after the second round")
    rounds_min_gain: float = constant(
        0.005, "nats per row that more rounds must gain on held-out labels: labels never regain weight"
    )
    em_standard_errors: float = constant(1.0, "standard errors by which EM must beat the rounds on held-out labels")
    held_out_rows: int = constant(
        3_000,
        "likelihoods of rounds differ by hundredths of a nat per row; this many held-out rows are enough to compare "
        "them. EM gains less, so all rows are held out in turn where it is a candidate",
    )
    max_components: int = constant(
        200,
        "classes times held-out folds that are fitted at once: with hundreds of classes, parameters need much memory",
    )
    comparison_rows: int = constant(
        10_000, "score models are compared on this many rows: enough for hundredths of a nat"
    )
    model_standard_errors: float = constant(2.0, "standard errors by which a score model must beat the first one")
    selection_rows: int = constant(
        20_000,
        "with more rows, score model and rounds are chosen on a random sample of this size: a fold of it has more "
        "than `held_out_rows`",
    )
    sample_rows: int = constant(
        100_000,
        "with more rows, the calibration is fitted to a random sample of this size, and the matrix to all rows",
    )
    max_sample_entries: int = constant(
        20_000_000, "the sample has no more entries than this if texts are long: some 240 MB"
    )
    offsets_min_gain: float = constant(
        0.01,
        "nats per row that offsets other than the first must gain: a label that labelers favour makes its class look "
        "large",
    )
    min_kept_share: float = constant(
        0.6,
        "a class keeps at least this share of its labels; if every label has this fraction of an equal share of the "
        "rows, the true classes may be equally large",
    )
    smoothing: tuple[float, ...] = constant(
        (0.3, 0.1, 1.0), "pseudo-counts of words that are compared, the middle one first; 1 is scikit-learn's default"
    )
    word_offsets: tuple[Offsets, ...] = constant(
        (Offsets(0.1, nearly_fixed=True), Offsets(0.1, from_shares=False, nearly_fixed=True), Offsets(0.001)),
        "penalty of the offsets of words, and whether they are centred on the class shares: shares, equal classes, "
        "nearly free",
    )
    offset_spreads: tuple[float, ...] = constant(
        (0.25, 1.0),
        "standard deviations of the prior on offsets of tables: shares are known well, unless features depend on one "
        "another",
    )
    strengths: tuple[float, ...] = constant(
        (16.0, 1.0, 256.0, 4096.0),
        "weight of the pooled mean in rows: from hardly any shrinkage to nearly identical classes",
    )
    reviewer_miss_rate: float = constant(
        0.05, "share of wrong labels that a reviewer keeps by mistake: verdicts are evidence, not facts"
    )
    em_tolerance: float = constant(1e-4, "nats per row: EM as a candidate need not converge to the last digit")
    start_diagonal: float = constant(0.9, "labels are mostly right: the matrix starts there")
    pseudo_rows: float = constant(
        10.0,
        "pseudo-rows per class that shrink the matrix towards one common rate: a few thousand rows are too few for K "
        "x K cells",
    )
    one_rate_pseudo_rows: float = constant(
        1e9, "pseudo-rows where one rate of mistakes is enough: the matrix is that rate"
    )
    min_error_rate: float = constant(
        0.01,
        "a smaller rate of mistakes says that all labels are right, which the audit compares with the matrix anyway",
    )
    newton_rows: int = constant(4_000, "rows for the K + 1 parameters of an intermediate calibration")
    calibration_scores: int = constant(
        4_000_000, "scores that the last calibration is fitted to: with 1,000 classes 100,000 rows would take 1.6 GB"
    )
    calibration_tolerance: float = constant(1e-4, "nats per row: far below what a choice must gain")
    final_tolerance: float = constant(1e-6, "nats per row, for the last calibration with many rows")
    calibration_rounds: int = constant(80, "maximum number of calibration rounds")
    matrix_rounds: int = constant(3, "rounds of the matrix over all rows, once temperatures and offsets are fitted")
    two_starts_below_rows: int = constant(
        1_000,
        "below this many rows the likelihood can have two maxima, so a second fit starts from sharper scores (of 16 "
        "fits of 300 to 400 rows, 3 ended on the lower one without it; above 1,000 rows none was seen)",
    )
    temperature_factor: float = constant(
        3.0, "factor on the temperatures at the start of the second fit, and of `review_count_`"
    )
    second_start_min_gain: float = constant(
        1e-3, "nats per row by which the second fit must end higher: ends at the same maximum differ by the tolerance"
    )
    min_diagonal: float = constant(
        0.5,
        "most labels of every class must be right at that maximum, as the fit assumes: uninformative features allow "
        "other maxima",
    )


DEFAULT = Config()
