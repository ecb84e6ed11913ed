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


@pytest.mark.parametrize(
    ("arguments", "fit", "message"),
    [
        ({}, (np.empty((0, 3)), Y[:0]), r"Found array with 0 sample\(s\)"),
        ({}, (X[:, :0], Y), r"Found array with 0 feature\(s\)"),
        ({}, (changed(1, 2, np.nan), Y), "Input X contains NaN"),
        ({}, (changed(1, 2, np.inf), Y), "Input X contains infinity"),
        ({}, (X, Y[:5]), "y has 5 entries but X has 6 rows; they must have the same length"),
        ({}, (X, None), "requires y to be passed"),
        (
            {},
            (X, np.array([1.0, 2, np.nan, 1, 2, 1])),
            "Input y contains NaN or None; drop those rows, or pass missing",
        ),
        ({}, (X, np.array(["a", None, "b", "a", "b", "a"], dtype=object)), "Input y contains NaN or None; drop those"),
        (
            {},
            (X, np.array(["a", 3, "b", "a", "b", "a"], dtype=object)),
            "y mixes labels of the types int, str; make them",
        ),
        ({}, (X, np.array([0.1, 0.5, 0.2, 0.7, 0.3, 0.9])), "Unknown label type: continuous"),
        ({"missing_label": "a"}, (X, np.full(6, "a")), "y contains no label; at least one row needs one"),
        ({}, (X, Y, ["a", None, None]), "verified has 3 entries but X has 6 rows; they must have the same length"),
        (
            {},
            (X, Y, ["a", "q", None, None, None, None]),
            "verified contains labels that are not among the known classes: 'q'; the classes are 'a', 'b'",
        ),
        ({}, (X, Y, None, np.ones(5)), r"sample_weight.shape == \(5,\), expected \(6,\)"),
        ({}, (X, Y, None, [1, 1, 1, 1, 1, -1]), "Negative values in data passed to `sample_weight`"),
        ({}, (X, Y, None, [1, 1, 1, 1, 1, np.nan]), "Input sample_weight contains NaN"),
        ({}, (X, Y, None, np.zeros(6)), "sample_weight is zero for every row|at least one non-zero number"),
        ({"alpha": -1}, (X, Y), "alpha must be 'auto' or a number of at least 0, got -1"),
        ({"alpha": "big"}, (X, Y), "alpha must be 'auto' or a number of at least 0, got 'big'"),
        ({"method": "magic"}, (X, Y), "method must be one of 'crossfit', 'em', got 'magic'"),
        (
            {"start": "middle"},
            (X, Y),
            "start must be one of 'labels', 'random', 'paper', 'paper-near-half', got 'middle'",
        ),
        ({"n_init": 0}, (X, Y), "n_init must be a whole number of at least 1, got 0"),
        ({"max_iter": 0.5}, (X, Y), "max_iter must be a whole number of at least 1, got 0.5"),
        ({"tol": "tight"}, (X, Y), "tol must be a number of at least 0, got 'tight'"),
        ({"compress": "yes"}, (X, Y), "compress must be True, False or 'auto', got 'yes'"),
        ({"engine": "steam"}, (X, Y), "engine must be one of 'local', 'dask' or a function"),
        (
            {"mislabel": "diagonal"},
            (X, Y),
            "mislabel must be one of 'full', 'symmetric', 'uniform', 'ordinal' or a matrix",
        ),
        ({"mislabel": np.eye(3)}, (X, Y), r"mislabel has the shape \(3, 3\), but y has 2 classes: it must be \(2, 2\)"),
        (
            {"mislabel": [[0.9, 0.1], [0.2, 0.8]]},
            (X, Y),
            "columns of mislabel must sum to 1.*column 0 sums to 1.1; divide each column by its sum, or transpose",
        ),
        ({"mislabel": [[1.1, 0], [-0.1, 1]]}, (X, Y), "mislabel contains entries that are negative or not finite"),
        ({"mislabel": np.eye(2), "mislabel_prior": 1.0}, (X, Y), "mislabel_prior has no use when mislabel is a given"),
        ({"mislabel": np.eye(2)}, (X, Y, ["b", *[None] * 5]), "some row has probability 0: its label"),
        ({"mislabel_prior": np.ones(3)}, (X, Y), r"mislabel_prior must be a number or of the shape \(2, 2\)"),
        ({"mislabel_prior": -1.0}, (X, Y), "mislabel_prior must contain finite pseudo-counts of at least 0"),
        ({"class_prior": [1.0]}, (X, Y), r"class_prior has the shape \(1,\), but y has 2 classes"),
        ({"class_prior": [0.9, 0.9]}, (X, Y), r"class_prior must be probabilities of at least 0 .*got \[0.9, 0.9\]"),
        ({"class_prior": [1.5, -0.5]}, (X, Y), r"class_prior must be probabilities of at least 0 .*got \[1.5, -0.5\]"),
        ({"n_jobs": "many"}, (X, Y), "n_jobs must be a whole number other than 0 .-1: all cores., got 'many'"),
        ({"random_state": "dice"}, (X, Y), "random_state must be a whole number or a generator, got 'dice'"),
        ({}, (X, np.array([3, "a", "b", "a", "b", "a"], dtype=object)), "y mixes labels of the types int, str"),
    ],
)
@pytest.mark.parametrize("make", ALL)
def test_bad_input_is_named(make, arguments, fit, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments).fit(*fit)


