# %% [markdown]
# # Numbers: a table of measurements with 20 % wrong labels

# %%
import numpy as np

from noisybayes import GaussianINB

rng = np.random.default_rng(0)
true = rng.integers(3, size=900)
X = rng.normal(2.0 * np.eye(3, 6)[true], 1.0)
y = np.where(rng.random(900) < 0.2, (true + 1) % 3, true)

# %% [markdown]
# The mislabeling matrix, `[observed, true]`: each class is mistaken for the next one.

# %%
model = GaussianINB().fit(X, y)
print(model.mislabel_matrix_.round(2))
suggested = model.true_proba_.argmax(axis=1)
print(f"right labels: {np.mean(y == true):.0%} before, {np.mean(suggested == true):.0%} after taking every suggestion")
