"""A fit that was cut off goes on with the same result."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from noisybayes import BernoulliINB, MultinomialINB
from noisybayes.data.simulate import simulate
from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.dataset.shards import Shards
from noisybayes.estimators import inb_model as base
from noisybayes.robust import fit as robust
from noisybayes.robust import selection
from noisybayes.robust.constants import DEFAULT

DATA = simulate(900, n_features=60, n_classes=3, diagonal=(0.75, 0.85), random_state=1)
X = sparse.csr_array(DATA.X.astype(float))


class CutOffError(Exception):
    pass


def cut_off_after(n_saves, monkeypatch):
    """The process dies after so many states were saved."""
    save, left = Checkpoint.save, [n_saves]

    def save_or_die(self, name, value):
        save(self, name, value)
        left[0] -= self.folder is not None
        if left[0] == 0:
            raise CutOffError

    monkeypatch.setattr(Checkpoint, "save", save_or_die)


@pytest.mark.parametrize("n_saves", [1, 2, 3])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("method", ["crossfit", "em"])
def test_a_fit_that_was_cut_off_goes_on_with_the_same_result(method, stored, n_saves, tmp_path, monkeypatch):
    rows = Shards.write(tmp_path / "rows", [X[:400], X[400:]], 60) if stored else X
    monkeypatch.setattr(base, "DEFAULT", replace(DEFAULT, sample_rows=500))
    monkeypatch.setattr(selection, "_select_rounds", lambda *_: 2)
    whole = MultinomialINB(method=method, random_state=0).fit(rows, DATA.y)
    model = MultinomialINB(method=method, random_state=0, checkpoint=tmp_path / "state")
    with monkeypatch.context() as cut:
        cut_off_after(n_saves, cut)
        with pytest.raises(CutOffError):
            model.fit(rows, DATA.y)
    resumed = model.fit(rows, DATA.y)
    np.testing.assert_array_equal(resumed.mislabel_matrix_, whole.mislabel_matrix_)
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(resumed.objective_history_, whole.objective_history_)
    assert resumed.noise_rate_ == whole.noise_rate_


def test_what_was_done_is_not_done_again(tmp_path, monkeypatch):
    model = MultinomialINB(random_state=0, checkpoint=tmp_path)
    first = model.fit(X, DATA.y).predict_proba(X)
    monkeypatch.setattr(robust, "make_plan", None)
    monkeypatch.setattr(robust, "calibrate_sample", None)
    np.testing.assert_array_equal(model.fit(X, DATA.y).predict_proba(X), first)


@pytest.mark.parametrize("change", [{"random_state": 1}, {"mislabel": "uniform"}])
def test_the_state_of_another_fit_is_refused(change, tmp_path):
    BernoulliINB(random_state=0, checkpoint=tmp_path).fit(X, DATA.y)
    with pytest.raises(ValueError, match="state of another fit; remove it"):
        BernoulliINB(**{"random_state": 0, "checkpoint": tmp_path} | change).fit(X, DATA.y)
    with pytest.raises(ValueError, match="state of another fit"):
        BernoulliINB(random_state=0, checkpoint=tmp_path).fit(X, DATA.true)


def test_a_damaged_state_is_told(tmp_path):
    model = BernoulliINB(random_state=0, checkpoint=tmp_path).fit(X, DATA.y)
    (tmp_path / "plan.pickle").write_bytes(b"\x80")
    with pytest.raises(ValueError, match=r"plan\.pickle is damaged"):
        model.fit(X, DATA.y)
