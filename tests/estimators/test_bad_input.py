"""What bad input gets: it works, or an error names the argument and the fix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate

ALL = [BernoulliINB, MultinomialINB, GaussianINB, MixedINB]
X = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
Y = np.array(["a", "b", "a", "b", "a", "b"])


def changed(row, column, value):
    out = X.copy()
    out[row, column] = value
    return out


ROWS_AND_LABELS = [
    ((changed(1, 2, np.nan), Y), "Input X contains NaN"),
    ((X, Y[:5]), "y has 5 entries but X has 6 rows; they must have the same length"),
    ((X, np.array([1.0, 2, np.nan, 1, 2, 1])), "Input y contains NaN or None; drop those rows, or pass missing"),
    ((X, np.array(["a", None, "b", "a", "b", "a"], dtype=object)), "Input y contains NaN or None; drop those"),
    ((X, np.array(["a", 3, "b", "a", "b", "a"], dtype=object)), "y mixes labels of the types int, str; make them"),
    ((X, Y, ["a", None, None]), "verified has 3 entries but X has 6 rows; they must have the same length"),
    ((X, Y, ["a", "q", *[None] * 4]), "not among the known classes: 'q'; the classes are 'a', 'b'"),
    ((X, Y, None, np.ones(5)), r"sample_weight.shape == \(5,\), expected \(6,\)"),
    ((X, Y, None, [1, 1, 1, 1, 1, -1]), "Negative values in data passed to `sample_weight`"),
    ((X, Y, None, [1, 1, 1, 1, 1, np.nan]), "Input sample_weight contains NaN"),
    ((X, Y, None, np.zeros(6)), "sample_weight is zero for every row|at least one non-zero number"),
]
ARGUMENTS = [
    ({"alpha": -1}, "alpha must be 'auto' or a number of at least 0, got -1"),
    ({"method": "magic"}, "method must be one of 'crossfit', 'em', got 'magic'"),
    ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
    ({"tol": "tight"}, "tol must be a number of at least 0, got 'tight'"),
    ({"mislabel": "diagonal"}, "mislabel must be one of 'full', 'symmetric', 'uniform', 'ordinal' or a matrix"),
    ({"mislabel": np.eye(3)}, r"mislabel has the shape \(3, 3\), but y has 2 classes: it must be \(2, 2\)"),
    ({"mislabel": [[0.9, 0.1], [0.2, 0.8]]}, "columns of mislabel must sum to 1.*column 0 sums to 1.1; divide each"),
    ({"mislabel": [[1.1, 0], [-0.1, 1]]}, "mislabel contains entries that are negative or not finite"),
    ({"mislabel": np.eye(2), "mislabel_prior": 1.0}, "mislabel_prior has no use when mislabel is a given"),
    ({"mislabel_prior": np.ones(3)}, r"mislabel_prior must be a number or of the shape \(2, 2\)"),
    ({"mislabel_prior": -1.0}, "mislabel_prior must contain finite pseudo-counts of at least 0"),
    ({"class_prior": [0.9, 0.9]}, r"class_prior must be probabilities of at least 0 .*got \[0.9, 0.9\]"),
    ({"random_state": "dice"}, "random_state must be a whole number or a generator, got 'dice'"),
]
BAD = [({}, *case) for case in ROWS_AND_LABELS] + [(arguments, (X, Y), message) for arguments, message in ARGUMENTS]
BAD += [
    ({"missing_label": "a"}, (X, np.full(6, "a")), "y contains no label; at least one row needs one"),
    ({"mislabel": np.eye(2)}, (X, Y, ["b", *[None] * 5]), "some row has probability 0: its label"),
]


@pytest.mark.parametrize(("make", "arguments", "fit", "message"), [(ALL[i % 4], *case) for i, case in enumerate(BAD)])
def test_bad_input_is_named(make, arguments, fit, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments).fit(*fit)


@pytest.mark.parametrize(
    ("model", "rows", "message"),
    [
        (BernoulliINB(binarize=None), 2 * X, "values other than 0 and 1, which binarize=None does not allow"),
        (BernoulliINB(binarize="half"), X, "binarize must be a number or None, got 'half'"),
        (BernoulliINB(start="middle"), X, "start must be one of 'labels', 'paper', 'paper-near-half', got 'middle'"),
        (BernoulliINB(start="paper", n_init=0), X, "n_init must be a whole number of at least 1, got 0"),
        (BernoulliINB(binarize=-1.0), sparse.csr_array(2 * X), "binarize must not be negative for sparse X"),
        (MultinomialINB(), changed(0, 0, -1.0), "Negative values in data passed as X: MultinomialINB expects counts"),
        (MixedINB("bernoulli"), X, "blocks must be 'auto' or a list of pairs"),
        (MixedINB([]), X, "blocks is empty; give at least one pair"),
        (MixedINB([("poisson", [0, 1, 2])]), X, "a family must be one of 'bernoulli', 'gaussian', 'multinomial'"),
        (MixedINB([("bernoulli", [0, 1])]), X, "the columns 2 of X belong to no block; add them to one, or drop them"),
        (MixedINB([("bernoulli", [0, 1, 2]), ("gaussian", [1])]), X, "columns 1 of X belong to more than one block"),
        (MixedINB([("bernoulli", [True, False])]), X, "a mask of columns has 2 entries, but X has 3 columns"),
        (MixedINB([("bernoulli", [0, 7])]), X, r"columns must be among 0..2 and not empty, got \[0, 7\]"),
        (MixedINB([("bernoulli", ["age"])]), X, "blocks names the column 'age', but X has no column names; pass a"),
    ],
)
def test_what_does_not_suit_the_family_is_named(model, rows, message):
    with pytest.raises(ValueError, match=message):
        model.fit(rows, Y)


TABLES = {
    "one row": (X[:1], Y[:1]),
    "one class": (X, np.full(6, "a")),
    "class of one row": (X, np.array(["a", "a", "a", "a", "a", "b"])),
    "zeros": (np.zeros((6, 3)), Y),
    "constant columns": (np.hstack([X, np.ones((6, 2))]), Y),
    "one column": (X[:, :1], Y),
}
ALPHAS, STRUCTURES = [0.0, 1.0, "auto"], ["full", "symmetric", "uniform", "ordinal"]
#: All pairs of class, table and method; the other settings and the form of the rows take turns.
SMALL_FITS = [
    (make, table, method, ALPHAS[(i + j) % 3], STRUCTURES[(i + 2 * j) % 4], (i + j) % 3)
    for i, make in enumerate(ALL)
    for j, table in enumerate(TABLES)
    for method in ("em", "crossfit")
]


@pytest.mark.filterwarnings("ignore")  # of data as small as this nothing can be told
@pytest.mark.parametrize(("make", "table", "method", "alpha", "mislabel", "form"), SMALL_FITS)
def test_small_and_degenerate_data_give_probabilities(make, table, method, alpha, mislabel, form):
    rows, labels = TABLES[table]
    if method == "crossfit" and table != "one row":
        rows, labels = np.tile(rows, (3, 1)), np.tile(labels, 3)
    labels = np.where(labels == "a", 1, 2) if mislabel == "ordinal" else labels  # which needs a scale
    given = (rows, sparse.csr_array(rows), rows.astype(np.float32))[form]
    model = make(method=method, alpha=alpha, mislabel=mislabel, random_state=0).fit(given, labels)
    for proba in (model.predict_proba(given), model.predict_true_proba(given, labels)):
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0, rtol=1e-6)


def test_more_classes_than_the_machine_can_hold():
    y = np.arange(200_000) % 100_000
    with pytest.raises(ValueError, match="y: 100,000 classes are too many for this machine: .* 960 GB, .* merge rare"):
        BernoulliINB().fit(np.ones((len(y), 1)), y)


def test_columns_and_labels_not_seen_at_fit_time():
    model = BernoulliINB().fit(X, Y)
    with pytest.raises(ValueError, match="X has 4 features, but BernoulliINB is expecting 3 features as input"):
        model.predict(np.ones((2, 4)))
    with pytest.raises(ValueError, match="y contains labels that are not among the known classes: 'z'; the classes"):
        model.predict_true_proba(X[:1], ["z"])


def test_a_word_that_never_occurred_at_fit_time_decides_nothing():
    """Its column was all zeros: with equal class sizes it must leave the posterior as it is."""
    model = BernoulliINB().fit(np.array([[1.0, 0, 0], [0, 1, 0]] * 20), [0, 1] * 20)
    without, with_word = model.predict_proba([[1, 0, 0], [1, 0, 1]])
    np.testing.assert_allclose(without, with_word, atol=1e-6)


def test_duplicate_entries_of_a_sparse_row_count_once_for_bernoulli():
    raw = sparse.csr_array(([1.0, 1, 1, 1], [0, 0, 1, 0], [0, 2, 3, 4]), shape=(3, 2))
    left, right = (BernoulliINB(alpha=1.0).fit(x, [0, 1, 0]).feature_prob_ for x in (raw.toarray() > 0, raw))
    np.testing.assert_allclose(left, right)
    assert raw.nnz == 4  # what was passed in is left alone


def test_simulate_names_bad_arguments():
    with pytest.raises(ValueError, match=r"diagonal must be an interval \(low, high\)"):
        simulate(diagonal=(0.9, 0.3))
