"""Anderson acceleration: reaches a fixed point in fewer rounds than plain iteration.

The next point is the combination of the last points x and their images g(x) for which the residuals g(x) - x nearly
cancel. If the map is close to linear, as it is near its fixed point, this is the limit of the iteration.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..dataset.tree import Array

# Older steps come from where the map is still nonlinear.
_MEMORY = 5
# Differences that are nearly equal are redundant.
_MIN_SINGULAR_VALUE = 1e-8


class Anderson:
    def __init__(self) -> None:
        self._residuals: deque[Array] = deque(maxlen=_MEMORY + 1)
        self._images: deque[Array] = deque(maxlen=_MEMORY + 1)

    def reset(self) -> None:
        self._residuals.clear()
        self._images.clear()

    def next(self, point: Array, image: Array) -> Array:
        """The next point, after `point` (p,) was mapped to `image`."""
        self._residuals.append(image - point)
        self._images.append(image)
        if len(self._images) == 1:
            return image
        residuals, images = (np.diff(np.array(values), axis=0).T for values in (self._residuals, self._images))
        coefficients = np.linalg.lstsq(residuals, self._residuals[-1], rcond=_MIN_SINGULAR_VALUE)[0]
        return np.asarray(image - images @ coefficients)
