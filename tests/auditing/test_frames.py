"""What people get as data frames: the index and the columns of their own table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from noisybayes import audit, simulate
from noisybayes.data.errors import InputError

from ..report.tables import table


@cache
def shuffled():
    frame = table().to_pandas().sample(frac=1, random_state=0)
    frame.iloc[:3, frame.columns.get_loc("label")] = None
    return frame


@cache
def audited():
    return audit(shuffled(), label="label", text="message")


def test_suspects_and_evidence_have_the_index_of_the_callers_frame():
    frame, found = shuffled(), audited()
    rows = frame.loc[found.suspects.index]
    assert len(rows) > 0
    assert rows["message"].tolist() == found.suspects["message"].tolist()
    assert rows["label"].tolist() == found.suspects["label"].tolist() == found.suspects["given"].tolist()
    assert found.table.index.equals(frame.index)
    first = found.suspects.index[0]
    assert found.evidence([first])[0].row == frame.index.get_loc(first)
    with pytest.raises(KeyError, match="'nobody' is not in the index"):
        found.evidence(["nobody"])


def test_an_index_with_labels_that_occur_twice():
    found = audit(shuffled().set_axis([7] * len(shuffled())), label="label", text="message")
    assert (found.suspects.index == 7).all()
    with pytest.raises(ValueError, match=r"reset_index\(\)"):
        found.evidence(found.suspects.index[:1])


def test_p_wrong_is_missing_without_a_label(tmp_path):
    found = audited()
    assert found.table["p_wrong"].isna().tolist() == found.table["given"].isna().tolist()
    assert found.to_polars()["p_wrong"].null_count() == found.table["p_wrong"].isna().sum() == 3
    for format, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        corrected = read(found.save(tmp_path / format, format=format) / f"corrected.{format}")
        assert corrected["p_wrong"].null_count() == 3
        assert not corrected["p_wrong"].is_nan().any()


def test_rows_of_a_classifier_have_the_index_of_x_or_y_and_numbers_as_labels():
    data = simulate(200, n_features=60, n_classes=3, diagonal=(0.6, 0.8), random_state=0)
    X = pd.DataFrame(data.X, index=np.arange(200)[::-1]).rename(columns=str)
    found = audit(LogisticRegression(), X, data.y)
    assert found.table.index.equals(X.index)
    assert found.to_polars()["given"].to_list() == [str(label) for label in data.y.tolist()]
    of_matrix = audit(LogisticRegression(), data.X, pd.Series(data.y, index=X.index))
    assert of_matrix.table.index.equals(X.index)
    assert set(of_matrix.suspects.columns) == set(of_matrix.table.columns)
    assert of_matrix.to_polars()["given"].dtype == pl.Int64
    assert of_matrix.to_polars()["given"].to_list() == data.y.tolist()


def test_health_is_a_frame_by_label():
    health = audited().health
    assert health["wrong"].is_monotonic_decreasing
    assert set(health.index) == set(audited().summary()["classes"])
    assert health["rows"].sum() == audited().summary()["n_labeled"]
    assert health["suspects"].sum() == len(audited().suspects)
    assert (health.index != health["should_be"]).all()


def test_polars_gets_the_same_tables():
    found = audited()
    for name in ("table", "suspects", "health", "by_class", "confused_pairs", "contradictions"):
        ours, theirs = found.to_polars(name), getattr(found, name)
        assert len(ours) == len(theirs)
        for column in theirs.columns:
            assert [None if pd.isna(value) else value for value in theirs[column].tolist()] == ours[column].to_list()
    assert shuffled().index[found.to_polars("suspects")["position"].to_numpy()].equals(found.suspects.index)
    assert found.to_polars("groups") is None
    with pytest.raises(ValueError, match="an audit has no table 'rows'; it has 'table', 'suspects', 'health'"):
        found.to_polars("rows")


def test_what_is_printed_is_short():
    for shown in (audited(), audited().summary, audited().summary(), audited().recipe):
        assert len(repr(shown)) < 600


def test_errors_name_parameters(tmp_path):
    with pytest.raises(InputError, match=r"^label: there is no column 'lable'"):
        audit(table(), label="lable")
    with pytest.raises(InputError, match=r"choose another one with text=$"):
        audit(table().with_columns(empty=pl.lit("")), label="label", text="empty")
    (tmp_path / "other").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"contains other files \(other\); choose a new folder$"):
        audited().save(tmp_path)
