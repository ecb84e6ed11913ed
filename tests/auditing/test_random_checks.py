"""Rows checked at random tell how many labels are wrong, however good the model is; without them there is no range."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes import audit, simulate
from noisybayes.audit.rates import AT_LEAST, wilson
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

N = 600


@cache
def made():
    data = simulate(N, n_features=100, n_classes=3, diagonal=(0.75, 0.85), random_state=0)
    names = np.array(["a", "b", "c"])
    frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(100)]).astype(int).assign(label=names[data.y])
    return frame, names[data.true]


def audited(frame, **asked):
    return audit(frame, label="label", binary=[name for name in frame.columns if name.startswith("f")], **asked)


@cache
def alone():
    return audited(made()[0])


def test_a_sample_is_random_repeats_and_grows():
    first, more = (alone().random_sample(size)["row"].tolist() for size in (50, 100))
    assert more[:50] == first
    assert len(set(more)) == 100
    assert len(alone().random_sample(10_000)) == N
    drawn = alone().random_sample(300)["row"] - 1
    wrong = made()[0]["label"] != made()[1]
    assert wrong[drawn].mean() == pytest.approx(wrong.mean(), abs=0.06)


def test_without_checks_there_is_no_upper_end_and_a_sentence_about_what_would_give_one():
    found = alone()
    estimate = found.table["p_wrong"].mean()
    assert found.rate == (pytest.approx(estimate), pytest.approx(AT_LEAST * estimate), None, None)
    headline = found.summary()["headline"]
    assert headline[0] == f"{found.table['suspect'].sum()} of 600 rows to review, most suspicious first."
    assert headline[-1] == "To know the share in yours, check 50 random rows."
    assert " ".join(headline) in found.to_markdown()
    assert " ".join(headline) in repr(found)


def test_wilson_covers_and_knows_the_whole_table():
    for share in (0.02, 0.1, 0.5):
        counts = np.random.default_rng(0).hypergeometric(int(1_000 * share), int(1_000 * (1 - share)), 100, 2_000)
        ends = np.array([wilson(n / 100, 100, 1_000) for n in counts])
        assert np.mean((ends[:, 0] <= share) & (share <= ends[:, 1])) > 0.87
    assert wilson(0.3, 40, 40) == (0.3, 0.3)
    assert wilson(0.0, 40, 1_000)[0] == 0.0
    assert wilson(1.0, 40, 1_000)[1] == 1.0


@pytest.mark.parametrize("model_is", ["good", "useless"])
def test_the_interval_of_random_checks_holds_the_share_however_good_the_model_is(model_is):
    frame, true = made()
    if model_is == "useless":
        frame = frame.assign(**{name: np.random.default_rng(1).permutation(frame[name]) for name in frame.columns[:-1]})
    covered = []
    for seed in range(3):
        rows = np.random.default_rng(seed).choice(N, 120, replace=False)
        spot = pd.Series(true).where(frame.index.isin(rows))
        found = audited(frame.assign(spot=spot), verified_random="spot")
        assert (found.rate.random.n, found.table["verified"].sum()) == (120, 120)
        covered.append(found.rate.random.low <= np.mean(frame["label"] != true) <= found.rate.random.high)
    assert sum(covered) >= 2
    assert found.summary()["headline"][1].startswith("Of 120 rows checked at random, ")


def test_verdicts_from_the_top_bring_the_number_closer_without_an_interval():
    frame, true = made()
    top = alone().table["p_wrong"].nlargest(60).index
    found = audited(frame.assign(checked=pd.Series(true).where(frame.index.isin(top))), verified="checked")
    assert (found.rate.random, found.rate.reviewed.n) == (None, 60)
    wrong = np.mean(frame["label"] != true)
    assert abs(found.rate.estimate - wrong) < abs(alone().rate.estimate - wrong)


@pytest.mark.parametrize("way", ["texts", "objects", "a list", "names"])
def test_a_matrix_is_told_of_rows_of_no_class(way):
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
    found = audit(data.X, given, verified_random=known.tolist() if way == "a list" else known)
    assert found.rate.random.n == 100
    assert found.rate.random.low <= np.mean(none | (data.y != data.true)) <= found.rate.random.high
    summary, n_none = found.summary(), (checked & none).sum()
    assert (summary["n_labeled"], summary["n_no_class"]) == (500 - n_none, n_none)
    assert found.table.loc[checked & none, "given"].isna().all()
    assert not found.table.loc[checked & none, "suspect"].any()
    known[7] = "house"
    with pytest.raises(ValueError, match=r"verified_random\[7\] is 'house', .* or 'no_class' if none"):
        audit(data.X, given, verified_random=known)


def test_all_checks_may_be_of_no_class_and_a_class_may_lose_its_rows():
    frame, _ = made()
    rows = alone().random_sample(30)["row"].to_numpy() - 1
    spot = pd.Series(["no_class" if row in rows else None for row in frame.index])
    frame = frame.assign(spot=spot, label=frame["label"].where(~frame.index.isin(rows[:4]), "junk"))
    found = audited(frame, verified_random="spot")
    assert found.rate.random.n == 30
    assert found.rate.random.share == found.rate.random.high == 1.0
    assert found.summary()["classes"] == ["a", "b", "c"]
    assert np.isfinite(found.matrix).all()
    assert found.to_html()


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
    assert sample.columns[:4] == ["row", "given", "true_label", "f0"]
    assert sample.height == 40
    assert sample["given"].to_list() == frame["label"][sample["row"].to_numpy() - 1].tolist()
    filled = sample.with_columns(true_label=pl.Series(true[sample["row"].to_numpy() - 1].tolist()))
    filled.write_csv(out / "to_check.csv")
    assert "has been filled in and would be lost" in run(table, "--label", "label", "--out", out).output
    again = run(table, "--label", "label", "--out", out, "--verified-random", out / "to_check.csv", "--quiet")
    assert again.exit_code == 0, again.output
    assert json.loads((out / "audit.json").read_text())["wrong"]["random"]["n"] == 40
    assert pl.read_csv(out / "to_check.csv")["true_label"].null_count() == 0  # what was filled in is still there


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.drop("true_label"), "has no columns 'row' and 'true_label'; fill in the file that sample= wrote"),
        (lambda s: s.with_columns(row=pl.lit(9_999)), "there is no row 9999 in a table of 600 rows"),
        (lambda s: s.with_columns(given=pl.lit("x")), "is this the sample of another table?"),
        (lambda s: s.with_columns(true_label=pl.lit("house")), "or write no_class if none of them applies"),
    ],
)
def test_a_sample_that_does_not_fit_is_refused(tmp_path, change, message):
    frame, _ = made()
    sample = pl.DataFrame({"row": [1], "given": [frame["label"][0]], "true_label": pl.Series([None], dtype=pl.String)})
    path = tmp_path / "to_check.csv"
    change(sample).write_csv(path)
    with pytest.raises(InputError, match="to_check.csv") as error:
        audited(frame, verified_random=str(path))
    assert message in str(error.value)


def test_other_refusals(tmp_path):
    frame, _ = made()
    with pytest.raises(InputError, match="there is no column 'spot' and no such file"):
        audited(frame, verified_random="spot")
    twice = frame.assign(checked=["a", *[None] * 599], spot=["b", *[None] * 599])
    with pytest.raises(InputError, match="row 1 was checked twice with two results: 'a' in the column 'checked'"):
        audited(twice, verified="checked", verified_random="spot")
    assert "--sample writes files, so it needs a folder" in run(tmp_path / "x.csv", "--sample", 5).output
