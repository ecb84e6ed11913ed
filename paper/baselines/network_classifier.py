"""Base class of all networks as scikit-learn classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from noisybayes._extras import require

from .base import Baseline
from .inputs import Array, RandomState, Rows, checked

if TYPE_CHECKING:
    from .network import Learner, Network


class NetworkClassifier(Baseline):
    """Predicts with the network alone. Subclasses implement its training."""

    needs_torch: ClassVar[bool] = True
    n_iter_: int
    n_epochs_: int
    network_: Network

    def __init__(
        self,
        *,
        hidden_layer_sizes: int | tuple[int, ...] = (100,),
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 10,
        validation_fraction: float = 0.1,
        random_state: RandomState = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _learn_rows(self, rows: Rows) -> None:
        settings = checked(self)
        require("torch", extra="neural", purpose=type(self).__name__)
        from .network import Learner, one_thread

        with one_thread():
            learner = Learner(rows, len(self.classes_), settings)
            self.n_parameters_ = learner.network.n_parameters
            self._learn(learner)
        self.network_ = learner.network
        self.n_epochs_ = learner.n_epochs

    def _learn(self, learner: Learner) -> None:
        """Train learner.network to predict the true label, set n_iter_, and add other parameters to n_parameters_."""
        raise NotImplementedError

    def _proba(self, X: Any) -> Array:
        return self.network_.predict_proba(X)
