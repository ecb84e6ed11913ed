"""Unbalanced texts: names, tasks made from small texts and from the real ones, and their section of the page."""

from __future__ import annotations

import time
import urllib.request
from urllib.error import URLError

import numpy as np
import pytest

from benchmarks.commands.quality import _chosen
from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.quality import result_rows as stored
from benchmarks.quality.datasets import DATASETS, GROUPS, NOT_IN_ALL, unbalanced
from benchmarks.quality.page import render_pages
from benchmarks.quality.unbalanced_page import section

from .test_page import ROWS, row
from .test_tasks import check, equal

NAMES = GROUPS["unbalanced"]


def small_texts():
    """Three topics of 400 texts each, a few words per text, and a fourth topic that is never chosen."""
    rng = np.random.default_rng(0)
    topics = np.repeat(["a", "b", "c", "d"], 400)
    texts = [" ".join(rng.choice([f"{topic}{j}" for j in range(9)] + ["and", "the", "of"], 7)) for topic in topics]
    return unbalanced.Texts(texts, topics, ("b", "c", "a"))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(unbalanced, "SOURCES", dict.fromkeys(unbalanced.SOURCES, small_texts))
    monkeypatch.setattr(unbalanced, "N_TRAIN", 300)
    monkeypatch.setattr(unbalanced, "N_TEST", 100)
    forget()
    yield
    forget()


def forget():
    unbalanced._clean.cache_clear()
    unbalanced._hesitation.cache_clear()


def test_the_names_are_systematic_and_one_group_has_them_all():
    assert len(NAMES) == len(set(NAMES)) == 2 * 3 * 3 * 2
    assert {"unbalanced-newsgroups-2c-90-boundary-20", "unbalanced-ag-news-3c-60-majority-10"} <= set(NAMES)
    assert tuple(name for name in DATASETS if name.startswith("unbalanced")) == NAMES


def test_the_group_is_chosen_by_its_name_only(tmp_path):
    chosen, _ = _chosen("unbalanced", "inb", tmp_path)
    assert tuple(chosen) == NAMES
    everything, _ = _chosen("all", "inb", tmp_path)
    assert list(everything) == [name for name in DATASETS if name not in NOT_IN_ALL]


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_is_sound_and_repeats(name, small):
    task = DATASETS[name](0)
    check(task, name)
    assert task.X.shape[0] == 300
    assert equal(task, DATASETS[name](0))
    assert not equal(task, DATASETS[name](1))
    shares = unbalanced.SHARES["-".join(name.split("-")[-4:-2])]
    np.testing.assert_allclose(np.bincount(task.true) / 300, shares, atol=0.05)
    kind, rate = name.split("-")[-2], int(name.split("-")[-1]) / 100
    wrong = task.y != task.true
    if kind == "boundary":
        assert wrong.sum() == 300 * rate
        return
    if kind == "majority":
        assert (task.y[wrong] < task.true[wrong]).all()  # the largest class comes first
        wrong = wrong[task.true > 0]
    assert wrong.mean() == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / len(wrong)))


def test_all_kinds_of_noise_have_the_same_rows(small):
    one, other = (DATASETS[f"unbalanced-ag-news-2c-75-{kind}-20"](0) for kind in ("class", "majority"))
    assert (one.X != other.X).sum() == 0
    np.testing.assert_array_equal(one.true, other.true)
    assert (one.y != other.y).any()


def test_too_few_texts_of_a_class_are_refused():
    labels = np.array(["a"] * 5 + ["b"])
    with pytest.raises(ValueError, match="the class b has 1 texts, but 2 are needed"):
        unbalanced.thin(labels, ("a", "b"), (0.5, 0.5), 4, np.random.default_rng(0))


@pytest.mark.parametrize("source", unbalanced.SOURCES)
@pytest.mark.filterwarnings("ignore:Retry downloading")
def test_the_real_texts_are_enough(source, monkeypatch):
    def no_net(*args, **kwargs):
        raise URLError("tests do not download")

    monkeypatch.setattr(urllib.request, "urlopen", no_net)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    try:
        task = DATASETS[f"unbalanced-{source}-2c-90-class-20"](0)
    except DatasetUnavailableError as error:
        pytest.skip(str(error))
    check(task, f"unbalanced-{source}-2c-90-class-20")
    assert task.X.shape[0] == unbalanced.N_TRAIN
    np.testing.assert_allclose(np.bincount(task.true) / unbalanced.N_TRAIN, (0.9, 0.1), atol=0.02)


