"""What an audit says of all rows, of the classes, of the cost, and of itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB

from noisybayes import BernoulliINB, MislabelClassifier, MultinomialINB, audit, simulate
from noisybayes.auditing import examine

NAMES = np.array(["red", "green", "blue"])
LABELS = {
    "strings": lambda y: np.where(np.arange(len(y)) % 25 == 0, None, NAMES[y].astype(object)),
    "strings of numpy": lambda y: NAMES[y],
    "ints": lambda y: 10 * y - 10,
    "floats": lambda y: np.where(np.arange(len(y)) % 25 == 0, np.nan, y),
}
RULES = [{}, {"precision": 0.7}, {"budget": 40}, {"budget": 10_000}]
LEARNED_FROM = (
    "The rows were scored by a model that may have been trained on their labels (they were not part of its robust "
    "fit), so P(wrong) may be too low."
)


@cache
def data():
    return simulate(400, n_features=120, n_classes=3, diagonal=(0.75, 0.85), random_state=0)


@cache
def fitted(labels="strings", verified=False):
    """Model, rows, given labels and verified ones."""
    made = data()
    y = LABELS[labels](made.y)
    known = None
    if verified:
        known = np.full(len(y), None, dtype=object)
        known[::9] = NAMES[made.true[::9]]
    return BernoulliINB(missing_label=np.nan).fit(made.X, y, verified=known), made.X, y, known


def quick(model, X, y, **settings):
    return examine(model, X, y, **{"draws": 2, **settings})


def assert_judged_by(found, true, y):
    """The table says what the posteriors `true` (n, K) say of the labels y."""
    rows, given = np.arange(len(y)), np.searchsorted(found.classes, y)
    np.testing.assert_allclose(found.table["p_wrong"], 1.0 - true[rows, given], rtol=0, atol=1e-9)
    others = true.copy()
    others[rows, given] = -1.0
    chosen = found.table["suspect"].to_numpy()
    suggested = np.where(chosen, others.argmax(axis=1), true.argmax(axis=1))
    assert found.table["suggested"].tolist() == found.classes[suggested].tolist()
    expected = np.where(chosen, others.max(axis=1), true.max(axis=1))
    np.testing.assert_allclose(found.table["p_suggested"], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("labels", LABELS)
def test_the_table_has_every_row_in_order_with_the_label_it_was_given(labels):
    model, X, y, _ = fitted(labels)
    table = quick(model, X, y).table
    assert list(table.columns) == ["given", "suggested", "p_wrong", "p_suggested", "corrected", "suspect", "verified"]
    assert table.index.tolist() == list(range(len(y)))
    unlabeled = pd.isna(y)
    np.testing.assert_array_equal(table["given"].isna(), unlabeled)
    assert table["given"][~unlabeled].tolist() == y[~unlabeled].tolist()
    assert set(table["suggested"]) | set(table["corrected"]) <= set(model.classes_.tolist())
    best = model.true_proba_.argmax(axis=1)
    assert table["corrected"][unlabeled].tolist() == model.classes_[best][unlabeled].tolist()
    assert not table["suspect"][unlabeled].any()
    np.testing.assert_array_equal(table["p_wrong"].isna(), unlabeled)
    assert not table["verified"].any()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("verified", [False, True])
def test_suspects_are_sorted_and_get_another_label(rule, verified):
    model, X, y, _ = fitted(verified=verified)
    found = quick(model, X, y, **rule)
    suspects = found.suspects
    assert sorted(suspects.index) == np.flatnonzero(found.table["suspect"]).tolist()
    assert np.all(np.diff(suspects["p_wrong"]) <= 0)
    assert (suspects["suggested"] != suspects["given"]).all()
    assert (suspects["p_suggested"] <= suspects["p_wrong"] + 1e-12).all()
    others = model.true_proba_.copy()
    codes = np.searchsorted(model.classes_, suspects["given"].to_numpy().astype(str))
    others[suspects.index, codes] = -1
    np.testing.assert_allclose(suspects["p_suggested"], others[suspects.index].max(axis=1), atol=1e-12)


def test_a_budget_lists_rows_whose_own_label_is_still_the_most_probable():
    model, X, y, _ = fitted()
    found = quick(model, X, y, budget=10_000)
    kept = found.table["suspect"] & (found.table["p_wrong"] < 0.5)
    assert kept.any()
    assert (found.table["p_suggested"][kept] < 0.5).all()


def test_verified_rows_have_their_verified_label():
    model, X, y, known = fitted(verified=True)
    table = quick(model, X, y, budget=10_000).table
    verified = ~pd.isna(known)
    np.testing.assert_array_equal(table["verified"], verified)
    assert not table["suspect"][verified].any()
    assert table["corrected"][verified].tolist() == known[verified].tolist()
    labeled = verified & ~pd.isna(y)
    np.testing.assert_array_equal(table["p_wrong"][labeled], (known != y)[labeled].astype(float))


def test_the_rows_of_a_robust_fit_are_judged_without_their_fold():
    model, X, y, _ = fitted("strings of numpy")
    found = audit(model, X, y)
    assert_judged_by(found.findings, model.true_proba_, y)
    assert LEARNED_FROM not in found.warnings
    assert found.noise_rate == pytest.approx(model.noise_rate_, abs=1e-9)
    np.testing.assert_allclose(found.mislabel_matrix, model.mislabel_matrix_, atol=1e-9)


def _other_rows():
    model, _, _, _ = fitted("strings of numpy")
    new = simulate(100, n_features=120, n_classes=3, random_state=5)
    return model, new.X, NAMES[new.y]


def _generative():
    made = data()
    return BernoulliINB(method="em").fit(made.X, made.y), made.X, made.y


@pytest.mark.parametrize("make", [_other_rows, _generative])
def test_rows_that_may_have_been_learned_from_are_told(make):
    model, X, y = make()
    found = quick(model, X, y, new_rows=True)
    assert LEARNED_FROM in found.warnings
    assert found.impact is None
    assert_judged_by(found, model.predict_true_proba(X, y), y)
    assert [len(why.columns) for why in found.evidence([0, 1])] == [0, 0]


@pytest.mark.parametrize("wrong", ["other labels", "fewer rows"])
def test_rows_of_another_fit_must_be_said_to_be_new(wrong):
    model, X, y, _ = fitted("strings of numpy")
    X, y = (X, y[::-1]) if wrong == "other labels" else (X[:50], y[:50])
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        audit(model, X, y)
    assert str(refused.value) == (
        "these are not the labels that the model was fitted on; pass new_rows=True for rows that are new to it"
    )
    assert len(audit(model, X, y, new_rows=True).table) == len(y)


def test_the_rows_of_the_fit_can_be_judged_as_new_ones():
    """Their own labels were learned from then, and the audit says so."""
    model, X, y, _ = fitted("strings of numpy")
    found = quick(model, X, y, new_rows=True)
    assert LEARNED_FROM in found.warnings
    assert_judged_by(found, model.predict_true_proba(X, y), y)


def test_a_class_that_lost_all_its_rows_is_impossible_and_not_nan():
    X, y = np.array([[1.0], [1.0], [0.0]]), np.array([1, 0, 1])
    model = BernoulliINB().fit(X, y, verified=np.array([np.nan, 1.0, np.nan]))
    model._scoring = model._scoring._replace(constant=np.array([-np.inf, 0.0]))
    found = quick(model, X, y, verified=[None, 1, None])
    assert np.isfinite(found.table[["p_wrong", "p_suggested"]]).all().all()
    assert found.table["corrected"].tolist() == [1, 1, 1]
    assert found.table["verified"].tolist() == [False, True, False]


def test_there_is_no_evidence_against_a_label_that_is_missing():
    model, X, y, _ = fitted()
    found = quick(model, X, y)
    assert [why.row for why in found.evidence([1, 2])] == [1, 2]
    with pytest.raises(ValueError, match="row 25 has no label, so there is nothing to explain; leave it out"):
        found.evidence([1, 25])


def test_classes_add_up():
    model, X, y, _ = fitted()
    found = quick(model, X, y)
    by_class, labeled = found.by_class, ~pd.isna(y)
    assert by_class["label"].tolist() == model.classes_.tolist()
    np.testing.assert_allclose(by_class["given"], [(y == label).sum() for label in model.classes_])
    assert by_class["true"].sum() == pytest.approx(labeled.sum())
    wrong = (by_class["wrong"] * by_class["given"]).sum()
    assert wrong == pytest.approx(found.table["p_wrong"].sum())
    assert found.noise_rate == pytest.approx(wrong / labeled.sum())
    assert by_class["suspects"].sum() == len(found.suspects)


def test_pairs_hold_the_expected_rows_off_the_diagonal():
    model, X, y, _ = fitted()
    found = quick(model, X, y)
    pairs = found.confused_pairs
    code = {label: k for k, label in enumerate(model.classes_)}
    counts = np.array([model.true_proba_[y == label].sum(axis=0) for label in model.classes_])
    assert np.all(np.diff(pairs["rows"]) <= 0)
    assert not pairs.duplicated(["given", "true"]).any()
    assert (pairs["given"] != pairs["true"]).all()
    expected = [counts[code[given], code[true]] for given, true in zip(pairs["given"], pairs["true"], strict=True)]
    np.testing.assert_allclose(pairs["rows"], expected)
    off_diagonal = counts[~np.eye(3, dtype=bool)]
    assert len(pairs) == (off_diagonal >= 0.5).sum()
    listed = found.suspects.groupby(["given", "suggested"]).size()
    assert pairs["suspects"].sum() == listed.sum()
    assert all(listed.get((row.given, row.true), 0) == row.suspects for row in pairs.itertuples())


@pytest.mark.parametrize(("diagonal", "seed"), [((0.55, 0.7), 0), ((0.55, 0.7), 1), ((1.0, 1.0), 0), ((1.0, 1.0), 1)])
def test_the_cost_of_wrong_labels_is_about_the_real_one(diagonal, seed):
    made = simulate(5_000, n_features=100, n_classes=3, diagonal=diagonal, random_state=seed)
    X, y, new = made.X[:1_000], made.y[:1_000], slice(1_000, None)
    cost = quick(BernoulliINB().fit(X, y), X, y, draws=25).impact
    as_given, if_right = (
        BernoulliNB().fit(X, labels[:1_000]).score(made.X[new], made.true[new]) for labels in (made.y, made.true)
    )
    assert cost.low < cost.delta < cost.high
    assert cost.delta == pytest.approx(cost.as_given - cost.if_right)
    if diagonal == (1.0, 1.0):
        assert abs(cost.delta) < 0.02
        return
    assert 0.3 < np.mean(made.y != made.true) < 0.45
    assert cost.high < 0
    assert cost.delta == pytest.approx(as_given - if_right, abs=0.06)


def test_of_a_classifier_of_another_kind_no_cost_is_told():
    made = data()
    model = MislabelClassifier(BernoulliNB(), n_folds=3).fit(made.X[:200], made.y[:200])
    found = quick(model, made.X[:200], made.y[:200])
    assert found.impact is None
    assert LEARNED_FROM not in found.warnings


def test_columns_that_say_nothing_are_told():
    rng = np.random.default_rng(0)
    X, y = (rng.random((400, 10)) < 0.5).astype(float), rng.integers(3, size=400)
    assert quick(BernoulliINB().fit(X, y), X, y).warnings[0] == (
        "The columns explain only 0 % of the differences between labels: suspects are hardly better than guesses. "
        "Add columns that distinguish the classes."
    )


def test_classes_that_may_not_be_those_of_the_labels_are_told():
    made = data()
    model = BernoulliINB().fit(made.X, made.y)
    before = quick(model, made.X, made.y).warnings
    model.drift_ = 0.12
    warnings = quick(model, made.X, made.y).warnings
    assert [warning for warning in warnings if warning not in before] == [
        "The fit questions too many labels: more than a model trained on the labels as given fails to predict, by 12 % "
        "of the rows. Its classes may have drifted away from those of the labels. Verify some rows before you rely on "
        "the list.",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": 0.5, "budget": 3}, "precision and budget are mutually exclusive; give only one of them"),
        ({"precision": 7}, "precision must be above 0 and at most 1, got 7"),
        ({"budget": -3}, "budget must be a whole number of at least 0, got -3"),
    ],
)
def test_bad_rules_are_refused_before_anything_is_computed(settings, message):
    with pytest.raises(ValueError, match=message):
        examine(None, None, None, **settings)


def test_stages_are_told_and_a_seed_repeats_the_numbers():
    model, X, y, _ = fitted("strings of numpy")
    stages = []
    one, same = (examine(model, X, y, draws=3, random_state=4, progress=stages.append) for _ in range(2))
    assert stages == 2 * ["scoring the rows", "computing intervals", "estimating the cost"]
    pd.testing.assert_frame_equal(one.table, same.table)
    assert one.impact == same.impact


def test_one_draw_of_many_rows_tells_the_cost(monkeypatch):
    made = simulate(2_000, n_features=100, n_classes=3, diagonal=(0.75, 0.85), random_state=0)
    model = MultinomialINB().fit(made.X, made.y)  # of binary features the cost is simulated
    three = quick(model, made.X, made.y).impact
    monkeypatch.setattr("noisybayes.auditing.impact._MANY_ROWS", 1_000)
    one = quick(model, made.X, made.y).impact
    assert one.low < one.delta < one.high
    assert one.low < three.delta < one.high
    assert one != three


def test_the_objectives_shown_are_those_of_one_prior():
    made = simulate(30, n_features=20, n_classes=2, random_state=0)
    model = BernoulliINB(method="em").fit(made.X, made.y)
    assert np.diff(model.objective_history_).min() < 0  # the strength of the prior has changed
    shown = audit(model, made.X, made.y).summary()["convergence"]
    assert len(shown["values"]) > 1
    assert np.diff(shown["values"]).min() > -1e-8
    assert shown["chosen"] == len(shown["values"]) - 1
