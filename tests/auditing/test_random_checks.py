"""Rows checked at random tell how many labels are wrong, whatever the model is worth; without them there is a range."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.special import ndtri

from noisybayes import BernoulliINB, audit, simulate
from noisybayes.auditing.noise_rate import from_checks
from noisybayes.auditing.random_checks import draw, inclusion_probabilities
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

N = 5_000


def wilson(share, m, level):
    z2 = ndtri(0.5 + level / 2) ** 2
    centre = (share + z2 / (2 * m)) / (1 + z2 / m)
    reach = np.sqrt(z2 * (share * (1 - share) / m + z2 / (4 * m**2))) / (1 + z2 / m)
    return centre - reach, centre + reach


def population(kind, rng):
    """Wrong labels, and how much a model is surprised by each: well, not at all, or the wrong way round."""
    surprise = rng.beta(0.3, 1.2, N)
    if kind == "useless":
        return rng.random(N) < 0.2, surprise
    p = surprise if kind == "good" else 0.4 * (1 - surprise)
    return rng.random(N) < p, surprise


@pytest.mark.parametrize("m", [30, 50, 200])
@pytest.mark.parametrize("kind", ["good", "useless", "reversed"])
def test_intervals_cover_and_are_no_wider_than_counting(kind, m):
    rng = np.random.default_rng(m)
    covered, errors, widths, counting = [], [], [], []
    for _ in range(300):
        wrong, surprise = population(kind, rng)
        rows = rng.choice(N, m, replace=False)
        rate, low, high = from_checks(wrong[rows].astype(float), surprise[rows], surprise.mean(), N, 0.9)
        plain = wilson(wrong[rows].mean(), m, 0.9)
        assert high - low <= plain[1] - plain[0] + 1e-12
        assert low <= rate <= high
        covered.append(low <= wrong.mean() <= high)
        errors.append(rate - wrong.mean())
        widths.append(high - low)
        counting.append(plain[1] - plain[0])
    assert np.mean(covered) > 0.85
    assert abs(np.mean(errors)) < 0.02
    if kind == "good" and m > 30:
        assert np.mean(widths) < 0.9 * np.mean(counting)


def test_edges_of_counting():
    none, surprise = np.zeros(20), np.linspace(0, 1, 20)
    rate, low, high = from_checks(none, surprise, 0.5, 1_000, 0.9)
    assert (rate, low) == (0.0, 0.0)
    assert 0 < high < 0.2
    # all rows were checked: nothing is left to chance
    wrong = np.arange(20) % 2.0
    assert from_checks(wrong, np.ones(20), 1.0, 20, 0.9) == (0.5, 0.5, 0.5)


def test_a_sample_is_random_repeats_and_grows():
    observed = np.where(np.arange(2_000) % 10 == 0, 3, np.arange(2_000) % 3)
    first, more = draw(observed, 3, 50, 0), draw(observed, 3, 100, 0)
    assert more[:50].tolist() == first.tolist()
    assert len(set(more.tolist())) == 100
    assert (observed[more] < 3).all()
    assert set(first.tolist()) != set(draw(observed, 3, 50, 1).tolist())
    drawn = np.concatenate([draw(observed, 3, 100, seed) for seed in range(40)])
    assert np.mean(drawn) == pytest.approx(1_000, abs=30)
    assert len(draw(observed, 3, 10_000, 0)) == (observed < 3).sum()


@cache
def made():
    data = simulate(600, n_features=100, n_classes=3, diagonal=(0.75, 0.85), random_state=0)
    names = np.array(["a", "b", "c"])
    frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(100)]).astype(int).assign(label=names[data.y])
    return frame, names[data.true]


def columns(frame):
    return {"label": "label", "binary": [name for name in frame.columns if name.startswith("f")]}


def test_without_checks_there_is_a_range_and_a_sentence_about_what_would_narrow_it():
    frame, true = made()
    found = audit(frame, **columns(frame))
    assert found.rate.level is None
    assert found.rate.n_checked == 0
    assert found.rate.low <= found.noise_rate <= found.rate.high
    assert found.rate.low <= np.mean(frame["label"] != true) <= found.rate.high
    told = found.summary()["noise_rate"]
    assert told["level"] is None
    assert "Check 50 rows drawn at random" in told["text"]
    assert "check 50 rows drawn at random" in found.to_markdown()
    assert "may be wrong" in found.to_html()


def test_checks_from_the_top_leave_the_number_alone_and_random_ones_settle_it():
    frame, true = made()
    alone = audit(frame, **columns(frame))
    top = alone.table["p_wrong"].nlargest(60).index
    chosen = pd.Series(true).where(frame.index.isin(top))
    from_top = audit(frame.assign(checked=chosen), **columns(frame), verified="checked")
    assert from_top.rate.level is None
    assert abs(from_top.noise_rate - alone.noise_rate) < 0.05
    rows = alone.random_sample(120)["row"] - 1
    drawn = pd.Series(true).where(frame.index.isin(rows))
    checked = audit(frame.assign(spot=drawn), **columns(frame), verified_random="spot")
    assert checked.rate.level == 0.9
    assert checked.rate.n_checked == 120
    assert checked.rate.low <= np.mean(frame["label"] != true) <= checked.rate.high
    assert checked.table["verified"].sum() == 120
    assert "rows checked at random" in checked.summary()["noise_rate"]["text"]


def test_a_classifier_takes_an_array_of_checks():
    data = simulate(500, n_features=60, n_classes=3, diagonal=(0.7, 0.8), random_state=1)
    rows = np.random.default_rng(0).choice(500, 100, replace=False)
    known = np.full(500, np.nan)
    known[rows] = data.true[rows]
    found = audit(BernoulliINB().fit(data.X, data.y), data.X, data.y, verified_random=known)
    assert found.rate.n_checked == 100
    assert found.rate.low <= np.mean(data.y != data.true) <= found.rate.high


@pytest.mark.parametrize("way", ["texts", "objects", "a list", "EM", "names"])
def test_a_classifier_is_told_of_rows_of_no_class(way):
    data = simulate(500, n_features=60, n_classes=3, diagonal=(0.7, 0.8), random_state=1)
    given, true = data.y, data.true.astype(object)
    if way == "names":
        given, true = np.array(list("abc"))[given], np.array(list("abc"))[data.true].astype(object)
    rng = np.random.default_rng(0)
    checked = rng.permutation(500) < 100
    none = rng.random(500) < 1 / 3
    known = np.where(checked, np.where(none, "no_class", true), None)
    if way == "texts":  # as np.where(..., "no_class", numbers) makes them
        known = np.where(checked, np.where(none, "no_class", data.true), None)
        assert isinstance(known[checked & ~none][0], str)
    model = BernoulliINB(method="em" if way == "EM" else "crossfit").fit(data.X, given)
    found = audit(model, data.X, given, verified_random=known.tolist() if way == "a list" else known)
    assert found.rate.n_checked == 100
    assert found.rate.low <= np.mean(none | (data.y != data.true)) <= found.rate.high
    summary, n_none = found.summary(), (checked & none).sum()
    assert (summary["n_labeled"], summary["n_no_class"]) == (500 - n_none, n_none)
    assert found.table.loc[checked & none, "given"].isna().all()
    assert not found.table.loc[checked & none, "suspect"].any()
    assert f"About {found.noise_rate * 500:.0f} of 500 labels" in found.to_markdown()
    alone = audit(model, data.X, given)
    assert alone.table["given"].notna().all()  # the model knows nothing of the checks
    known[7] = "house"
    with pytest.raises(ValueError, match=r"verified_random\[7\] is 'house', .* or 'no_class' if none"):
        audit(model, data.X, given, verified_random=known)


def test_a_class_of_a_classifier_may_lose_all_its_rows():
    data = simulate(300, n_features=40, n_classes=3, diagonal=(0.8, 0.9), random_state=1)
    known = np.where(data.y == 2, "no_class", None)
    found = audit(BernoulliINB().fit(data.X, data.y), data.X, data.y, verified_random=known)
    assert found.noise_rate == found.rate.high == 1.0
    assert found.summary()["n_no_class"] == (data.y == 2).sum()
    assert np.isfinite(found.mislabel_matrix).all()
    assert found.to_html()


def test_a_row_of_no_class_has_a_wrong_label_which_is_not_learned_from():
    frame, true = made()
    alone = audit(frame, **columns(frame))
    rows = alone.random_sample(120)["row"].to_numpy() - 1
    wrong = np.mean(frame["label"] != true)
    # a third of all rows belongs to no class, so that their labels are wrong too
    none = np.random.default_rng(0).random(len(frame)) < 1 / 3
    share = np.mean(none | (frame["label"] != true))
    spot = pd.Series(np.where(none, "no_class", true)).where(frame.index.isin(rows))
    found = audit(frame.assign(spot=spot), **columns(frame), verified_random="spot")
    assert found.rate.n_checked == 120
    assert wrong < found.rate.low <= share <= found.rate.high
    assert abs(found.noise_rate - share) < 0.08
    summary = found.summary()
    assert (summary["n_labeled"], summary["n_no_class"]) == (600 - none[rows].sum(), none[rows].sum())
    assert found.table.loc[rows[none[rows]], "given"].isna().all()
    assert f"About {found.noise_rate * 600:.0f} of 600 labels" in found.to_markdown()


def test_all_checks_may_be_of_no_class_and_a_class_may_lose_its_rows():
    frame, _ = made()
    rows = audit(frame, **columns(frame)).random_sample(30)["row"].to_numpy() - 1
    spot = pd.Series(["no_class" if row in rows else None for row in frame.index])
    frame = frame.assign(spot=spot, label=frame["label"].where(~frame.index.isin(rows[:4]), "junk"))
    found = audit(frame, **columns(frame), verified_random="spot")
    assert found.noise_rate == found.rate.high == 1.0
    assert found.rate.n_checked == 30
    assert found.summary()["classes"] == ["a", "b", "c"]
    assert found.findings.judged.out_of_fold


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def test_from_the_sample_file_to_the_number(tmp_path):
    frame, true = made()
    table, out = tmp_path / "table.csv", tmp_path / "audit"
    frame.to_csv(table, index=False)
    first = run(table, "--label", "label", "--out", out, "--sample", 40)
    assert first.exit_code == 0, first.output
    assert "--verified-random" in first.output
    sample = pl.read_csv(out / "to_check.csv")
    assert sample.columns[:4] == ["row", "given", "true_label", "weight"]
    assert 0 < sample["weight"].min() < sample["weight"].max() <= 2
    assert sample.height == 40
    assert sample["given"].to_list() == frame["label"][sample["row"].to_numpy() - 1].tolist()
    sample.with_columns(true_label=pl.Series(true[sample["row"].to_numpy() - 1].tolist())).write_csv(
        out / "to_check.csv"
    )
    lost = run(table, "--label", "label", "--out", out)
    assert "has been filled in and would be lost" in lost.output
    again = run(table, "--label", "label", "--out", out, "--verified-random", out / "to_check.csv", "--quiet")
    assert again.exit_code == 0, again.output
    told = json.loads((out / "audit.json").read_text())["noise_rate"]
    assert (told["n_checked"], told["level"]) == (40, 0.9)
    assert pl.read_csv(out / "to_check.csv")["true_label"].null_count() == 0  # what was filled in is still there


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.drop("true_label"), "has no columns 'row' and 'true_label'; fill in the file that sample= wrote"),
        (lambda s: s.with_columns(row=pl.lit(9_999)), "there is no row 9999 in a table of 600 rows"),
        (lambda s: s.with_columns(given=pl.lit("x")), "is this the sample of another table?"),
        (lambda s: s.with_columns(true_label=pl.lit("house")), "the true label 'house' in"),
        (lambda s: s.with_columns(true_label=pl.lit("house")), "or write no_class if none of them applies"),
        (
            lambda s: s.with_columns(true_label=pl.lit("a"), weight=pl.lit(0.0)),
            "the weight of row 1 is 0.0, which is not a number above 0; restore what sample= wrote",
        ),
    ],
)
def test_a_sample_that_does_not_fit_is_refused(tmp_path, change, message):
    frame, _ = made()
    sample = pl.DataFrame({"row": [1], "given": [frame["label"][0]], "true_label": [None]}, schema_overrides={
        "true_label": pl.String})  # fmt: skip
    path = tmp_path / "to_check.csv"
    change(sample).write_csv(path)
    with pytest.raises(InputError, match="to_check.csv") as error:
        audit(frame, **columns(frame), verified_random=str(path))
    assert message in str(error.value)


def test_other_refusals(tmp_path):
    frame, _ = made()
    with pytest.raises(InputError, match="there is no column 'spot' and no such file"):
        audit(frame, **columns(frame), verified_random="spot")
    twice = frame.assign(checked=["a", *[None] * 599], spot=["b", *[None] * 599])
    with pytest.raises(InputError, match="row 1 was checked twice with two results: 'a' in the column 'checked'"):
        audit(twice, **columns(frame), verified="checked", verified_random="spot")
    assert "--sample writes files, so it needs a folder" in run(tmp_path / "x.csv", "--sample", 5).output


@pytest.mark.parametrize("kind", ["good", "useless", "reversed"])
def test_unequal_chances_leave_the_rate_unbiased_and_the_interval_right(kind):
    rng = np.random.default_rng(3)
    wrong, surprise = population(kind, rng)
    chance = inclusion_probabilities(surprise)
    assert chance.mean() == pytest.approx(1.0)
    assert chance.min() >= 0.5
    none_missing = np.zeros(N, dtype=int)
    covered, errors, plain = [], [], []
    for seed in range(300):
        rows = draw(none_missing, 1, 60, seed, chance)
        rate, low, high = from_checks(
            wrong[rows].astype(float), surprise[rows], surprise.mean(), N, 0.9, 1.0 / chance[rows]
        )
        assert low <= rate <= high
        covered.append(low <= wrong.mean() <= high)
        errors.append(rate - wrong.mean())
        same = draw(none_missing, 1, 60, seed)
        plain.append(from_checks(wrong[same].astype(float), surprise[same], surprise.mean(), N, 0.9)[0] - wrong.mean())
    assert np.mean(covered) > 0.85
    assert abs(np.mean(errors)) < 0.015
    if kind == "good":
        assert np.std(errors) < np.std(plain)


def test_weights_that_are_the_same_change_nothing_and_counting_by_them_is_what_they_are_for():
    rng = np.random.default_rng(0)
    wrong, surprise = (rng.random(40) < 0.3).astype(float), rng.random(40)
    plain = from_checks(wrong, surprise, 0.5, 1_000, 0.9)
    np.testing.assert_allclose(from_checks(wrong, surprise, 0.5, 1_000, 0.9, np.full(40, 3.0)), plain)
    # a surprise that says nothing: the share by weight
    weight = rng.uniform(0.5, 2.0, 40)
    rate, _, _ = from_checks(wrong, np.full(40, 0.2), 0.2, 1_000, 0.9, weight)
    assert rate == pytest.approx(weight @ wrong / weight.sum())


def test_a_weighted_sample_grows_and_a_sample_of_equal_chances_is_the_one_of_old():
    observed = np.zeros(2_000, dtype=int)
    chance = inclusion_probabilities(np.random.default_rng(0).beta(0.3, 1.2, 2_000))
    assert draw(observed, 1, 100, 0, chance)[:50].tolist() == draw(observed, 1, 50, 0, chance).tolist()
    assert draw(observed, 1, 50, 0, np.ones(2_000)).tolist() == draw(observed, 1, 50, 0).tolist()
