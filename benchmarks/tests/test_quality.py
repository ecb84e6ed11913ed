"""Data sets, methods, measures: what is stored can be measured again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.commands import bench
from benchmarks.quality import DATASETS, GROUPS, METHODS, Outcome, Task, answer, measure, methods_for
from benchmarks.quality.datasets import EmbeddedTexts, Shape, simulated_texts
from benchmarks.quality.measures import average_precision_within, calibration_error, label_order
from benchmarks.quality.runner import Job, run_job
from noisybayes import simulate

from .data import needs_data, needs_package

ROOT = Path(__file__).parents[2]
SHAPE = Shape((0.5, 0.3, 0.2), n_train=150, n_test=60, n_words=200, mean_length=15.0, topic_share=0.5, noise=0.2)
PEERS = {name: needs_package(name.split("-")[0]) for name in METHODS if name.startswith(("cleanlab", "doubtlab"))}


def small_table() -> Task:
    data = simulate(210, n_features=60, n_classes=3, diagonal=(0.8, 0.8), random_state=0)
    return Task("table", "table", data.X[:150], data.y[:150], data.true[:150], data.X[150:], data.true[150:], 0)


def small_embedded() -> Task:
    table, rng = small_table(), np.random.default_rng(0)

    def embedded(X, labels):
        return EmbeddedTexts([""] * len(X), rng.normal(size=(len(X), 8)) + 2 * np.eye(8)[labels], X.astype(int))

    return table._replace(kind="embedded", X=embedded(table.X, table.true), X_test=embedded(table.X_test, table.y_test))


TASKS = {
    "text": lambda: simulated_texts("small", SHAPE, 0),
    "table": small_table,
    "numbers": lambda: DATASETS["table-wine-class-20"](0),
    "scale": lambda: DATASETS["ordinal-scale-20"](0),
    "embedded": small_embedded,
}
DATASET_OF = {"text": "", "table": "", "numbers": "table-", "scale": "ordinal-", "embedded": "embedded-"}
CASES = [
    pytest.param(kind, method, marks=PEERS.get(method, ()))
    for kind, name in DATASET_OF.items()
    for method in methods_for(name)
    if kind != "scale" or method == "audit-ordinal"  # the others are those for numbers
]


@pytest.mark.parametrize(("kind", "method"), CASES)
@pytest.mark.filterwarnings("ignore")  # some methods do not converge on so few rows
def test_an_answer_is_sound_and_does_better_than_chance(kind, method):
    task = TASKS[kind]()
    y = task.y.copy()
    outcome = answer(method, task)
    n, classes = len(y), set(range(task.n_classes))
    assert outcome.p_wrong.shape == outcome.suggested.shape == outcome.flagged.shape == (n,)
    assert np.isfinite(outcome.p_wrong).all()
    assert outcome.flagged.dtype == bool
    assert set(outcome.suggested) | set(outcome.test_pred) <= classes
    assert outcome.test_pred.shape == task.y_test.shape
    assert 0 <= outcome.noise_rate <= 1
    assert not outcome.calibrated or (outcome.p_wrong.min() >= -1e-9 and outcome.p_wrong.max() <= 1 + 1e-9)
    np.testing.assert_array_equal(task.y, y)
    found = measure(task, outcome)
    assert found["auroc"] > 0.5


#: Cheap rows of each kind whose method is not ours, so that they show whether the data are the same.
STORED = [
    ("simulation-500-0.55", "nb-noisy", ()),
    ("simulation-unbalanced-1000-0.75", "nb-clean", ()),
    ("imbalanced", "nb-noisy", ()),
    ("table-wine-boundary-20", "cleanlab-linear", needs_package("cleanlab")),
    ("table-curved-2c-class-40", "cleanlab-linear", needs_package("cleanlab")),
    ("ordinal-class-20", "cleanlab-linear", needs_package("cleanlab")),
    ("ordinal-scale-40", "cleanlab-linear", needs_package("cleanlab")),
    ("livestream", "nb-noisy", needs_data),
    ("noisy-ag-news", "nb-noisy", needs_data),
    ("unbalanced-ag-news-2c-90-majority-10", "nb-clean", needs_data),
]


@pytest.mark.parametrize(
    ("dataset", "method"), [pytest.param(name, method, marks=marks) for name, method, marks in STORED]
)
def test_a_stored_row_repeats(dataset, method):
    rows = pd.read_csv(ROOT / "results" / "quality.csv")
    stored = rows[(rows.dataset == dataset) & (rows.method == method)].iloc[0]
    seed = int(stored.seed)
    again = run_job(Job(dataset, seed, method), DATASETS[dataset](seed))
    for name in ("n_train", "n_classes", "average_precision", "corrected_accuracy", "test_accuracy", "noise_rate_true"):
        assert again[name] == pytest.approx(stored[name], rel=1e-3), name


def test_all_stored_rows_are_of_known_data_sets_and_methods():
    rows = pd.read_csv(ROOT / "results" / "quality.csv", usecols=["dataset", "seed", "method"])
    assert not rows.duplicated().any()
    assert set(rows.dataset) == set(DATASETS)
    assert set(rows.method) == set(METHODS)
    for (dataset, method), _ in rows.groupby(["dataset", "method"]):
        assert method in methods_for(dataset)


def test_a_seed_is_another_draw_and_kinds_of_noise_share_their_rows():
    one, other = (DATASETS[f"table-wine-{noise}-20"](0) for noise in ("class", "boundary"))
    np.testing.assert_array_equal(one.X, other.X)
    assert not np.array_equal(one.y, other.y)
    assert not np.array_equal(one.X, DATASETS["table-wine-class-20"](1).X)
    assert abs((other.y != other.true).mean() - 0.2) < 0.01
    assert sum(map(len, GROUPS.values())) == len(DATASETS) == 121


X = np.zeros((5, 1))
TASK = Task(
    "hand", "table", X, np.array([0, 0, 0, 1, 1]), np.array([1, 0, 1, 1, 1]), X[:4], np.array([0, 1, 1, 0]), 0
)  # rows 0 and 2 are wrong
OUTCOME = Outcome(
    p_wrong=np.array([0.9, 0.8, 0.7, 0.2, 0.1]),
    flagged=np.array([True, True, False, False, False]),
    suggested=np.array([1, 1, 1, 0, 1]),
    corrected=np.array([1, 0, 0, 1, 1]),
    noise_rate=0.54,
    test_pred=np.array([0, 1, 1, 1]),
    calibrated=True,
)


def test_measures_by_hand():
    assert measure(TASK, OUTCOME) == pytest.approx(
        {
            "average_precision": (1 / 1 + 2 / 3) / 2,
            "auroc": 5 / 6,
            "f1_flagged": 2 * 1 / (2 + 2),
            "precision_at_errors": 1 / 2,
            "corrected_accuracy": 3 / 5,  # row 0 put right, row 1 put wrong, row 2 left wrong
            "given_accuracy": 3 / 5,
            "gain": 1 / 5,  # row 0 put right
            "test_accuracy": 3 / 4,
            "calibration_error": (0.1 + 0.8 + 0.3 + 0.2 + 0.1) / 5,
            "noise_rate_estimated": 0.54,
            "noise_rate_true": 2 / 5,
            "flagged_share": 2 / 5,
            "average_precision_within": (1 / 1 + 2 / 3) / 2,  # of label 0; label 1 is never wrong
            "label_order": 1.0,
        }
    )


def test_measures_that_do_not_apply_are_nan():
    found = measure(TASK._replace(true=TASK.y), OUTCOME._replace(calibrated=False))
    absent = {name for name, value in found.items() if np.isnan(value)}
    finding = {"average_precision", "auroc", "f1_flagged", "precision_at_errors", "calibration_error"}
    assert absent == finding | {"average_precision_within", "label_order"}
    with pytest.raises(ValueError, match="hand: measures need the true labels"):
        measure(TASK.without_truth(), OUTCOME)
    with pytest.raises(ValueError, match="a bound needs the true labels"):
        METHODS["nb-clean"](TASK.without_truth())


def test_calibration_is_judged_bin_by_bin():
    wrong = np.array([True, False, True, False])
    assert calibration_error(wrong, np.array([0.51, 0.49, 0.51, 0.49])) == pytest.approx(0.49)
    assert calibration_error(wrong, np.array([0.5, 0.5, 0.5, 0.5])) == pytest.approx(0.0)
    assert calibration_error(wrong, np.array([1.0, 0.0, 1.0, 0.0])) == 0


def test_measures_label_by_label():
    # 200 rows of label 0, of which 2 are wrong; 20 of label 2, of which 10 are; label 1 is never given
    y = np.repeat([0, 2], [200, 20])
    wrong = np.concatenate([np.arange(200) < 2, np.arange(20) < 10])
    ranked = np.concatenate([np.linspace(1.0, 0.9, 200), np.linspace(0.1, 0.0, 20)])
    assert average_precision_within(y, wrong, ranked) == 1.0  # though the labels as a whole are in the wrong order
    assert label_order(y, wrong, np.where(y == 2, 0.3, 0.02)) == 1.0
    assert label_order(y, wrong, np.where(y == 2, 0.01, 0.02)) == 0.0
    assert label_order(y, wrong, np.full(220, 0.1)) == 0.0  # equal suspicion is not a higher one
    y, wrong = np.repeat([0, 1], 100), np.concatenate([np.arange(100) < count for count in (20, 25)])
    assert np.isnan(label_order(y, wrong, np.repeat([0.3, 0.2], 100)))  # wrong about equally often


def test_the_command_continues_and_measures_again(tmp_path):
    def quality(*more):
        names = ["--datasets", "simulation-500-0.55,simulation-500-1.00", "--methods", "nb-noisy,nb-clean"]
        result = CliRunner().invoke(bench, ["quality", *names, "--root", str(tmp_path), *more])
        assert result.exit_code == 0, result.output
        return result.output

    assert "4 of 4 runs are left to do" in quality("--seeds", "1", "--jobs", "2")
    first = (tmp_path / "results" / "quality.csv").read_text(encoding="utf-8")
    assert "0 of 4 runs are left to do" in quality("--seeds", "1")
    assert (tmp_path / "results" / "quality.csv").read_text(encoding="utf-8") == first
    assert "4 of 8 runs are left to do" in quality("--seeds", "2")
    assert "4 of 4 runs are left to do" in quality("--seeds", "1", "--fresh")
    rows = pd.read_csv(tmp_path / "results" / "quality.csv")
    assert len(rows) == 8
    assert set(rows.at_once) == {1}
    assert "`nb-noisy`" in (tmp_path / "docs" / "quality.md").read_text(encoding="utf-8")


def test_a_name_that_is_not_offered_is_refused():
    result = CliRunner().invoke(bench, ["quality", "--datasets", "newsgroup"])
    assert result.exit_code == 2
    assert "there is no 'newsgroup'; choose from all, simulation, newsgroups" in result.output
