# %% [markdown]
# # Numbers: a table of measurements with 20 % wrong labels

# %%
import matplotlib.pyplot as plt
import numpy as np

from noisybayes import GaussianINB

rng = np.random.default_rng(0)
true = rng.integers(3, size=900)
X = rng.normal(2.0 * np.eye(3, 6)[true], 1.0)
y = np.where(rng.random(900) < 0.2, (true + 1) % 3, true)

# %% [markdown]
# Each class is mistaken for the next one, and the fit detects this. The mislabeling matrix is `[observed, true]`:

# %%
model = GaussianINB().fit(X, y)
print(model.mislabel_matrix_.round(2))
suggested = model.true_proba_.argmax(axis=1)
print(f"right labels: {np.mean(y == true):.0%} before, {np.mean(suggested == true):.0%} after taking every suggestion")

# %%
fig, ax = plt.subplots(figsize=(4, 3.2), layout="constrained")
image = ax.imshow(model.mislabel_matrix_, vmin=0, vmax=1, cmap="Oranges")
for (observed, of), share in np.ndenumerate(model.mislabel_matrix_):
    ax.text(of, observed, f"{share:.2f}", ha="center", va="center")
ax.set(xlabel="true label", ylabel="observed label", xticks=range(3), yticks=range(3))
fig.colorbar(image, label="P(observed | true)")
