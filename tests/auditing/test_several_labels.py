"""Laws of tables with several labels of a row: one column per labeler, or one line per row and labeler."""

from __future__ import annotations

import json

import krippendorff
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import cohen_kappa_score

from noisybayes import audit
from noisybayes.auditing.agreement import cohen_kappa, krippendorff_alpha
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

NAMES = np.array(["loan", "price", "repair"])
N, P = 500, 40
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.3, 0.7, (3, P))[TRUE]).astype(int)
COLUMNS = [f"x{j}" for j in range(P)]
RIGHT = {"ann": 0.95, "bob": 0.6, "cleo": 0.6, "dan": 0.34}


def labels_of(name: str, seed: int) -> list[str | None]:
    """Two in five rows are labeled; wrong labels are spread evenly."""
    rng = np.random.default_rng(seed)
    right = rng.random(N) < RIGHT[name]
    given = NAMES[np.where(right, TRUE, (TRUE + rng.integers(1, 3, size=N)) % 3)]
    return [label if seen else None for label, seen in zip(given.tolist(), rng.random(N) < 0.5, strict=True)]


WIDE = pl.DataFrame(X, schema=COLUMNS).with_columns(
    id=pl.Series([f"r{i:03}" for i in range(N)]),
    **{name: pl.Series(labels_of(name, seed), dtype=pl.String) for seed, name in enumerate(RIGHT)},
)
LONG = WIDE.unpivot(on=list(RIGHT), index=["id", *COLUMNS], variable_name="who", value_name="label").filter(
    pl.col("label").is_not_null()
)
LABELED = WIDE.select(pl.any_horizontal(pl.col(list(RIGHT)).is_not_null())).to_series().to_numpy()


@pytest.fixture(scope="module")
def wide():
    return audit(WIDE, label=list(RIGHT), binary=COLUMNS, id="id")


def test_consensus_beats_vote_and_columns(wide):
    found = wide.consensus
    is_right = {
        "consensus": found["consensus"].to_numpy() == NAMES[TRUE],
        "vote": wide.table["given"].to_numpy() == NAMES[TRUE],
        "columns": wide.model.predict(X) == NAMES[TRUE],
    }
    share = {name: right[LABELED].mean() for name, right in is_right.items()}
    assert share["consensus"] > max(share["vote"], share["columns"]) + 0.02
    assert found["probability"][LABELED].mean() == pytest.approx(share["consensus"], abs=0.06)
    assert found["n_labels"].sum() == LONG.height
    one = found[found["n_labels"] == 1]
    assert set(one["agreement"]) <= {0.0, 1.0}
    assert found["agreement"].isna().sum() == (~LABELED).sum()


def test_consensus_is_the_most_probable_label(wide):
    """Also of suspects, whose suggested label is another one than the vote."""
    found, rows = wide.consensus, wide.table
    p_vote = 1 - rows["p_wrong"][LABELED]
    assert (found["probability"][LABELED] >= p_vote).all()
    keeps_vote = found["consensus"][LABELED] == rows["given"][LABELED]
    np.testing.assert_allclose(found["probability"][LABELED][keeps_vote], p_vote[keeps_vote])
    assert (keeps_vote & rows["suspect"][LABELED]).any()
    assert found["id"].tolist() == WIDE["id"].to_list()


def test_lines_of_a_pandas_data_frame(wide):
    lines = LONG.to_pandas()
    lines.index = [f"line {number}" for number in range(len(lines))]
    found = audit(lines, label="label", labeler="who", id="id", binary=COLUMNS)
    for table in (found.table, found.consensus):
        assert table.index.tolist() == lines.index[~lines["id"].duplicated()].tolist()
    assert (lines.loc[found.consensus.index, "id"] == found.consensus["id"]).all()
    first = found.suspects.index[0]
    assert found.evidence([first])[0].weights.any()


def test_labelers_are_told_apart(wide):
    told = wide.groups.set_index("group")
    assert told.index[0] == "dan"
    assert told.index[-1] == "ann"
    for name, right in RIGHT.items():
        assert told.loc[name, "rate"] == pytest.approx(1 - right, abs=0.1)
    assert told["agreement"].idxmax() == "ann"


def test_one_line_per_row_and_labeler_is_the_same_table(wide):
    shuffled = LONG.sample(fraction=1.0, shuffle=True, seed=3).sort("id", maintain_order=True)
    found = audit(shuffled, label="label", labeler="who", id="id", binary=COLUMNS)
    assert found.findings.rows.n_rows == LABELED.sum()
    alone = audit(WIDE.filter(pl.Series(LABELED)), label=list(RIGHT), binary=COLUMNS, id="id")
    np.testing.assert_allclose(found.consensus["probability"], alone.consensus["probability"], atol=1e-9)
    assert found.consensus["consensus"].tolist() == alone.consensus["consensus"].tolist()


def test_a_label_that_no_row_is_voted_to_have():
    """It is not a class, and does not count."""
    odd = WIDE.with_columns(dan=pl.when(pl.int_range(N) == first_with_labels()).then(pl.lit("odd")).otherwise("dan"))
    found = audit(odd, label=list(RIGHT), binary=COLUMNS, id="id")
    assert "odd" not in found.table["given"].cat.categories
    assert found.summary()["agreement"]["n_labels"] == sum(odd[name].is_not_null().sum() for name in RIGHT) - 1


