"""Laws of sources: mistakes that depend on a channel or on time."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

NAMES = np.array(["loan", "price", "repair"])
N, P = 900, 50
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.25, 0.75, (3, P))[TRUE]).astype(int)
CHANNEL = RNG.choice(["mail", "phone", "web"], size=N)
DAY = RNG.integers(60, size=N)
COLUMNS = [f"x{j}" for j in range(P)]
FAMILIES = {"binary": "bernoulli"}


def labels(share):
    """Given labels, of which this share is wrong."""
    rng = np.random.default_rng(1)
    return np.where(rng.random(N) < share, (TRUE + rng.integers(1, 3, size=N)) % 3, TRUE)


BY_CHANNEL = labels(np.where(CHANNEL == "phone", 0.4, 0.05))
OVER_TIME = labels(0.6 * np.exp(-DAY / 15))
NOWHERE = labels(0.15)


def table(given, channel=CHANNEL, **more):
    received = [date(2024, 1, 1) + timedelta(days=int(day)) for day in DAY]
    extra = {"label": pl.Series(NAMES[given]), "channel": pl.Series(channel), "received": pl.Series(received), **more}
    return pl.DataFrame(X, schema=COLUMNS).with_columns(**extra)


def found(given, source=("channel", "received"), channel=CHANNEL, **asked):
    """`families` asks for the fit that knows sources, if there is none."""
    return audit(table(given, channel), label="label", binary=COLUMNS, source=source, families=FAMILIES, **asked)


@pytest.fixture(scope="module")
def by_channel():
    return found(BY_CHANNEL)


@pytest.fixture(scope="module")
def over_time():
    return found(OVER_TIME)


@pytest.fixture(scope="module")
def by_channel_alone():
    return found(BY_CHANNEL, ())


def precision(given, audited):
    return average_precision_score(given != TRUE, audited.table["p_wrong"])


def test_wrong_labels_of_a_careless_channel_are_found_better(by_channel, by_channel_alone):
    assert precision(BY_CHANNEL, by_channel) > precision(BY_CHANNEL, by_channel_alone) + 0.01


def test_error_rates_of_levels(by_channel, over_time):
    told = by_channel.sources.query("source == 'channel'")
    assert told["level"].tolist()[0] == "phone"
    for line in told.itertuples():
        wrong = (BY_CHANNEL != TRUE)[line.level == CHANNEL]
        assert (line.rows, line.error_rate) == (len(wrong), pytest.approx(wrong.mean(), abs=0.08))
        assert line.low < line.error_rate < line.high
    told = over_time.sources.query("source == 'received'")
    week = DAY // 7  # the first day is a Monday
    assert told["level"].tolist()[0] == "week of 2024-01-01"
    wrong = np.array([(OVER_TIME != TRUE)[week == w].mean() for w in range(len(told))])
    np.testing.assert_allclose(told["error_rate"], wrong, atol=0.1)
    assert np.abs(told["error_rate"] - wrong).mean() < 0.04


def test_sources_that_explain_nothing_are_dropped_and_change_nothing(by_channel, over_time):
    np.testing.assert_array_equal(found(NOWHERE).table["p_wrong"], found(NOWHERE, ()).table["p_wrong"])
    for audited, dropped in ((by_channel, "received"), (over_time, "channel")):
        kept = {one["source"]: one["kept"] for one in audited.summary()["sources"]}
        assert kept == {"channel": dropped != "channel", "received": dropped != "received"}
        assert set(audited.sources.query("source == @dropped")["note"]) == {"within chance"}


def test_missing_values_are_not_known(by_channel_alone):
    channel = [None if i % 10 == 0 else name for i, name in enumerate(CHANNEL)]
    told = found(BY_CHANNEL, ["channel"], channel=channel)
    assert told.sources["rows"].sum() == N - N // 10
    assert told.summary()["sources"][0]["n_unknown"] == N // 10
    assert precision(BY_CHANNEL, told) > precision(BY_CHANNEL, by_channel_alone)


def test_labelers_and_sources_at_once():
    who = np.random.default_rng(2).choice(["ann", "bob"], size=N)
    given = labels(np.where(CHANNEL == "phone", 0.35, 0.05) + np.where(who == "bob", 0.3, 0.0))
    frame = table(given, who=pl.Series(who))

    def of(**asked):
        return audit(frame, label="label", binary=COLUMNS, **asked)

    both, labeler = of(labeler="who", source="channel"), of(labeler="who")
    assert both.labelers.loc["bob", "error_rate"] > both.labelers.loc["ann", "error_rate"] + 0.15
    assert both.sources.set_index("level").loc["phone", "error_rate"] > 0.3
    assert precision(given, both) > precision(given, labeler)
    features = {item["feature"] for item in both.summary()["suspects"][0]["evidence"] if item["kind"] == "other"}
    assert {feature.split()[0] for feature in features} == {"labeled", "channel"}


def test_a_suspect_says_where_it_comes_from_and_the_evidence_adds_up(over_time):
    suspect = over_time.summary()["suspects"][0]
    said = [item["feature"] for item in suspect["evidence"] if item["kind"] == "other"]
    assert said[0].startswith(f"received {suspect['sources']['received']}: ")
    assert said[0].endswith(" % of such labels are wrong")
    terms = sum(item["weight"] for item in suspect["evidence"]) + suspect["rest"] + suspect["label_weight"]
    assert terms == pytest.approx(suspect["log_odds"], abs=2e-3)


def test_where_to_begin(by_channel, over_time):
    texts = [one["text"] for one in by_channel.summary()["guidance"]]
    assert any(text.startswith("Have the rows with channel 'phone' labeled again: about ") for text in texts)
    (advice,) = (one for one in over_time.summary()["guidance"] if one["source"])
    assert advice["text"].startswith("Have the rows before 2024-01-")
    assert advice["levels"][0] == "week of 2024-01-01"


def test_report_and_command_line(over_time, tmp_path):
    page, text = over_time.to_html(), over_time.to_markdown()
    for shown in (page, text):
        assert "mistakes fell from" in shown.replace("\N{NO-BREAK SPACE}", " ")
    assert "## Sources" in text
    table(OVER_TIME).write_csv(tmp_path / "rows.csv")
    command = ["audit", str(tmp_path / "rows.csv"), "--label", "label", "--source", "received", "--source", "channel"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "By 'received', mistakes fell from" in done.output
    assert "column: 'received'" not in done.output  # a source is not a feature


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"channel": [None] * N}, "source: the column 'channel' is empty in every row"),
        ({"channel": [f"r{i}" for i in range(N)]}, "900 distinct values in 900 rows, and looks like an identifier"),
        ({"source": "chanel"}, "source: there is no column 'chanel'; did you mean 'channel'"),
        ({"source": "label"}, "a column can have only one role"),
    ],
)
def test_bad_columns(asked, message):
    channel = pl.Series(asked.pop("channel", CHANNEL), dtype=pl.String)
    with pytest.raises(InputError, match=message):
        found(BY_CHANNEL, channel=channel, **asked)


def test_what_sources_do_not_go_with():
    with pytest.raises(InputError, match="source= goes with one label per row"):
        audit(table(BY_CHANNEL, other=pl.Series(NAMES[TRUE])), label=["label", "other"], source="channel")
