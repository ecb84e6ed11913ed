"""The strength of a pooled prior by marginal likelihood."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.model.families.base import STRENGTH_BOUNDS, best_strength


def test_a_slope_that_changes_sign_at_a_bound_has_a_root():
    """Of a few dozen rows the slope at the upper bound is often nothing but rounding."""
    for bound in STRENGTH_BOUNDS:
        for near in (np.nextafter(bound, 0), bound, np.nextafter(bound, np.inf)):
            strength = best_strength(lambda s, near=near: -1.0 if s >= near else 1.0)
            assert strength == pytest.approx(bound)
