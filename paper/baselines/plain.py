"""A plain network that takes all labels as right: the reference for the noise layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .base import About
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner


class PlainNetwork(NetworkClassifier):
    """A small neural network that takes every label as right.

    Only early stopping and dropout keep it from memorising wrong labels. NLNN and NAL start from this network.

    Parameters
    ----------
    hidden_layer_sizes : int or tuple of int, default (100,)
        Sizes of the ReLU layers. One layer of 100, as in scikit-learn's MLPClassifier: tables and bags of words have no
        structure to find layer by layer. The papers of NLNN and NAL use (500, 300) for images of digits.
    dropout : float, default 0.5
        Share of hidden units dropped at random in training.
    learning_rate : float, default 1e-3
        Learning rate of Adam.
    batch_size : int, default 64
        Rows per step. Sparse rows become dense a batch at a time.
    max_epochs : int, default 200
        Maximum number of passes over the rows.
    patience : int, default 10
        Training ends when the loss on held-out rows has not decreased for this many epochs; the best epoch counts.
    validation_fraction : float, default 0.1
        Share of held-out rows. They are evaluated with their given labels, including wrong ones: nothing here ever sees
        a true label that is not passed as `verified`.
    random_state : int or generator, optional
        None is 0. The same seed gives the same fit, however many cores there are; no global state is touched.

    Dropout, Adam and the held-out tenth are as in the code of NAL's authors. Their batches of 256, patience of 4 and
    40 epochs are for 60,000 rows; with a thousand rows that would end training after a dozen steps.

    Features are centred, which is only a better initialisation of the same network. They are not scaled: columns in
    different units should be, for instance by StandardScaler or MaxAbsScaler.

    Attributes
    ----------
    classes_ : labels, sorted
    mislabel_matrix_ : (K, K) [observed, true], columns sum to 1; here the identity, which is what it assumes
    n_iter_ : epochs;  n_epochs_ : the same
    n_parameters_ : fitted numbers
    """

    about = About("", "a small neural network that takes every label as right", "nothing", networks=1)

    def _learn(self, learner: Learner) -> None:
        self.n_iter_ = learner.believe_labels()
        self.mislabel_matrix_ = np.eye(len(self.classes_))
