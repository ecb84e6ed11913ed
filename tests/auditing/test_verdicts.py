"""Verdicts are evidence, not axioms: a careless one is shown again, and changes almost nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from noisybayes import audit

from ..doc_blocks import ROOT


@cache
def messages():
    return pd.read_csv(ROOT / "examples" / "dealership.csv")


@cache
def without_verdicts():
    return audit(messages()[["message", "label"]], label="label", text="message")


@pytest.mark.parametrize(("n", "careless"), [(14, 0), (14, 2), (60, 2)])
def test_careless_verdicts_do_not_cost_the_rest_of_the_list(n, careless):
    """Verdicts on the top of the list, some of which keep a wrong label."""
    frame, before = messages(), without_verdicts()
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    top = before.table["p_wrong"].nlargest(n).index.to_numpy()
    slips = np.random.default_rng(0).choice(top[wrong[top]], careless, replace=False)
    verdicts = frame["true_label"].where(frame.index.isin(top))
    verdicts[slips] = frame["label"][slips]
    found = audit(
        frame[["message", "label"]].assign(checked=verdicts), label="label", text="message", verified="checked"
    )
    rest = np.setdiff1d(np.arange(len(wrong)), top)
    listed = found.table["suspect"].to_numpy()
    assert (listed & wrong)[rest].sum() / wrong[rest].sum() >= 0.88
    assert abs(found.rate.estimate - before.rate.estimate) < 0.01
    # a verdict keeps its label in the table even if it is contradicted
    assert (found.table["corrected"][slips] == found.table["given"][slips]).all()
    assert not found.table["suspect"][slips].any()
    assert set(slips) <= set(found.contradictions.index)
    told = [warning for warning in found.warnings if "contradict" in warning]
    assert len(told) == bool(careless)
    assert all(str(row + 1) in told[0] for row in slips)
    assert len(found.summary()["contradictions"]) == len(found.contradictions)


def test_the_list_learns_from_verdicts_and_the_evidence_says_so():
    frame, before = messages(), without_verdicts()
    order = before.table["p_wrong"].sort_values(ascending=False).index.to_numpy()
    top, following = order[:40], order[40:80]
    # this reader finds that no label is wrong
    frame = frame[["message", "label"]].assign(checked=frame["label"].where(frame.index.isin(top)))
    found = audit(frame, label="label", text="message", verified="checked")
    assert found.table["p_wrong"][top].max() == 0
    assert found.table["p_wrong"][following].mean() < 0.5 * before.table["p_wrong"][following].mean()
    assert not found.table["suspect"].any()

    told = messages()[["message", "label"]].assign(
        checked=messages()["true_label"].where(messages().index.isin(order[::20]))
    )
    found = audit(told, label="label", text="message", verified="checked")
    (why,) = found.evidence(found.suspects.index[:1])
    of_others = dict(why.others)
    assert abs(of_others["verdicts on other rows"]) > 0.1
    total = why.weights.sum() + why.rest + why.label + sum(of_others.values())
    assert total == pytest.approx(why.log_odds)
