"""Files of other classifiers without pickle: skops, as is common with scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .._extras import require
from .._files import whole_file
from ..data.errors import InputError
from ..robust.calibration import Calibration
from ..robust.recalibration import Recalibration

_FORMAT = 1
#: Fitted attributes that are stored as they are.
_FITTED = (
    "classes_", "class_prior_", "mislabel_matrix_", "n_features_in_", "estimator_", "noise_rate_", "review_count_",
    "drift_", "em_steps_", "event_model_", "objective_history_", "n_iter_", "converged_",
)  # fmt: skip


def save_by_skops(model: Any, path: str | Path) -> None:
    """Write the file atomically."""
    skops = require("skops.io", extra="skops", purpose="saving a MislabelClassifier")
    document = {
        "format": _FORMAT,
        "model": type(model).__name__,
        "params": model.get_params(deep=False),
        "fitted": {name: getattr(model, name) for name in _FITTED if hasattr(model, name)},
        "names": getattr(model, "feature_names_in_", None),
        "label_matrix": model._label_matrix,
        "calibration": dict(model._calibration._asdict()),
        "recalibration": [float(number) for number in model._recalibration],
    }
    with whole_file(Path(path)) as temporary:
        temporary.write_bytes(skops.dumps(document))


def load_by_skops(cls: Any, path: str | Path, trusted: Sequence[str]) -> Any:
    from .any_classifier import ClassifierSource

    skops = require("skops.io", extra="skops", purpose="reading a MislabelClassifier")
    try:
        unknown = sorted(set(skops.get_untrusted_types(file=path)) - set(trusted))
        if unknown:
            raise InputError(
                f"{path} contains types that may run code when they are read: {', '.join(unknown)}; if you trust the "
                f"file, pass trusted={unknown}"
            )
        document = skops.load(path, trusted=list(trusted))
        if document["format"] != _FORMAT or document["model"] != cls.__name__:
            raise ValueError("other kind")
        model = cls(**document["params"])
        for name in _FITTED:
            if name in document["fitted"]:
                setattr(model, name, document["fitted"][name])
        if document["names"] is not None:
            model.feature_names_in_ = document["names"]
        K = len(model.classes_)
        model._label_matrix = np.asarray(document["label_matrix"]).reshape(K, K)
        model._calibration = Calibration(**document["calibration"])
        model._recalibration = Recalibration(*document["recalibration"])
        model._source = ClassifierSource(model.estimator_, K, 1, 0)
    except InputError:
        raise
    except (BadZipFile, KeyError, TypeError, ValueError, AttributeError, EOFError) as error:
        raise InputError(f"{path} is not a complete MislabelClassifier ({error}); save the model again") from error
    return model
