"""How the maximum of a calibration moves under other row weights: one Newton step from the fit.

The observed log-likelihood, in temperatures and offsets a and logarithms m of the matrix (whose columns sum to 1):

    l_i = log sum_k exp(m[y_i, k] + z_ik) - log sum_k exp(z_ik),   z_i = J_i a,   J_i = [scores, identity]

With p and q the prior and posterior of a row and V(r) = diag(r) - r r', minus its Hessian has the corner
sum J'(V(p) - V(q))J + 2 penalty, for each label l the block sum q q' + pseudo-rows (which includes the
curvature of the constraints), and between the two -sum V(q) J. The blocks are eliminated one by one, so that K labels
need K small systems rather than one with K^2 unknowns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset.tree import Array
from ..robust.calibration import Calibration, Labels, label_counts, posterior

# Share of the weight added so that a class without rows does not make the Hessian singular.
_RIDGE = 1e-9


class Curvature(NamedTuple):
    """Minus the Hessian at the fit."""

    corner: Array  # (P, P), P = B + K
    blocks: Array  # (K, K, K): block of each label
    cross: Array  # (K, P, K): between the corner and each label
    matrix: Array  # (K, K) of the fit: coefficients of the constraints


class Gradient(NamedTuple):
    corner: Array  # (R, P)
    counts: Array  # (R, K, K): posterior weight by observed and true label

    def with_priors(self, calibration: Calibration, penalty: float, weight: Array, pseudo: Array) -> Gradient:
        """The gradient of the penalised likelihood. weight : (R,) of all rows. pseudo : (K, K) pseudo-rows"""
        corner = self.corner.copy()
        K = calibration.offset.shape[1]
        corner[:, -K:] -= 2 * penalty * weight[:, None] * calibration.offset
        return Gradient(corner, self.counts + pseudo)


def curvature(calibration: Calibration, scores: Array, labels: Labels, penalty: float, pseudo: Array) -> Curvature:
    """Curvature of one replicate with scores (B, n, 1, K). pseudo : (K, K) pseudo-rows by label and class"""
    B, _, _, K = scores.shape
    post = posterior(calibration, scores, labels)
    p, q, weight = post.prior[:, 0], post.true[:, 0], labels.weight[:, 0]
    s = scores[:, :, 0]  # (B, n, K)
    corner = np.zeros((B + K, B + K))
    for sign, r in ((1.0, p), (-1.0, q)):
        rw = r * weight[:, None]
        means = np.stack([(r * block).sum(axis=1) for block in s])  # (B, n)
        corner[B:, B:] += sign * (np.diag(rw.sum(axis=0)) - rw.T @ r)
        for b in range(B):
            corner[b, B:] += sign * (rw * (s[b] - means[b][:, None])).sum(axis=0)
            for c in range(B):
                corner[b, c] += sign * (weight @ ((r * s[b] * s[c]).sum(axis=1) - means[b] * means[c]))
    corner[B:, :B] = corner[:B, B:].T
    corner[B:, B:] += 2 * penalty * weight.sum() * np.eye(K)
    corner += _RIDGE * weight.sum() * np.eye(B + K)
    blocks, cross = np.zeros((K, K, K)), np.zeros((K, B + K, K))
    for label in range(K):
        with_label = np.flatnonzero(labels.observed == label)
        q_label, w_label = q[with_label], weight[with_label]
        qw = q_label * w_label[:, None]
        blocks[label] = qw.T @ q_label + np.diag(pseudo[label] + _RIDGE)
        variance = np.diag(qw.sum(axis=0)) - qw.T @ q_label
        cross[label, B:] = -variance
        for b in range(B):
            mean = (q_label * s[b][with_label]).sum(axis=1)
            cross[label, b] = -(qw * (s[b][with_label] - mean[:, None])).sum(axis=0)
    return Curvature(corner, blocks, cross, calibration.mislabel[0])


def gradient(calibration: Calibration, scores: Array, labels: Labels) -> Gradient:
    """Gradients of R replicates with separate scores (B, n, R, K), weights (n, R) and calibrations; sums over rows."""
    post = posterior(calibration, scores, labels)
    weight = np.broadcast_to(labels.weight, post.log_likelihood.shape)
    gap = (post.true - post.prior) * weight[:, :, None]
    by_score = np.stack([(gap * block).sum(axis=(0, 2)) for block in scores], axis=1)
    return Gradient(np.concatenate([by_score, gap.sum(axis=0)], axis=1), label_counts(post.true, labels))


def gradient_by_weights(calibration: Calibration, scores: Array, labels: Labels, weight: Array) -> Gradient:
    """The same for one set of scores (B, n, 1, K), one calibration and R weights per row (n, R)."""
    post = posterior(calibration, scores, labels)
    gap, true = (post.true - post.prior)[:, 0], post.true[:, 0]
    by_score = np.column_stack([(gap * block[:, 0]).sum(axis=1) for block in scores])
    K = true.shape[1]
    counts = np.empty((weight.shape[1], K, K))
    for label in range(K):
        with_label = np.flatnonzero(labels.observed == label)
        counts[:, label] = weight[with_label].T @ true[with_label]
    return Gradient(weight.T @ np.column_stack([by_score, gap]), counts)


def step(curve: Curvature, slope: Gradient) -> tuple[Array, Array]:
    """Newton steps of the corner (R, P), and of the logarithms of the matrix (R, K, K), with columns that sum to 1."""
    P, K = len(curve.corner), len(curve.matrix)
    # the multipliers of the constraints absorb the column weights; only the rest is slope
    total = slope.counts.sum(axis=1, keepdims=True)
    by_label = slope.counts - total * curve.matrix  # (R, K, K)
    inverse = np.linalg.inv(curve.blocks)  # (K, K, K)
    cross_inverse = curve.cross @ inverse  # (K, P, K)
    scaled = curve.matrix[:, :, None] * inverse  # C_l D_l^-1
    system = np.zeros((P + K, P + K))
    system[:P, :P] = curve.corner - np.einsum("lpk,lqk->pq", cross_inverse, curve.cross)
    system[:P, P:] = -np.einsum("lpk,lk->pk", cross_inverse, curve.matrix)
    system[P:, :P] = system[:P, P:].T
    system[P:, P:] = -np.einsum("lkj,lj->kj", scaled, curve.matrix)
    rhs = np.concatenate(
        [
            slope.corner - np.einsum("lpk,rlk->rp", cross_inverse, by_label),
            -np.einsum("lkj,rlj->rk", scaled, by_label),
        ],
        axis=1,
    )
    solved = np.linalg.lstsq(system, rhs.T, rcond=1e-12)[0].T
    corner, multipliers = solved[:, :P], solved[:, P:]
    residual = by_label - np.einsum("lpk,rp->rlk", curve.cross, corner) - curve.matrix * multipliers[:, None, :]
    return corner, np.einsum("lkj,rlj->rlk", inverse, residual)
