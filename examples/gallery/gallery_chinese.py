# %% [markdown]
# # Chinese texts: segmented into words, with nothing to configure
#
# Install the extra `zh` (`pip install 'noisybayes[zh]'`). Without it, texts are split into characters and pairs.

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import noisybayes

rng = np.random.default_rng(0)
phrases = {
    "价格": ["这款车落地价多少", "首付需要多少钱", "现在有优惠吗", "贷款利息怎么算", "价格能不能再便宜一点"],
    "配置": ["有没有全景天窗", "座椅可以加热吗", "油耗大概是多少", "后备箱空间大不大", "发动机是几缸的"],
    "到店": ["你们店在哪里", "周末可以试驾吗", "几点下班", "需要提前预约吗", "地址发我一下"],
}
labels = list(phrases)
true = rng.integers(3, size=600)
texts = [",".join(rng.choice(phrases[labels[k]], size=2, replace=False)) for k in true]
given = np.where(rng.random(600) < 0.1, (true + 1) % 3, true)
table = pl.DataFrame({"消息": texts, "标签": [labels[k] for k in given]})

# %%
found = noisybayes.audit(table, label="标签", text="消息")
print(found)
wrong = given != true
print(f"of {wrong.sum()} wrong labels {found.table['suspect'].to_numpy()[wrong].mean():.0%} are suspects")

# %%
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
p_wrong, bins = found.table["p_wrong"].to_numpy(), np.linspace(0, 1, 21)
ax.hist([p_wrong[~wrong], p_wrong[wrong]], bins=bins, stacked=True, label=["right labels", "wrong labels"])
ax.set(yscale="log", xlabel="P(wrong)", ylabel="messages")
ax.legend()
