# %% [markdown]
# # Embeddings: vectors from any model in addition to the columns
#
# `embeddings` takes an array, a `.npy` or Parquet file, or a column of lists. Here the texts carry little
# information and the simulated vectors a lot; with your own sentence encoder, pass `model.encode(texts)`.

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import noisybayes

rng = np.random.default_rng(0)
true = rng.integers(3, size=900)
names = np.array(["billing", "delivery", "returns"])
given = np.where(rng.random(900) < 0.12, rng.integers(3, size=900), true)
texts = [" ".join(rng.choice([*"abcdefgh", *([name[:4]] * 2)], size=5)) for name in names[true]]
vectors = rng.normal(size=(3, 32))[true] + rng.normal(scale=1.5, size=(900, 32))
table = pl.DataFrame({"text": texts, "label": names[given]})

# %%
alone = noisybayes.audit(table, label="label", text="text")
both = noisybayes.audit(table, label="label", text="text", embeddings=vectors)
wrong = given != true
for name, found in (("texts", alone), ("texts and vectors", both)):
    top = np.argsort(-found.table["p_wrong"].to_numpy())[: wrong.sum()]
    print(f"{name}: {wrong[top].mean():.0%} of the top {wrong.sum()} rows are wrong")

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, found in (("texts", alone), ("texts and vectors", both)):
    order = np.argsort(-found.table["p_wrong"].to_numpy())
    ax.plot(np.cumsum(wrong[order]) / wrong.sum(), label=name)
ax.set(xlabel="rows reviewed, the most suspicious first", ylabel="wrong labels found", xlim=(0, 400))
ax.legend()