def first_with_labels() -> int:
    """A row on which ann and bob agree."""
    return int(np.flatnonzero((WIDE["ann"] == WIDE["bob"]).fill_null(False).to_numpy())[0])


def test_anonymous_without_labelers():
    with pytest.raises(InputError, match="anonymous= hides the names of labelers, but none are given"):
        audit(WIDE, label="ann", binary=COLUMNS, anonymous=True)


def test_order_of_columns_spellings_and_missing_marks_do_not_matter(wide):
    loud = WIDE.with_columns(pl.col("ann").str.to_uppercase().fill_null("n/a"))
    turned = audit(loud, label=list(RIGHT)[::-1], binary=COLUMNS, id="id", missing_label="n/a")
    np.testing.assert_allclose(turned.consensus["probability"], wide.consensus["probability"], atol=1e-9)
    guessed = audit(WIDE, label=list(RIGHT))
    assert not set(RIGHT) & {block.column for block in guessed.recipe.blocks}
    assert guessed.table["given"].isna().sum() == (~LABELED).sum()


@pytest.mark.parametrize("seed", range(3))
def test_agreement_is_that_of_the_libraries(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=(5, 30)).astype(float)
    labels[:, :20] = labels[0, :20]  # mostly alike
    labels[rng.random(labels.shape) < 0.4] = np.nan
    who, row = np.nonzero(~np.isnan(labels))
    expected = krippendorff.alpha(reliability_data=labels, level_of_measurement="nominal")
    assert krippendorff_alpha(row, labels[who, row]) == pytest.approx(expected, abs=1e-12)
    one = rng.integers(4, size=60)
    other = np.where(rng.random(60) < 0.6, one, rng.integers(4, size=60))
    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
    assert np.isnan(cohen_kappa(["a", "a"], ["a", "a"]))  # nothing can differ
    assert np.isnan(krippendorff_alpha([0, 0], ["a", "a"]))


NAMED = {name: f"{name}-smith" for name in RIGHT}
OF_COLUMNS = [part for name in NAMED.values() for part in ("--label", name)]
OF_LINES = ["--label", "label", "--labeler", "who", "--id", "id"]
FEATURES = [part for name in COLUMNS for part in ("--binary", name)]


@pytest.mark.parametrize("options", [OF_COLUMNS, OF_LINES], ids=["columns", "lines"])
@pytest.mark.parametrize("anonymous", [False, True])
def test_files_of_the_command_and_names_of_anonymous_labelers(tmp_path, monkeypatch, options, anonymous):
    table = WIDE.rename(NAMED) if options is OF_COLUMNS else LONG.with_columns(pl.col("who").replace(NAMED))
    table.write_csv(tmp_path / "rows.csv")
    out = tmp_path / "out"
    command = ["audit", str(tmp_path / "rows.csv"), *options, *FEATURES, "--out", str(out)]
    command += ["--anonymous"] if anonymous else []
    monkeypatch.setattr("sys.argv", ["noisybayes", *command])
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    written = pl.read_csv(out / "consensus.csv")
    assert written.columns[-4:] == ["consensus", "probability", "n_labels", "agreement"]
    summary = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert summary["agreement"]["n_labels"] == LONG.height
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Krippendorff" in page
    told = [path.name for path in out.rglob("*") if path.is_file() and b"smith" in path.read_bytes()]
    assert (told == [] and "smith" not in done.output) == anonymous
    assert ("labeler 1" in page) == anonymous


LINES = {"label": "label", "labeler": "who", "id": "id"}


@pytest.mark.parametrize(
    ("frame", "asked", "message"),
    [
        (WIDE, {"label": ["ann", "bobby"]}, "there is no column 'bobby'"),
        (WIDE, {"label": ["ann", "ann"]}, "a column is named twice"),
        (WIDE, {"label": ["ann", "bob"], "labeler": "cleo"}, "each of them is a labeler"),
        (WIDE, {"label": "ann", "anonymous": True}, "anonymous= hides the names of labelers, but none are given"),
        (WIDE, {"label": ["ann", "id"]}, "the label columns 'ann', 'id' have 503 distinct values in .* cells"),
        (pl.concat([LONG, LONG[:1]]), LINES, "'ann' labeled id .* more than once"),
        (
            LONG.with_columns(who=pl.when(pl.col("who") != "dan").then("who")),
            LINES,
            "the column 'who' is empty; fill it in, or drop the line",
        ),
        (LONG.with_columns(label=pl.lit(None, pl.String)), LINES, "is empty in every line"),
        (
            WIDE.with_columns(pl.lit(None, pl.String).alias(name) for name in ("ann", "bob")),
            {"label": ["ann", "bob"]},
            "the label columns 'ann', 'bob' are empty in every row",
        ),
        (
            WIDE.with_columns(pl.lit("loan").alias(name) for name in ("ann", "bob")),
            {"label": ["ann", "bob"]},
            "every label in the column 'vote' is 'loan'",
        ),
    ],
)
def test_bad_tables(frame, asked, message):
    with pytest.raises(InputError, match=message):
        audit(frame, binary=COLUMNS, **asked)
