"""Verdicts are evidence, not axioms: a careless one is shown again, and changes next to nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from noisybayes import audit
from noisybayes.robust.recalibration import recalibrate

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"


@cache
def messages():
    return pd.read_csv(EXAMPLE)


@cache
def without_verdicts():
    return audit(messages()[["message", "label"]], label="label", text="message")


def with_verdicts(n, careless, seed=0):
    """The audit after `n` verdicts from the top, some of which keep a wrong label; and the rows of both kinds."""
    frame = messages()
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    top = without_verdicts().table["p_wrong"].nlargest(n).index.to_numpy()
    slips = np.random.default_rng(seed).choice(top[wrong[top]], careless, replace=False)
    verdicts = frame["true_label"].where(frame.index.isin(top))
    verdicts[slips] = frame["label"][slips]
    checked = frame[["message", "label"]].assign(checked=verdicts)
    return audit(checked, label="label", text="message", verified="checked"), top, slips, wrong


@pytest.mark.parametrize(("n", "careless"), [(14, 0), (14, 1), (14, 2), (60, 2)])
def test_careless_verdicts_do_not_cost_the_rest_of_the_list(n, careless):
    found, top, slips, wrong = with_verdicts(n, careless)
    rest = np.setdiff1d(np.arange(len(wrong)), top)
    listed = found.table["suspect"].to_numpy()
    assert (listed & wrong)[rest].sum() / wrong[rest].sum() >= 0.88
    assert abs(found.noise_rate - without_verdicts().noise_rate) < 0.01
    assert set(slips) <= set(found.contradictions.index)
    assert sum("contradict" in warning for warning in found.warnings) == bool(careless)
    assert len(found.summary()["contradictions"]) == len(found.contradictions)


def test_a_verdict_keeps_its_label_in_the_table_even_if_it_is_contradicted():
    found, _, slips, _ = with_verdicts(14, 2)
    assert (found.table["corrected"][slips] == found.table["given"][slips]).all()
    assert not found.table["suspect"][slips].any()
    warning = next(warning for warning in found.warnings if "contradict" in warning)
    assert all(str(row + 1) in warning for row in slips)


def test_no_row_overtakes_another_whatever_the_verdicts():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, wrong = rng.random(14), rng.random(14) < 0.5
        assert recalibrate(p, wrong.astype(float), np.ones(14)).slope > 0


def test_one_keep_at_the_top_is_taken_for_a_slip_and_many_are_not():
    for top, careless in ((0.999, 1), (0.99999, 1), (0.99999, 2)):
        p, wrong = np.full(14, top), (np.arange(14) >= careless).astype(float)
        assert recalibrate(p, wrong, np.ones(14))(np.array([0.9]))[0] > 0.85
    assert recalibrate(p, np.zeros(14), np.ones(14))(np.array([0.9]))[0] < 0.3


def test_random_verdicts_find_intercept_and_slope():
    rng = np.random.default_rng(0)
    p = expit(rng.normal(-2, 2, 4_000))
    wrong = (rng.random(4_000) < expit(1.0 + 0.6 * logit(p))).astype(float)
    careless = wrong * (rng.random(4_000) < 0.95)
    found = recalibrate(p, careless, np.ones(4_000))
    assert found.intercept == pytest.approx(1.0, abs=0.2)
    assert found.slope == pytest.approx(0.6, abs=0.1)
