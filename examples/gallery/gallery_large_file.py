# %% [markdown]
# # A large file: rows on disk, with the same result

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
# `memory` limits the whole process; beyond it, rows are kept in shards on disk.

# %%
in_memory = noisybayes.audit(folder / "rows.csv", label="label", text="text")
on_disk = noisybayes.audit(folder / "rows.csv", label="label", text="text", memory="2GB")
print(in_memory)
print("the same noise rate:", bool(np.isclose(in_memory.noise_rate, on_disk.noise_rate)))

# %%
fig, ax = plt.subplots(figsize=(4, 3.2), layout="constrained")
ax.plot(in_memory.table["p_wrong"], on_disk.table["p_wrong"], ".", alpha=0.3, rasterized=True)
ax.set(xlabel="P(wrong), rows in memory", ylabel="P(wrong), rows on disk")