def test_values_that_do_not_suit_the_family_are_named():
    with pytest.raises(ValueError, match="values other than 0 and 1, which binarize=None does not allow; set binarize"):
        BernoulliINB(binarize=None).fit(changed(0, 0, 2.0), Y)
    with pytest.raises(ValueError, match="binarize must be a number or None, got 'half'"):
        BernoulliINB(binarize="half").fit(X, Y)
    with pytest.raises(ValueError, match="binarize must not be negative for sparse X"):
        BernoulliINB(binarize=-1.0).fit(sparse.csr_array(changed(0, 0, 2.0)), Y)
    with pytest.raises(ValueError, match="Negative values in data passed as X: MultinomialINB expects counts"):
        MultinomialINB().fit(changed(0, 0, -1.0), Y)


@pytest.mark.parametrize("sparse_input", [False, True])
def test_values_above_the_threshold_count_as_one(sparse_input):
    values = X * 5.0
    given = sparse.csr_array(values) if sparse_input else values
    left, right = BernoulliINB(binarize=2.0).fit(given, Y), BernoulliINB().fit(X, Y)
    np.testing.assert_allclose(left.feature_prob_, right.feature_prob_)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ("bernoulli", "blocks must be 'auto' or a list of pairs"),
        ([], "blocks is empty; give at least one pair"),
        ([("poisson", [0, 1, 2])], "a family must be one of 'bernoulli', 'gaussian', 'multinomial', got 'poisson'"),
        ([("bernoulli", [0, 1])], "the columns 2 of X belong to no block; add them to one, or drop them from X"),
        ([("bernoulli", [0, 1, 2]), ("gaussian", [1])], "the columns 1 of X belong to more than one block"),
        ([("bernoulli", [True, False])], "a mask of columns has 2 entries, but X has 3 columns"),
        ([("bernoulli", [0, 7])], r"columns must be among 0..2 and not empty, got \[0, 7\]"),
        ([("bernoulli", ["age"])], "blocks names the column 'age', but X has no column names; pass a data frame"),
    ],
)
def test_bad_blocks_are_named(blocks, message):
    with pytest.raises(ValueError, match=message):
        MixedINB(blocks).fit(X, Y)


DEGENERATE = {
    "one row": (X[:1], Y[:1]),
    "one class": (X, np.full(6, "a")),
    "class of one row": (X, np.array(["a", "a", "a", "a", "a", "b"])),
    "zeros": (np.zeros((6, 3)), Y),
    "constant columns": (np.hstack([X, np.ones((6, 2))]), Y),
    "one column": (X[:, :1], Y),
}


ALPHAS, STRUCTURES, STARTS = [0.0, 1.0, "auto"], ["full", "symmetric", "uniform", "ordinal"], ["labels", "random"]
#: Each strength with each structure, and either with each start.
SETTINGS = [(a, m, STARTS[(i + j) % 2]) for i, a in enumerate(ALPHAS) for j, m in enumerate(STRUCTURES)]
#: Every pair of class, table and setting; of all three at once, every third.
SMALL_FITS = [
    (make, case, *setting)
    for i, make in enumerate(ALL)
    for j, case in enumerate(DEGENERATE)
    for setting in SETTINGS[(i + j) % 3 :: 3]
]


@pytest.mark.filterwarnings("ignore")  # of data as small as this nothing can be told
@pytest.mark.parametrize(("make", "case", "alpha", "mislabel", "start"), SMALL_FITS)
def test_small_and_degenerate_data_give_probabilities(make, case, alpha, mislabel, start):
    rows, labels = DEGENERATE[case]
    labels = np.where(labels == "a", 1, 2) if mislabel == "ordinal" else labels  # which needs a scale
    for given in (rows, sparse.csr_array(rows), rows.astype(np.float32)):
        model = make(method="em", alpha=alpha, mislabel=mislabel, start=start, random_state=0).fit(given, labels)
        for proba in (model.predict_proba(given), model.predict_true_proba(given, labels)):
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
        np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [bool, np.int8])
