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

DATA = simulate(600, n_features=60, n_classes=3, diagonal=(0.75, 0.85), random_state=1)
X = sparse.csr_array(DATA.X.astype(float))


def cut_off_after(n_saves, monkeypatch):
    """The process dies after so many states were saved."""
    save, left = Checkpoint.save, [n_saves]

    def save_or_die(self, name, value):
        save(self, name, value)
        left[0] -= self.folder is not None
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", save_or_die)


@pytest.mark.parametrize(("method", "stored", "n_saves"), [("crossfit", 0, 1), ("crossfit", 1, 3), ("em", 1, 2)])
def test_a_fit_that_was_cut_off_goes_on_with_the_same_result(method, stored, n_saves, tmp_path, monkeypatch):
    rows = Shards.write(tmp_path / "rows", [X[:300], X[300:]], 60) if stored else X
    monkeypatch.setattr(base, "DEFAULT", replace(DEFAULT, sample_rows=300))
    monkeypatch.setattr(selection, "_select_rounds", lambda *_: 2)
    whole = MultinomialINB(method=method, random_state=0).fit(rows, DATA.y)
    model = MultinomialINB(method=method, random_state=0, checkpoint=tmp_path / "state")
    with monkeypatch.context() as cut:
        cut_off_after(n_saves, cut)
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows, DATA.y)
    resumed = model.fit(rows, DATA.y)
    np.testing.assert_array_equal(resumed.mislabel_matrix_, whole.mislabel_matrix_)
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(resumed.objective_history_, whole.objective_history_)
    assert resumed.noise_rate_ == whole.noise_rate_
    monkeypatch.setattr(robust, "make_plan", None)  # what was done is not done again
    monkeypatch.setattr(robust, "calibrate_sample", None)
    np.testing.assert_array_equal(model.fit(rows, DATA.y).predict_proba(X), whole.predict_proba(X))


def test_the_state_of_another_fit_and_a_damaged_one_are_refused(tmp_path):
    model = BernoulliINB(random_state=0, checkpoint=tmp_path).fit(X, DATA.y)
    with pytest.raises(ValueError, match="state of another fit; remove it"):
        BernoulliINB(random_state=0, checkpoint=tmp_path, mislabel="uniform").fit(X, DATA.y)
    with pytest.raises(ValueError, match="state of another fit"):
        model.fit(X, DATA.true)
    (tmp_path / "plan.pickle").write_bytes(b"\x80")
    with pytest.raises(ValueError, match=r"plan\.pickle is damaged"):
        model.fit(X, DATA.y)
