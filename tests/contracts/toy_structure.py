"""A structure that the package does not have: the example of CONTRIBUTING.md."""

import numpy as np

from noisybayes.dataset.tree import Array
from noisybayes.model.mislabel import Estimated


class OwnRates(Estimated):
    """Each class has its own share of correct labels; its wrong labels are spread evenly."""

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        n_classes, total = counts.shape[-1], counts.sum(axis=-2)
        # a class without rows says nothing about its labels
        right = np.where(total > 0, np.einsum("...kk->...k", counts) / np.where(total > 0, total, 1.0), 1.0)
        wrong = (1.0 - right) / max(n_classes - 1, 1)
        own = np.eye(n_classes)
        return np.asarray(own * right[..., None, :] + (1.0 - own) * wrong[..., None, :])
