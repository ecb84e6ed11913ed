# %% [markdown]
# # Two columns of labels: people and rules
#
# A second column of labels is one more labeler, with its own mistakes. Where the two disagree, the other
# columns decide which label is more probable.

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import noisybayes

data = noisybayes.simulate(1_000, n_features=60, n_classes=3, diagonal=(0.8, 0.85), random_state=0)
rng = np.random.default_rng(0)
names = np.array(["loan", "price", "repair"])
rules = np.where(rng.random(1_000) < 0.25, names[rng.integers(3, size=1_000)], names[data.true])
columns = [f"x{j}" for j in range(60)]
table = pl.DataFrame(data.X.astype(int), schema=columns)
table = table.with_columns(label=pl.Series(names[data.y]), rules=pl.Series(rules))

# %%
alone = noisybayes.audit(table, label="label", binary=columns)
both = noisybayes.audit(table, label="label", binary=columns, second_opinion="rules")
print(f"the rules are wrong in about {both.groups['rate'][0]:.0%} of the rows")
wrong = data.y != data.true
for name, found in (("labels alone", alone), ("labels and rules", both)):
    top = np.argsort(-found.table["p_wrong"].to_numpy())[: wrong.sum()]
    print(f"{name}: {wrong[top].mean():.0%} of the top {wrong.sum()} rows are wrong")

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, found in (("labels alone", alone), ("labels and rules", both)):
    order = np.argsort(-found.table["p_wrong"].to_numpy())
    ax.plot(np.cumsum(wrong[order]) / wrong.sum(), label=name)
ax.set(xlabel="rows reviewed, the most suspicious first", ylabel="wrong labels found", xlim=(0, 500))
ax.legend()
