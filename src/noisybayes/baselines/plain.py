"""The network that believes all labels: what the noise layers are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .base import About
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner


class PlainNetwork(NetworkClassifier):
    """A small neural network that takes every label for right.

    Only early stopping and dropout keep it from memorising wrong labels. NLNN and NAL start from this network.

    Parameters
    ----------
    hidden_layer_sizes : int or tuple of int, default (100,)
        ReLU layers. One of 100, as in scikit-learn's MLPClassifier: tables and bags of words have no shapes to find
        layer by layer. The papers of NLNN and NAL use (500, 300) for pictures of digits.
    dropout : float, default 0.5
        Share of hidden units that are dropped at random in training.
    learning_rate : float, default 1e-3
        Of Adam.
    batch_size : int, default 64
        Rows per step. Sparse rows become dense a batch at a time.
    max_epochs : int, default 200
        Passes over the rows, at most.
    patience : int, default 10
        Training ends when the loss on rows kept aside has not fallen for so many epochs; the best epoch counts.
    validation_fraction : float, default 0.1
        Share of rows kept aside. They are judged by their labels as given, wrong ones among them: nothing here ever
        sees a true label that is not passed as `verified`.
    random_state : int or generator, optional
        None is 0. The same seed gives the same fit, however many cores there are; no global state is touched.

    Dropout, Adam and the tenth kept aside are as in the code of NAL's authors. Their batches of 256, patience of 4 and
    40 epochs are for 60,000 rows; with a thousand rows that would end training after a dozen steps.

    Features are centred, which is only a better start for the same network. They are not scaled: columns in unlike
    units should be, for instance by StandardScaler or MaxAbsScaler.

    Attributes
    ----------
    classes_ : labels, sorted
    mislabel_matrix_ : (K, K) [observed, true], columns sum to 1; here the identity, which is what it assumes
    n_iter_ : epochs;  n_epochs_ : the same
    n_parameters_ : fitted numbers
    """

    about = About("", "a small neural network that takes every label for right", "nothing", networks=1)

    def _learn(self, learner: Learner) -> None:
        self.n_iter_ = learner.believe_labels()
        self.mislabel_matrix_ = np.eye(len(self.classes_))
