# %% [markdown]
# # A large file: rows on disk

# %%
import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import noisybayes

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
words = np.array([f"word{i}" for i in range(40)])
with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["text", "label"])
    for _ in range(3_000):
        true = rng.integers(2)
        label = 1 - true if rng.random() < 0.1 else true
        writer.writerow([" ".join(rng.choice(words[20 * true : 20 * true + 30], size=8)), f"class {label}"])

# %% [markdown]
# `memory` limits the whole process; beyond it, rows are kept in shards on disk. They are ranked by naive Bayes alone.

# %%
in_memory = noisybayes.audit(folder / "rows.csv", label="label", text="text")
on_disk = noisybayes.audit(folder / "rows.csv", label="label", text="text", memory="2GB")
print(in_memory)
suspects = [found.table["suspect"].to_numpy() for found in (in_memory, on_disk)]
print(f"{suspects[1].sum()} suspects on disk, {(suspects[0] & suspects[1]).sum()} of them also in memory")

# %%
fig, ax = plt.subplots(figsize=(4, 3.2), layout="constrained")
ax.plot(in_memory.table["p_wrong"], on_disk.table["p_wrong"], ".", alpha=0.3, rasterized=True)
ax.set(xlabel="P(wrong), rows in memory", ylabel="P(wrong), rows on disk")
