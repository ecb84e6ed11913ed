"""What an audit says of all rows, of the classes, of the cost and of itself: laws that hold whatever is audited."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from noisybayes import audit, simulate

from ..report.tables import table

N = 300
NAMES = np.array(["red", "green", "blue"])
LABELS = {
    "strings": lambda y: np.where(np.arange(len(y)) % 25 == 0, None, NAMES[y].astype(object)),
    "strings of numpy": lambda y: NAMES[y],
    "ints": lambda y: 10 * y - 10,
    "floats": lambda y: np.where(np.arange(len(y)) % 25 == 0, np.nan, y),
}


@cache
def data():
    return simulate(N, n_features=120, n_classes=3, diagonal=(0.75, 0.85), random_state=0)


@cache
def fitted(labels="strings", verified=False):
    """Rows, given labels and verified ones."""
    made = data()
    y = LABELS[labels](made.y)
    known = None
    if verified:
        known = np.full(N, None, dtype=object)
        known[::9] = NAMES[made.true[::9]]
    return made.X, y, known


@cache
def audited(labels="strings", verified=False, **rule):
    X, y, known = fitted(labels, verified)
    return audit(X, y, verified=known, **rule)


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", LABELS)
def test_the_table_has_every_row_in_order_with_the_label_it_was_given(labels):
    _, y, _ = fitted(labels)
    table = audited(labels).table
    assert list(table.columns) == ["given", "suggested", "p_wrong", "p_suggested", "corrected", "suspect", "verified"]
    assert table.index.tolist() == list(range(N))
    unlabeled = pd.isna(y)
    np.testing.assert_array_equal(table["given"].isna(), unlabeled)
    np.testing.assert_array_equal(table["p_wrong"].isna(), unlabeled)
    assert table["given"][~unlabeled].tolist() == y[~unlabeled].tolist()
    assert set(table["suggested"]) | set(table["corrected"]) <= set(audited(labels).findings.classes.tolist())
    assert not table["suspect"][unlabeled].any()
    assert not table["verified"].any()


@pytest.mark.parametrize("rule", [{}, {"budget": 40}, {"budget": 10_000}])
@pytest.mark.parametrize("verified", [False, True])
def test_probabilities_suspects_and_suggestions_agree(rule, verified):
    found = audited(verified=verified, **rule)
    labeled = found.table[found.table["given"].notna()]
    assert labeled[["p_wrong", "p_suggested"]].stack().between(0, 1).all()
    suspects, rest = found.suspects, labeled[~labeled["suspect"] & ~labeled["verified"]]
    assert sorted(suspects.index) == np.flatnonzero(found.table["suspect"]).tolist()
    assert np.all(np.diff(suspects["p_wrong"]) <= 0)
    assert rest.empty or suspects["p_wrong"].min() >= rest["p_wrong"].max()
    assert (suspects["suggested"] != suspects["given"]).all()
    assert (suspects["p_suggested"] <= suspects["p_wrong"] + 1e-12).all()


def test_a_list_is_as_long_as_asked():
    assert len(audited(budget=40).suspects) == 40
    assert set(audited(budget=40).suspects.index) <= set(audited(budget=60).suspects.index)
    assert len(audited(budget=0).suspects) == 0


def test_verified_rows_have_their_verified_label():
    _, y, known = fitted(verified=True)
    table = audited(verified=True, budget=10_000).table
    verified = ~pd.isna(known)
    np.testing.assert_array_equal(table["verified"], verified)
    assert not table["suspect"][verified].any()
    assert table["corrected"][verified].tolist() == known[verified].tolist()
    labeled = verified & ~pd.isna(y)
    np.testing.assert_array_equal(table["p_wrong"][labeled], (known != y)[labeled].astype(float))


def test_no_label_reaches_its_own_score():
    """Each row has a word of its own. If its label spoke for that word, the words would explain all labels."""
    n = 200
    X = sparse.csr_array(sparse.hstack([sparse.eye_array(n), sparse.csr_array(np.ones((n, 1)))]))
    y = np.random.default_rng(0).integers(2, size=n)
    found = audit(X, y, budget=n)
    assert any(each.startswith("The columns explain only 0 % of the differences") for each in found.warnings)
    for label in (0, 1):  # what the word says hangs on the sizes of classes in the other folds, and on nothing else
        said = {
            round(float(why.weights[why.columns == why.row].sum()), 9)
            for why in found.evidence(np.flatnonzero(y == label))
        }
        assert len(said) <= 10


def test_a_seed_repeats_the_numbers_and_stages_are_told():
    X, y, _ = fitted("strings of numpy")
    stages = []
    one, same = (audit(X, y, random_state=4, progress=stages.append) for _ in range(2))
    assert stages == 2 * ["building features", "fitting", "scoring the rows"]
    pd.testing.assert_frame_equal(one.table, same.table)


# --- classes ---------------------------------------------------------------------------------------------------------


def test_classes_and_pairs_add_up():
    _, y, _ = fitted()
    found = audited()
    classes, posterior = found.findings.classes, found.findings.judged.pool.posterior
    by_class, pairs, labeled = found.by_class, found.confused_pairs, ~pd.isna(y)
    assert by_class["label"].tolist() == classes.tolist()
    np.testing.assert_allclose(by_class["given"], [(y == label).sum() for label in classes])
    assert by_class["true"].sum() == pytest.approx(labeled.sum())
    wrong = (by_class["wrong"] * by_class["given"]).sum()
    assert wrong == pytest.approx(found.table["p_wrong"].sum())
    assert found.rate.estimate == pytest.approx(wrong / labeled.sum())
    assert by_class["suspects"].sum() == pairs["suspects"].sum() == len(found.suspects)
    assert np.all(np.diff(pairs["rows"]) <= 0)
    assert (pairs["given"] != pairs["true"]).all()
    counts = {given: posterior[y == given].sum(axis=0) for given in classes}
    for pair in pairs.itertuples():
        assert pair.rows == pytest.approx(counts[pair.given][classes.tolist().index(pair.true)])

    np.testing.assert_allclose(found.matrix.sum(axis=0), 1.0)


# --- doubts and refusals ---------------------------------------------------------------------------------------------


def test_there_is_no_evidence_against_a_label_that_is_missing():
    with pytest.raises(ValueError, match="row 25 has no label, so there is nothing to explain; leave it out"):
        audited().evidence([1, 25])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": -3}, "budget must be a whole number of at least 0, got -3"),
        ({"budget": 2.5}, "budget must be a whole number of at least 0, got 2.5"),
    ],
)
def test_bad_settings_are_named(settings, message):
    X, y, _ = fitted()
    with pytest.raises(ValueError, match=re.escape(message)):
        audit(X, y, **settings)
    with pytest.raises(ValueError, match=re.escape(message)):
        audit(table(), label="label", text="message", **settings)