@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("case", DEGENERATE)
def test_truths_and_whole_numbers_are_taken_as_numbers(make, case, dtype):
    rows, labels = DEGENERATE[case]
    one, other = (
        make(method="em").fit(each, labels).predict_true_proba(each, labels) for each in (rows, rows.astype(dtype))
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("case", ["twelve rows", "class of one row", "zeros", "constant columns", "one column"])
def test_the_robust_fit_of_small_and_degenerate_data_gives_probabilities(make, case):
    rows, labels = np.tile(X, (3, 1)), np.tile(Y, 3)
    rows, labels = {
        "twelve rows": (rows[:12], labels[:12]),
        "class of one row": (rows, np.array(["b"] + ["a"] * 17)),
        "zeros": (np.zeros((18, 3)), labels),
        "constant columns": (np.hstack([rows, np.ones((18, 2))]), labels),
        "one column": (rows[:, :1], labels),
    }[case]
    for given in (rows, sparse.csr_array(rows), rows.astype(np.float32)):
        model = make().fit(given, labels)
        for proba in (model.predict_proba(given), model.predict_true_proba(given, labels), model.true_proba_):
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
        np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")  # four rows per class do not settle a thousand classes
@pytest.mark.parametrize("mislabel", ["full", "symmetric", "uniform", "ordinal"])
def test_a_thousand_classes(mislabel):
    rng = np.random.default_rng(0)
    true = np.repeat(np.arange(1_000), 4)
    X = sparse.csr_array((rng.random((4_000, 50)) < rng.random((1_000, 50))[true]).astype(float))
    model = BernoulliINB(method="em", mislabel=mislabel, max_iter=3).fit(X, true)
    assert model.mislabel_matrix_.shape == (1_000, 1_000)
    np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0, rtol=1e-6)


@pytest.mark.parametrize("make", [BernoulliINB, MultinomialINB, GaussianINB])
def test_more_classes_than_the_machine_can_hold(make):
    y = np.arange(200_000) % 100_000
    with pytest.raises(ValueError, match="y: 100,000 classes are too many for this machine: .* 960 GB, .* merge rare"):
        make().fit(np.ones((len(y), 1)), y)


def test_columns_and_labels_not_seen_at_fit_time():
    model = BernoulliINB().fit(X, Y)
    with pytest.raises(ValueError, match="X has 4 features, but BernoulliINB is expecting 3 features as input"):
        model.predict(np.ones((2, 4)))
    with pytest.raises(
        ValueError, match="y contains labels that are not among the known classes: 'z'; the classes are"
    ):
        model.predict_true_proba(X[:1], ["z"])
    with pytest.raises(ValueError, match="y has 1 entries but X has 2 rows"):
        model.predict_true_proba(X[:2], ["a"])


def test_a_word_that_never_occurred_at_fit_time_decides_nothing():
    """Its column was all zeros: with equal class sizes it must leave the posterior as it is."""
    X = np.array([[1.0, 0, 0], [0, 1, 0]] * 20)
    y = np.array([0, 1] * 20)
    model = BernoulliINB().fit(X, y)
    without, with_word = model.predict_proba([[1, 0, 0], [1, 0, 1]])
    np.testing.assert_allclose(without, with_word, atol=1e-6)


def test_duplicate_entries_of_a_sparse_row_count_once_for_bernoulli():
    twice = sparse.coo_array(([1.0, 1, 1, 1], ([0, 0, 1, 2], [0, 0, 1, 0])), shape=(3, 2)).tocsr()
    raw = sparse.csr_array(([1.0, 1, 1, 1], [0, 0, 1, 0], [0, 2, 3, 4]), shape=(3, 2))
    left, right = (BernoulliINB(alpha=1.0).fit(x, [0, 1, 0]).feature_prob_ for x in (twice, raw))
    np.testing.assert_allclose(left, right)
    assert raw.nnz == 4  # what was passed in is left alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "must be at least 1, got 0"),
        ({"diagonal": (0.9, 0.3)}, r"diagonal must be an interval \(low, high\)"),
    ],
)
def test_simulate_names_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)


def test_numbers_beside_none_are_labels():
    data = simulate(60, n_features=8, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
    holes = data.y.astype(object)
    holes[::7] = None
    model = BernoulliINB(missing_label=np.nan).fit(data.X, holes)
    assert model.classes_.tolist() == [0, 1, 2]
