# %% [markdown]
# # Texts: which labels are wrong, and which words show it

# %%
from pathlib import Path

import matplotlib.pyplot as plt

import noisybayes

table = next(folder / "examples/dealership.csv" for folder in [Path.cwd(), *Path.cwd().parents]
             if (folder / "examples/dealership.csv").exists())  # fmt: skip
found = noisybayes.audit(table, label="label", text="message")
print(found)

# %% [markdown]
# The most suspicious rows, and the words that count against the label of the first one:

# %%
print(found.suspects[["given", "suggested", "p_wrong"]].head())
why = found.evidence(found.suspects.index[:1])[0]
words = [found.feature_name(column)[0] for column in why.columns]

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(words[::-1], why.weights[::-1], color=["tab:orange" if w > 0 else "tab:blue" for w in why.weights[::-1]])
ax.axvline(0, color="black", linewidth=0.8)
ax.set_xlabel("log-odds of the suggested label against the given one")
