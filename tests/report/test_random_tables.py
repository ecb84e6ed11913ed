"""Any table gives an audit that keeps every cell, or one sentence that says why not."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noisybayes import Audit, audit
from noisybayes.data.errors import InputError
from noisybayes.report.outputs import corrected

TEXT = st.one_of(
    st.none(),
    st.lists(st.sampled_from(["good", "bad", "größe", "我想要", "a", "9", "-", "\u2028"]), max_size=6).map(" ".join),
    st.text(max_size=12),
)
NUMBER = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(), st.sampled_from([1e300, -1e300, 1e-300]))
CATEGORY = st.one_of(st.none(), st.sampled_from(["red", "green", "", " ", "other", "(empty)", "true", "1"]))
YES_NO = st.sampled_from(["yes", "no", "1", "0", "", None])
WEIRD = ["", " ", " a ", "a", "A", "b", "ß", "我", "\u2028", "\x00", "a\x00", "nan", "None", "1", "1.0", "true", "💡"]
CELLS = {"text": TEXT, "numeric": NUMBER, "categorical": CATEGORY, "binary": YES_NO}


@st.composite
def tables(draw):
    """Columns, which of them the user names, and how the frame is given."""
    n = draw(st.integers(1, 40))

    def column(cells):
        return draw(st.lists(cells, min_size=n, max_size=n))

    pool = draw(st.lists(st.sampled_from(WEIRD), min_size=1, max_size=5, unique=True))
    label = draw(st.sampled_from([st.sampled_from([*pool, None]), st.integers(0, 2), st.text(max_size=3)]))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3))
    columns = {f"{kind} {i}": column(CELLS[kind]) for i, kind in enumerate(kinds)}
    columns |= {"label": column(label), "p_wrong": column(TEXT)}
    named = {}
    if draw(st.booleans()):
        named = {kind: [name for name in columns if name.startswith(f"{kind} ")] for kind in set(kinds)}
    if draw(st.booleans()) and draw(st.booleans()):
        columns["checked"] = column(st.one_of(st.none(), st.sampled_from([*pool, None])))
        named["verified"] = "checked"
    rule = draw(st.sampled_from([{}, {"budget": 3}]))
    return columns, named | rule, draw(st.sampled_from(["polars", "pandas"]))


def same(cell, other):
    """Equal, or both missing: pandas holds None and nan alike."""
    return cell == other or (pd.isna(cell) and pd.isna(other))


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(tables())
def test_every_table_is_audited_or_refused_in_one_sentence(made):
    columns, chosen, kind = made
    frame = pl.DataFrame(columns, strict=False) if kind == "polars" else pd.DataFrame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = audit(frame, label="label", **chosen)
        except InputError as error:
            refused = str(error)
        else:
            refused = None
        if refused is not None:
            assert refused
            assert "\n" not in refused
            return
        assert isinstance(found, Audit)
        kept = pl.concat(corrected(found))
        found.to_html()
        found.to_json()
    assert kept.height == len(columns["label"])
    assert kept.columns[: len(columns)] == list(columns)
    assert len(kept.columns) - len(columns) == 5
    for name, cells in columns.items():
        assert all(map(same, kept[name].to_list(), cells)), name