def measured(method, dataset, ap, order, p_wrong, seed=0, within=0.5):
    return row(
        method, seed, f"unbalanced-{dataset}", average_precision=ap, average_precision_within=within,
        label_order=order, noise_rate_true=0.2, wrong_by_label="0.02 0.7", p_wrong_by_label=p_wrong,
    )  # fmt: skip


CLASS, BOUNDARY = "newsgroups-2c-90-class-20", "ag-news-2c-90-boundary-20"
MEASURED = [
    measured("inb", CLASS, 0.90, 1.0, "0.01 0.6", within=0.8),
    measured("inb", CLASS, 0.92, 1.0, "0.03 0.8", seed=1, within=0.8),
    measured("cleanlab-lr", CLASS, 0.80, 1.0, "0.1 0.5"),
    measured("cleanlab-multinomial", CLASS, 0.85, 0.0, "0.5 0.1"),
    measured("inb", BOUNDARY, 0.20, 0.0, "0.1 0.02"),
    measured("cleanlab-lr", BOUNDARY, 0.80, 1.0, "0.1 0.5"),
    measured("cleanlab-multinomial", BOUNDARY, 0.60, 1.0, "0.1 0.5"),
    measured("nb-noisy", BOUNDARY, 0.99, 1.0, "0.1 0.5"),  # not one of the three
]


def test_the_section_has_a_line_for_each_data_set_and_means():
    shown = section(MEASURED)
    figures = "0.800 / 0.500 / 0.500 | 2.0 / 70.0 | 2.0 / 70.0 | yes / yes / no |"
    assert f"| {CLASS} | 20.0 | 0.910 | 0.800 | 0.850 | +0.060 | {figures}" in shown
    figures = "0.500 / 0.500 / 0.500 | 2.0 / 70.0 | 10.0 / 2.0 | no / yes / yes |"
    assert f"| {BOUNDARY} | 20.0 | 0.200 | 0.800 | 0.600 | -0.600 | {figures}" in shown
    assert "| **mean, boundary** | **20.0** | **0.200** | **0.800** | **0.600** | **-0.600** |" in shown
    means = "| **mean of all** | **20.0** | **0.555** | **0.800** | **0.725** | **-0.270** |"
    assert f"{means} **0.650 / 0.500 / 0.500** |  |  | **1 / 2 / 1 of 2** |" in shown
    assert "**mean, majority**" not in shown
    assert "`inb` beats both peers on 1 of 2 data sets, and is more than 0.05 behind the better one on 1" in shown
    assert f"on 1: {BOUNDARY} (-0.600). 2 seeds. Repeat with `noisybayes bench quality --datasets unbalanced " in shown
    assert "nb-noisy" not in shown


def test_classifiers_of_the_true_labels_are_named_for_comparison():
    bounds = [
        measured(bound, dataset, ap, order, "0.1 0.5")
        for bound, ap in (("nb-clean", 0.5), ("lr-clean", 0.7))
        for dataset, order in ((CLASS, 1.0), (BOUNDARY, 0.0))
    ]
    shown = section([*MEASURED, *bounds])
    assert f"reach a mean AP of 0.500 and 0.700, on {BOUNDARY} 0.500 and 0.700." in shown
    assert "on this many data sets: class 1 and 1 of 1; boundary 0 and 0 of 1." in shown
    assert "For comparison" not in section([*MEASURED, *bounds[:-1]])


def test_what_was_not_measured_is_a_dash():
    failed = row("cleanlab-lr", 0, f"unbalanced-{CLASS}", error="ValueError: x")
    lone = row("inb", 0, f"unbalanced-{CLASS}", average_precision=0.9)
    shown = section([lone, failed])
    assert f"| {CLASS} | – | 0.900 | – | – | – | – / – / – | – | – | – / – / – |" in shown
    assert "behind the better one on none." in shown
    assert section([failed]) == section([]) == ""


def test_on_the_page_unbalanced_texts_are_in_their_section_only(tmp_path):
    stored.rewrite(tmp_path / "quality.csv", [*ROWS, *MEASURED])
    page = render_pages(tmp_path)["quality.md"]
    assert section(MEASURED) in page
    assert page.count(f"\n| {CLASS} |") == 1
    assert f"unbalanced-{CLASS}" not in page
    assert "Repeat with `noisybayes bench quality --seeds 2 --fresh`.\n" in page
    stored.rewrite(tmp_path / "quality.csv", MEASURED)
    assert section(MEASURED) in render_pages(tmp_path)["quality.md"]
