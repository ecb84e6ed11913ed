# %% [markdown]
# # In CI: fail when a change makes the labels worse
#
# `noisybayes compare BEFORE AFTER --fail-on rise` exits with code 1 if the share of wrong labels has risen.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import noisybayes

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
words = {"price": ["cost", "euro", "cheap", "offer"], "repair": ["broken", "engine", "brake", "noise"]}
true = rng.choice(list(words), size=800)
texts = [" ".join(rng.choice([*words[label], "please", "car"], size=6)) for label in true]


def audited(name: str, share_wrong: float) -> noisybayes.Audit:
    other = np.where(true == "price", "repair", "price")
    label = np.where(rng.random(800) < share_wrong, other, true)
    found = noisybayes.audit(pl.DataFrame({"text": texts, "label": label}), label="label", text="text")
    found.save(folder / name)
    return found


# %%
audits = {"before": audited("before", 0.04), "after": audited("after", 0.15)}
command = [sys.executable, "-m", "noisybayes", "compare", folder / "before", folder / "after", "--fail-on", "rise"]
done = subprocess.run(command, capture_output=True, text=True, check=False)
print(done.stdout.split("\n\n")[0])
print("exit code:", done.returncode)

# %%
fig, ax = plt.subplots(figsize=(5, 2.5), layout="constrained")
rates = [100 * found.rate.estimate for found in audits.values()]
ax.barh(list(audits), rates, color=["tab:blue", "tab:red"])
ax.set_xlabel("estimated share of wrong labels, %")
ax.invert_yaxis()
