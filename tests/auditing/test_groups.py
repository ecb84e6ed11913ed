"""Audits that know who or what gave the labels: labelers, sources, a second opinion, threads."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"
NAMES = np.array(["loan", "price", "repair"])
N, P = 900, 40
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.25, 0.75, (3, P))[TRUE]).astype(int)
WHO = RNG.choice(["ann", "bob", "cleo"], size=N)
DAY = RNG.integers(60, size=N)
COLUMNS = [f"x{j}" for j in range(P)]
RATE = {"ann": 0.02, "bob": 0.1, "cleo": 0.5}
WRONG = np.random.default_rng(1).random(N) < np.array([RATE[name] for name in WHO])
GIVEN = np.where(WRONG, (TRUE + 1) % 3, TRUE)
FRAME = pl.DataFrame(X, schema=COLUMNS).with_columns(
    label=pl.Series(NAMES[GIVEN]), who=pl.Series(WHO, dtype=pl.String),
    received=pl.Series([date(2024, 1, 1) + timedelta(days=int(day)) for day in DAY]),
    opinion=pl.Series(np.where(RNG.random(N) < 0.2, "unknown", NAMES[np.where(RNG.random(N) < 0.9, TRUE, GIVEN)])),
    true=pl.Series(NAMES[TRUE]),
)  # fmt: skip


def found(frame=FRAME, **asked):
    return audit(frame, label="label", binary=COLUMNS, **asked)


@pytest.fixture(scope="module")
def alone():
    return found()


@pytest.fixture(scope="module")
def by_labeler():
    return found(labeler="who")


def precision(audited):
    return average_precision_score(WRONG, audited.table["p_wrong"])


def test_who_errs_how_much_more_than_others_and_on_what(by_labeler, alone):
    groups = by_labeler.groups.set_index("group")
    assert groups.index.tolist() == ["cleo", "bob", "ann"]
    for name, one in groups.iterrows():
        mine = name == WHO
        assert one["rows"] == mine.sum()
        assert one["rate"] == pytest.approx(WRONG[mine].mean(), abs=0.1)
        assert one["low"] < WRONG[mine].mean() - WRONG[~mine].mean() < one["high"]
    assert (groups.loc["cleo", "given"], groups.loc["cleo", "should_be"]) in {
        ("price", "loan"), ("repair", "price"), ("loan", "repair"),
    }  # fmt: skip
    assert alone.groups is None
    assert precision(by_labeler) > precision(alone) + 0.02


def test_the_labelers_of_the_example_are_in_the_order_of_the_truth():
    frame = pl.read_csv(EXAMPLE)
    groups = audit(frame, label="label", text="message", labeler="labeler").groups
    wrong, who = (frame["label"] != frame["true_label"]).to_numpy(), frame["labeler"].to_numpy()
    rate = {name: wrong[who == name].mean() for name in groups["group"]}
    assert list(rate.values()) == sorted(rate.values(), reverse=True)
    for one in groups.itertuples():
        assert one.rate == pytest.approx(rate[one.group], abs=0.03)
        assert one.low < rate[one.group] - wrong[who != one.group].mean() < one.high


def test_one_labeler_changes_nothing_and_unknown_ones_are_nobody(alone):
    one = found(FRAME.with_columns(who=pl.lit("ann")), labeler="who")
    np.testing.assert_array_equal(one.table["p_wrong"], alone.table["p_wrong"])
    assert "the labeler 'who' was left out: it is 'ann' in every row" in one.run.notes
    missing = FRAME.with_columns(who=pl.when(pl.int_range(N) % 3 > 0).then("who"))
    assert found(missing, labeler="who").groups["rows"].sum() == N - N // 3


def test_times_are_cut_into_levels_in_order_and_go_with_labelers(by_labeler):
    both = found(labeler="who", source=["received"])
    weeks = both.groups.query("kind == 'source'")
    assert weeks["group"].tolist()[0] == "week of 2024-01-01"
    assert weeks["rows"].sum() == N
    assert ((weeks["low"] < 0) & (weeks["high"] > 0)).mean() > 0.7  # mistakes do not depend on time
    assert both.groups.query("kind == 'labeler'")["group"].tolist() == ["cleo", "bob", "ann"]
    assert precision(both) == pytest.approx(precision(by_labeler), abs=0.01)


def test_a_second_opinion_is_evidence_and_is_judged_itself(alone):
    result = found(second_opinion="opinion")
    assert precision(result) > precision(alone) + 0.1
    (one,) = result.groups.to_dict("records")
    assert (one["kind"], one["group"], one["rows"]) == ("second opinion", "opinion", N)
    said = FRAME["opinion"].to_numpy()
    assert one["rate"] == pytest.approx((said != NAMES[TRUE]).mean(), abs=0.1)
    assert 0 < one["agreement"] < 1
    first = result.summary()["suspects"][0]
    assert "second opinion 'opinion'" in [item["feature"] for item in first["evidence"] if item["kind"] == "other"]
    terms = sum(item["weight"] for item in first["evidence"]) + first["rest"] + first["label_weight"]
    assert terms == pytest.approx(first["log_odds"], abs=0.01)


def test_groups_go_with_vectors_and_probabilities(by_labeler):
    vectors = np.random.default_rng(3).normal(size=(N, 5)) + 3.0 * np.eye(5)[TRUE]
    result = found(labeler="who", second_opinion="opinion", embeddings=vectors)
    assert precision(result) > precision(by_labeler)


def test_a_copy_is_refused_and_a_near_copy_warned_about():
    with pytest.raises(InputError, match="the column 'opinion' repeats the label in every row; a copy is not an"):
        found(FRAME.with_columns(opinion="label"), second_opinion="opinion")
    nearly = pl.when(pl.int_range(N) < 3).then(pl.lit("unknown")).otherwise("label")
    result = found(FRAME.with_columns(opinion=nearly), second_opinion="opinion")
    assert any("repeats 99.7 % of the labels. If it was derived from them" in warning for warning in result.warnings)


def test_checks_drawn_by_labeler(by_labeler, tmp_path):
    by_labeler.save(tmp_path / "a", sample=60, sample_by="who")
    sample = pl.read_csv(tmp_path / "a" / "to_check.csv")
    at = sample["row"].to_numpy() - 1
    assert [int((WHO[at] == name).sum()) for name in RATE] == [20, 20, 20]
    checked = sample.with_columns(true_label=pl.Series(NAMES[TRUE[at]]))
    checked.write_csv(tmp_path / "checked.csv")
    result = found(labeler="who", verified_random=tmp_path / "checked.csv")
    groups = result.groups.set_index("group")
    assert groups["checked"].tolist() == [20, 20, 20]
    assert (groups["rate_low"] <= groups["rate"]).all()
    assert (groups["rate"] <= groups["rate_high"]).all()
    share = {name: WRONG[at][WHO[at] == name].mean() for name in RATE}
    expected = sum(share[name] * (name == WHO).mean() for name in RATE)  # each group counts as it does in the table
    assert result.rate.random.share == pytest.approx(expected)
    assert result.rate.random.low < expected < result.rate.random.high


def test_rows_of_a_thread_stay_in_one_fold():
    thread = FRAME.with_columns(thread=pl.int_range(N) // 6)
    result = found(thread, fold_by="thread")
    pool = result.findings.judged.pool
    fold = np.empty(N, dtype=int)
    fold[pool.order] = np.searchsorted(pool.starts, np.arange(N), side="right") - 1
    assert (fold.reshape(-1, 6) == fold[::6, None]).all()
    assert precision(result) > 0.5
    assert "thread" not in {block.column for block in result.recipe.blocks}


def test_report_command_line_and_where_to_begin(by_labeler, tmp_path):
    assert 'id="groups"' in by_labeler.to_html()
    assert "## Who gave the labels" in by_labeler.to_markdown()
    assert any(each["text"].startswith("Go through the labels of cleo") for each in by_labeler.summary()["guidance"])
    FRAME.write_csv(tmp_path / "rows.csv")
    features = [part for name in COLUMNS for part in ("--binary", name)]
    options = ["--label", "label", "--labeler", "who", "--out", str(tmp_path / "a"), *features]
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "rows.csv"), *options, "--anonymous"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    for text in (done.output, page):
        assert "labeler 1" in text
        assert "cleo" not in text
        assert "points more than the others" in text


@pytest.mark.parametrize(
    ("column", "values", "asked", "message"),
    [
        ("who", [None] * N, {"labeler": "who"}, "labeler: the column 'who' is empty in every row"),
        ("who", [f"r{i}" for i in range(N)], {"labeler": "who"}, "900 distinct values .* looks like an identifier"),
        ("who", [f"r{i}" for i in range(N)], {"source": "who"}, "900 distinct values .* looks like an identifier"),
        ("who", [None] * N, {"source": "who"}, "source: the column 'who' is empty in every row"),
        ("who", WHO, {"source": "whoo"}, "source: there is no column 'whoo'; did you mean 'who'"),
        ("who", WHO, {"source": "label"}, "a column can have only one role"),
        ("who", [None] * N, {"second_opinion": "who"}, "second_opinion: the column 'who' is empty in every row"),
        ("who", [f"text {i}" for i in range(N)], {"second_opinion": "who"}, "has 900 distinct values that are not"),
        ("who", WHO, {"fold_by": "thread"}, "there is no column 'thread'"),
        ("who", ["a", "b"] * (N // 2), {"fold_by": "who"}, "2 distinct values"),
    ],
)
def test_bad_columns(column, values, asked, message):
    with pytest.raises(InputError, match=message):
        found(FRAME.with_columns(pl.Series(column, values, dtype=pl.String)), **asked)


def test_workers_of_a_cluster_do_not_take_a_second_opinion(tmp_path):
    FRAME.write_csv(tmp_path / "rows.csv")
    with pytest.raises(InputError, match="second_opinion= needs all rows in memory, on one machine; leave it out"):
        audit(tmp_path / "rows.csv", label="label", second_opinion="who", engine="dask")
