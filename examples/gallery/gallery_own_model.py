# %% [markdown]
# # Your own model: any scikit-learn classifier with predict_proba

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from noisybayes import MislabelClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(800, 2))
true = (X[:, 0] * X[:, 1] > 0).astype(int)  # a checkerboard, which naive Bayes cannot learn
y = np.where(rng.random(800) < 0.15, 1 - true, true)

# %%
model = MislabelClassifier(RandomForestClassifier(n_estimators=20, min_samples_leaf=5, random_state=0)).fit(X, y)
p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
top = np.argsort(-p_wrong)[: int((y != true).sum())]
print(f"of the {len(top)} most suspicious rows, {np.mean(y[top] != true[top]):.0%} are wrong")
print(f"of all rows {np.mean(y != true):.0%}")

# %%
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
points = ax.scatter(X[:, 0], X[:, 1], c=p_wrong, cmap="coolwarm", s=14, vmin=0, vmax=1, rasterized=True)
ax.set(title="the checkerboard, coloured by P(wrong)", xticks=[], yticks=[])
fig.colorbar(points)
