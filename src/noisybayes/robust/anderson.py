"""Anderson acceleration: a fixed point in fewer rounds than by going round and round.

Of the last points x and where they led, g(x), that combination is taken for which the residuals g(x) - x nearly cancel.
Where the map is close to linear, as it is near its fixed point, that is where it would end.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..dataset.tree import Array

# Older steps come from where the map is still curved.
_MEMORY = 5
# Differences that are nearly the same say the same.
_LEAST_SINGULAR = 1e-8


class Anderson:
    def __init__(self) -> None:
        self._residuals: deque[Array] = deque(maxlen=_MEMORY + 1)
        self._images: deque[Array] = deque(maxlen=_MEMORY + 1)

    def forget(self) -> None:
        self._residuals.clear()
        self._images.clear()

    def next(self, point: Array, image: Array) -> Array:
        """Where to go on from, after `point` (p,) led to `image`."""
        self._residuals.append(image - point)
        self._images.append(image)
        if len(self._images) == 1:
            return image
        residuals, images = (np.diff(np.array(values), axis=0).T for values in (self._residuals, self._images))
        shares = np.linalg.lstsq(residuals, self._residuals[-1], rcond=_LEAST_SINGULAR)[0]
        return np.asarray(image - images @ shares)
