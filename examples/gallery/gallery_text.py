# %% [markdown]
# # Texts: which labels are wrong, and which words say so

# %%
from pathlib import Path

import noisybayes

table = next(folder / "examples/dealership.csv" for folder in [Path.cwd(), *Path.cwd().parents]
             if (folder / "examples/dealership.csv").exists())  # fmt: skip
found = noisybayes.audit(table, label="label", text="message")
print(found)

# %% [markdown]
# The most suspicious rows, and the words that speak against the label of the first one.

# %%
print(found.suspects[["given", "suggested", "p_wrong"]].head())
why = found.evidence(found.suspects.index[:1])[0]
print([found.feature_name(column)[0] for column in why.columns[:4]])
