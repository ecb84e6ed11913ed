"""One model per feature family, and one for tables that mix them. For the parameters see the classes in `inb`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..old_model.families import Bernoulli, Family, Gaussian, Mixed, Multinomial
from .blocks import mixed_family
from .inb_model import INBModel


class BernoulliModel(INBModel):
    _estimator_name = "BernoulliINB"

    def __init__(
        self,
        *,
        method: str = "crossfit",
        alpha: float | str = "auto",
        binarize: float | None = 0.0,
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        start: str = "labels",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-5,
        missing_label: Any = None,
        compress: bool | str = "auto",
        engine: Any = "local",
        n_jobs: int = -1,
        progress: Any = None,
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            method=method,
            alpha=alpha,
            mislabel=mislabel,
            mislabel_prior=mislabel_prior,
            class_prior=class_prior,
            start=start,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            missing_label=missing_label,
            compress=compress,
            engine=engine,
            n_jobs=n_jobs,
            progress=progress,
            checkpoint=checkpoint,
            random_state=random_state,
        )
        self.binarize = binarize

    def _make_family(self, X: Any) -> Family:
        return Bernoulli(self.binarize)

    def _publish_features(self, params: Any) -> None:
        self.feature_prob_ = np.exp(params.log_p)


class MultinomialModel(INBModel):
    _estimator_name = "MultinomialINB"

    def _make_family(self, X: Any) -> Family:
        return Multinomial()

    def _publish_features(self, params: Any) -> None:
        self.feature_prob_ = np.exp(params)


class GaussianModel(INBModel):
    _estimator_name = "GaussianINB"

    def _make_family(self, X: Any) -> Family:
        return Gaussian()

    def _publish_features(self, params: Any) -> None:
        family = self._model.family
        assert isinstance(family, Gaussian)
        self.theta_ = family.centre + params.mean
        self.var_ = params.var


class MixedModel(INBModel):
    _estimator_name = "MixedINB"

    def __init__(
        self,
        blocks: Any = "auto",
        *,
        method: str = "crossfit",
        alpha: float | str = "auto",
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        start: str = "labels",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-5,
        missing_label: Any = None,
        compress: bool | str = "auto",
        engine: Any = "local",
        n_jobs: int = -1,
        progress: Any = None,
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            method=method,
            alpha=alpha,
            mislabel=mislabel,
            mislabel_prior=mislabel_prior,
            class_prior=class_prior,
            start=start,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            missing_label=missing_label,
            compress=compress,
            engine=engine,
            n_jobs=n_jobs,
            progress=progress,
            checkpoint=checkpoint,
            random_state=random_state,
        )
        self.blocks = blocks

    def _make_family(self, X: Any) -> Family:
        return mixed_family(self.blocks, X, getattr(self, "feature_names_in_", None))

    def _publish_features(self, params: Any) -> None:
        family = self._model.family
        assert isinstance(family, Mixed)
        self.blocks_ = list(zip(family.families, family.columns, strict=True))


#: By the name of the scikit-learn class around each.
MODELS: dict[str, type[INBModel]] = {
    cls._estimator_name: cls for cls in (BernoulliModel, MultinomialModel, GaussianModel, MixedModel)
}
