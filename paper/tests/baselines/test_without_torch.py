"""Without torch: importing works, fitting says what to install, and wrong arguments are named before that."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from noisybayes._extras import MissingExtraError
from paper.baselines import BASELINES, NAL, NLNN, PlainNetwork

X = np.random.default_rng(0).random((20, 3))
Y = np.arange(20) % 2


def test_importing_and_constructing_take_no_torch():
    code = (
        "import sys; from paper.baselines import BASELINES; "
        "[make() for make in BASELINES.values()]; print('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


class NoTorch:
    """As if torch were not installed. (None in sys.modules would confuse scipy, which looks for torch there.)"""

    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoTorch(), *sys.meta_path])


@pytest.mark.parametrize("name", [name for name, make in BASELINES.items() if not make().needs_torch])
def test_the_others_need_no_torch(name, no_torch):
    assert BASELINES[name]().fit(X, Y).predict(X).shape == (20,)


@pytest.mark.parametrize("name", [name for name, make in BASELINES.items() if make().needs_torch])
def test_fitting_without_torch_says_what_to_install(name, no_torch):
    model = BASELINES[name]()
    message = rf"{type(model).__name__} needs torch: pip install 'noisybayes\[neural\]'"
    with pytest.raises(MissingExtraError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            PlainNetwork(hidden_layer_sizes=()),
            r"hidden_layer_sizes must name at least one layer, such as (100,), got ()",
        ),
        (PlainNetwork(hidden_layer_sizes=(10, 0)), "hidden_layer_sizes must be a whole number of at least 1, got 0"),
        (PlainNetwork(dropout=1.0), "dropout must be a number from 0 to 0.95, got 1.0"),
        (PlainNetwork(batch_size=0.5), "batch_size must be a whole number of at least 1, got 0.5"),
        (PlainNetwork(validation_fraction=0), "validation_fraction must be a number from 0.01 to 0.5, got 0"),
        (PlainNetwork(random_state="x"), "random_state must be a whole number of at least 0 or a generator, got 'x'"),
        (NLNN(max_rounds=0), "max_rounds must be a whole number of at least 1, got 0"),
        (NLNN(tol=-1), "tol must be a number from 0 to inf, got -1"),
        (NAL(variant="deep"), "variant must be one of 'simple', 'complex', got 'deep'"),
    ],
)
def test_bad_arguments_are_named(model, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.fit(X, Y)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("verified", "message"),
    [
        (np.zeros(3), r"verified has the shape (3,) but X has 20 rows; give one entry per row"),
        ([None] * 19 + [7], "verified contains 7, which is not among the labels in y: [0, 1]"),
    ],
)
def test_bad_verified_labels_are_named(verified, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        PlainNetwork().fit(X, Y, verified=verified)
    assert str(error.value) == message
