"""Rows of any number: the sample is one of content, and every row is scored once."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from scipy.special import logit

from noisybayes import audit
from noisybayes.audit import scale
from noisybayes.audit.scale import Reader, Sample, take
from noisybayes.data.roles import Roles

MOST, NEW = 600, 150
COLUMNS = {"label": "label", "text": "text", "id": "id"}
ROLES = Roles("label", ("text",), (), (), (), "id", None)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(scale, "MOST_ROWS", MOST)
    monkeypatch.setattr(scale, "NEW_ROWS", NEW)
    monkeypatch.setattr(scale, "_RARE", 40)
    monkeypatch.setattr(import_module("noisybayes.auditing.streamed"), "_BATCH", 700)


def messages(n=4_000, seed=0, wrong=0.15, rare=25):
    """Four classes with words of their own, one of them rare."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    true[rng.permutation(n)[:rare]] = 3
    words = np.array([f"word{i}" for i in range(400)])
    own = rng.integers(60, size=(n, 4)) + 60 * true[:, None]
    other = 240 + rng.integers(160, size=(n, 4))
    texts = [" ".join(row) for row in words[np.hstack([own, other])].tolist()]
    flipped = (rng.random(n) < wrong) & (true < 3)
    given = np.where(flipped, (true + rng.integers(1, 3, size=n)) % 3, true)
    names = np.array(["apple", "bean", "corn", "durian"])
    return pl.DataFrame({"id": [f"r{i}" for i in range(n)], "text": texts, "label": names[given], "true": names[true]})


FRAME = messages()


def sampled(frames, reader=None, stale=False):
    sample, first = Sample(reader or Reader(ROLES)), 0
    for frame in frames:
        limits = scale.Limits() if stale else sample.limits
        sample.add(take(sample.reader, limits, first, [frame]))
        first += frame.height
    return sample


def test_the_sample_is_the_same_for_every_order_and_partition():
    one = sampled([FRAME]).drawn()
    shuffled = FRAME.sample(fraction=1.0, shuffle=True, seed=3)
    for frames in (FRAME.iter_slices(130), shuffled.iter_slices(997), [shuffled.select(reversed(FRAME.columns))]):
        other = sampled(frames).drawn()
        assert other.frame.equals(one.frame)
        for name in ("content", "n_rows", "weight", "is_new"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
    assert FRAME[one.row.tolist()].select(one.frame.columns).equals(one.frame)
    assert sampled(FRAME.iter_slices(130), stale=True).drawn().frame.equals(one.frame)


def test_the_sample_is_bounded_and_stands_for_all_rows():
    drawn = sampled(FRAME.iter_slices(500)).drawn()
    labels = drawn.frame["label"].to_numpy()
    assert MOST + NEW <= len(drawn.content) <= 1.1 * (MOST + NEW)
    assert (labels == "durian").sum() == (FRAME["label"] == "durian").sum() == 25  # all of a rare class
    share = drawn.weight[labels == "durian"].sum() / drawn.weight.sum()
    assert share == pytest.approx(25 / FRAME.height, rel=0.3)
    assert drawn.is_new.mean() == pytest.approx(NEW / (MOST + NEW), abs=0.06)
    assert (np.diff(drawn.content.astype(float)) > 0).all()


def test_long_texts_make_a_smaller_sample(monkeypatch):
    monkeypatch.setattr(scale, "MOST_ENTRIES", 1_000)
    drawn = sampled(FRAME.iter_slices(500)).drawn()
    assert 60 < len(drawn.content) < 250


def test_checked_rows_are_in_the_sample():
    frame = FRAME.with_columns(sure=pl.when(pl.int_range(pl.len()) % 50 == 7).then("true"))
    drawn = sampled(frame.iter_slices(500), Reader(ROLES._replace(verified="sure"))).drawn()
    assert drawn.frame["sure"].drop_nulls().len() == 80
    checked = drawn.frame["sure"].is_not_null().to_numpy()
    assert (drawn.weight[checked] == 1).all()
    assert not drawn.is_new[checked].any()


def test_equal_rows_count_as_one_row_with_a_weight():
    frame = pl.concat([FRAME.head(300).drop("id")] * 7)
    drawn = sampled(frame.iter_slices(500), Reader(ROLES._replace(id=None))).drawn()
    assert drawn.n_rows.sum() == frame.height
    assert (drawn.weight == drawn.n_rows).all()
    assert not drawn.is_new.any()


def test_a_row_that_fills_the_table_does_not_fill_the_sample():
    others = FRAME.drop("id")
    frame = pl.concat([others, *[others.head(1)] * 4_000])
    drawn = sampled(frame.iter_slices(500), Reader(ROLES._replace(id=None))).drawn()
    often = drawn.weight[drawn.n_rows > 1]
    assert often.sum() <= 0.6 * MOST


# --- the audit -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale, "MOST_ROWS", MOST)
        patch.setattr(scale, "NEW_ROWS", NEW)
        return audit(FRAME, **COLUMNS)


def rows(found):
    return found.table.collect()


def test_every_row_is_scored_and_the_numbers_are_sums_over_all_rows(found):
    table, results = rows(found), found.findings.rows
    assert table.drop("suggested", "p_wrong", "p_suggested", "corrected", "suspect").equals(FRAME)
    assert found.run.notes[-1].startswith("fitted on ")
    assert found.run.notes[-1].endswith(" of 4,000 rows, all rows scored")
    assert found.rate.estimate == pytest.approx(table["p_wrong"].mean())
    assert found.by_class["given"].to_list() == pytest.approx(
        [(FRAME["label"] == name).sum() for name in ("apple", "bean", "corn", "durian")]
    )
    assert results.n_suspects == table["suspect"].sum() == results.suspects_by.sum()
    assert found.findings.n_corrected == (table["corrected"].cast(pl.String) != table["label"]).sum() > 100
    assert (table["suspect"] == (table["p_wrong"] > 0.5)).all()


def test_rows_outside_the_sample_are_found_as_well_as_those_inside(found):
    from sklearn.metrics import average_precision_score

    table, judged = rows(found), found.findings.judged
    inside = np.zeros(FRAME.height, dtype=bool)
    inside[judged.drawn.row] = True
    wrong, p = (FRAME["label"] != FRAME["true"]).to_numpy(), table["p_wrong"].to_numpy()
    of_inside, of_outside = (average_precision_score(wrong[some], p[some]) for some in (inside, ~inside))
    assert of_outside > of_inside - 0.05 > 0.8
    assert p[~inside].mean() == pytest.approx(p[inside].mean(), abs=0.04)


def test_the_listed_suspects_are_the_first_of_all(found):
    table = rows(found).with_row_index("position").filter("suspect").sort("p_wrong", descending=True)
    assert sorted(found.suspects.index) == sorted(table["position"].to_list())
    assert found.suspects["p_wrong"].to_list() == pytest.approx(table["p_wrong"].to_list())
    first = found.suspects.iloc[0]
    assert FRAME["text"][int(first.name)] == first["text"]
    why = found.evidence(found.suspects.index[:50])
    for each in why:
        total = each.weights.sum() + each.rest + each.label + sum(weight for _, weight in each.others)
        assert total == pytest.approx(each.log_odds)
    assert any(found.feature_name(int(column))[0].startswith("word") for column in why[0].columns)


def test_only_so_many_suspects_are_at_hand(monkeypatch):
    monkeypatch.setattr(scale, "MOST_LISTED", 50)
    asked = audit(FRAME, **COLUMNS)
    table = rows(asked)
    assert len(asked.suspects) == 50 < table["suspect"].sum() == asked.findings.rows.n_suspects
    assert asked.suspects["p_wrong"].min() == pytest.approx(table.sort("p_wrong", descending=True)["p_wrong"][49])
    row = int(np.flatnonzero(table["p_wrong"] < 0.01)[7])
    with pytest.raises(ValueError, match=f"row {row} is not listed; the files of the audit have all rows"):
        asked.evidence([row])


def by_id(found):
    return rows(found).sort("id")


def test_the_audit_is_the_same_for_every_order_and_partition(found, tmp_path):
    one = by_id(found)
    shuffled = FRAME.sample(fraction=1.0, shuffle=True, seed=5)
    for number, part in enumerate(shuffled.iter_slices(1_100)):
        part.write_parquet(tmp_path / f"part{number}.parquet")
    for other in (by_id(audit(shuffled, **COLUMNS)), by_id(audit(sorted(tmp_path.glob("*.parquet")), **COLUMNS))):
        np.testing.assert_allclose(other["p_wrong"], one["p_wrong"], atol=1e-9)
        assert other.drop("p_wrong", "p_suggested").equals(one.drop("p_wrong", "p_suggested"))


@pytest.mark.parametrize("budget", [0, 7, 300, 2_500])
def test_a_budget_lists_the_most_suspicious_rows(found, budget):
    asked = audit(FRAME, **COLUMNS, budget=budget)
    table, results = rows(asked), asked.findings.rows
    np.testing.assert_allclose(table["p_wrong"], rows(found)["p_wrong"])
    assert table["suspect"].sum() == results.n_suspects == len(asked.suspects) == budget
    if budget > 0:
        worst = table.sort("p_wrong", descending=True)["p_wrong"]
        assert table.filter("suspect")["p_wrong"].min() == worst[budget - 1]
    listed = table.filter("suspect")
    assert (listed["suggested"].cast(pl.String) != listed["label"]).all()
    natural = rows(found)
    both = ~table["suspect"] & ~natural["suspect"]
    assert table.filter(both).drop("suspect").equals(natural.filter(both).drop("suspect"))
    dropped = table.filter(~table["suspect"] & natural["suspect"])
    # what is not listed has the most probable label as its suggestion
    p_best = pl.select(
        pl.max_horizontal(1 - dropped["p_wrong"], natural.filter(~table["suspect"] & natural["suspect"])["p_suggested"])
    )
    np.testing.assert_allclose(dropped["p_suggested"], p_best.to_series())


def test_rows_without_a_label_are_predicted():
    frame = FRAME.with_columns(label=pl.when(pl.int_range(pl.len()) % 4 != 1).then("label"))
    table = rows(audit(frame, **COLUMNS))
    unlabeled = table.filter(table["label"].is_null())
    assert unlabeled["p_wrong"].is_null().all()
    assert (unlabeled["corrected"].cast(pl.String) == unlabeled["true"]).mean() > 0.9
    assert table["p_wrong"].null_count() == 1_000


def test_verified_labels_are_kept(found):
    frame = FRAME.with_columns(sure=pl.when(pl.int_range(pl.len()) % 40 == 3).then("true"))
    asked = audit(frame, **COLUMNS, verified="sure")
    known = rows(asked).filter(frame["sure"].is_not_null())
    assert (known["corrected"].cast(pl.String) == known["true"]).all()
    assert not known["suspect"].any()
    assert asked.findings.rows.n_verified == 100
    assert asked.findings.rows.frame["verified"].sum() == 100


def test_verdicts_change_the_rows_outside_the_sample_too(found):
    """Reviewers say that the label "apple" is always right, and "bean" in the rows that are listed is wrong."""
    p_wrong, suspect = rows(found)["p_wrong"].to_numpy(), rows(found)["suspect"].to_numpy()
    reviewed = np.flatnonzero(suspect & (np.arange(FRAME.height) % 3 == 0))
    verdict = pl.Series([None] * FRAME.height, dtype=pl.String)
    labels = FRAME["label"].to_list()
    true = ["apple" if labels[row] == "apple" else FRAME["true"][row] for row in reviewed.tolist()]
    asked = audit(FRAME.with_columns(sure=verdict.scatter(reviewed, true)), **COLUMNS, verified="sure")
    outside = np.ones(FRAME.height, dtype=bool)
    outside[asked.findings.judged.drawn.row] = False
    now = rows(asked)["p_wrong"].to_numpy()
    unseen = suspect & ~np.isin(np.arange(FRAME.height), reviewed)
    change = logit(np.clip(now, 1e-6, 1 - 1e-6)) - logit(np.clip(p_wrong, 1e-6, 1 - 1e-6))
    for where in (outside, ~outside):
        of_apple, of_bean = (change[unseen & where & (FRAME["label"] == name).to_numpy()] for name in ("apple", "bean"))
        assert len(of_apple) > 10
        assert of_apple.mean() < of_bean.mean() - 3
    first = asked.evidence(asked.suspects.index[:300])
    assert any(name == "verdicts on other rows" for why in first for name, _ in why.others)


def test_labelers_and_sources_are_counted_over_all_rows(tmp_path, monkeypatch):
    """One labeler makes most of the mistakes; another one has only four rows."""
    table = import_module("noisybayes.auditing.table")
    monkeypatch.setattr(table, "_WHOLE_BYTES", 1_000)
    monkeypatch.setattr(table, "_LARGEST_SHARE", 0.0)
    rng, wrong = np.random.default_rng(0), (FRAME["label"] != FRAME["true"]).to_numpy()
    who = np.where(wrong & (rng.random(FRAME.height) < 0.8), "Dan", rng.choice(["Ann", "Bob", "Dan"], FRAME.height))
    who[[7, 700, 1_700, 2_700]] = "Eve"
    day = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 12, 31), eager=True).sample(
        FRAME.height, with_replacement=True, seed=1
    )
    sure = pl.when(pl.int_range(pl.len()) % 50 == 7).then("true")
    frame = FRAME.with_columns(who=pl.Series(who), day=day.cast(pl.String), sure=sure)
    frame.write_parquet(tmp_path / "rows.parquet")
    asked = audit(
        tmp_path / "rows.parquet", label="label", text="text", labeler="who", source="day", verified_random="sure"
    )
    groups = pl.DataFrame(asked.summary()["groups"], infer_schema_length=None)
    of_who = groups.filter(pl.col("column") == "who")
    assert of_who["group"].to_list()[0] == "Dan"
    assert dict(of_who.select("group", "rows").iter_rows()) == {
        name: int((who == name).sum()) for name in set(who.tolist())
    }
    p_wrong = rows(asked)["p_wrong"].to_numpy()
    assert of_who["checked"].sum() == 80
    dan = of_who.row(0, named=True)
    assert dan["rate_low"] <= dan["rate"] <= dan["rate_high"]
    assert dan["rate"] == pytest.approx(p_wrong[who == "Dan"].mean(), abs=0.15)
    assert dan["low"] > 0.1
    assert of_who.filter(pl.col("group") == "Eve")["note"].to_list() == ["too few"]
    days = groups.filter(pl.col("column") == "day")
    assert days["rows"].sum() == FRAME.height
    assert days["group"].to_list() == sorted(days["group"].to_list())
    assert asked.groups is not None
    assert asked.to_html()
    assert asked.to_markdown()


def test_rows_checked_at_random_are_counted(found, tmp_path):
    found.save(tmp_path / "audit", sample=60)
    sample = pl.read_csv(tmp_path / "audit" / "to_check.csv")
    expected = audit_in_memory(FRAME).random_sample(60)
    assert sample["row"].to_list() == expected["row"].to_list()
    true = dict(zip(range(1, FRAME.height + 1), FRAME["true"], strict=True))
    filled = sample.with_columns(true_label=pl.col("row").replace_strict(true))
    filled[0, "true_label"] = "no_class"
    filled.write_csv(tmp_path / "checked.csv")
    again = audit(FRAME, **COLUMNS, verified_random=tmp_path / "checked.csv")
    wrong = 1 + (filled["true_label"] != filled["given"])[1:].sum()
    assert again.rate.random.n == 60
    assert again.rate.random.wrong == wrong
    table = rows(again)
    row = int(sample["row"][0]) - 1
    assert table["p_wrong"][row] is None
    assert "\0checks" not in table.columns
    for cell, told in (("pear", "the true label 'pear'"), ("apple", None)):
        changed = filled.with_columns(given=pl.lit("bean"), true_label=pl.lit("bean"))
        changed = filled.with_columns(true_label=pl.lit(cell)) if told else changed
        changed.write_csv(tmp_path / "odd.csv")
        with pytest.raises(ValueError, match=told or "had the label 'bean' when it was drawn"):
            audit(FRAME, **COLUMNS, verified_random=tmp_path / "odd.csv")


def audit_in_memory(frame):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale, "MOST_ROWS", 10**6)
        return audit(frame, **COLUMNS)


def test_what_is_saved(found, tmp_path):
    found.save(tmp_path / "csv")
    found.save(tmp_path / "parquet", format="parquet")
    table = rows(found)
    as_csv = pl.read_csv(tmp_path / "csv" / "corrected.csv", infer_schema=False)
    assert as_csv.select("suggested", "corrected").equals(table.select("suggested", "corrected").cast(pl.String))
    assert pl.read_parquet(tmp_path / "parquet" / "corrected.parquet" / "*.parquet").equals(table)
    assert pl.read_csv(tmp_path / "csv" / "suspects.csv").height == len(found.suspects)
    assert "all rows scored" in (tmp_path / "csv" / "report.html").read_text(encoding="utf-8")
    assert "all rows scored" in found.to_markdown()


def test_a_cell_that_cannot_be_read_is_named_by_its_row():
    numbers = np.random.default_rng(0).normal(size=FRAME.height).astype(str).tolist()
    numbers[3_300] = "much"
    with pytest.raises(ValueError, match="row 3301: 'much' in the column 'size' is not a number"):
        audit(FRAME.with_columns(size=pl.Series(numbers)), label="label", text="text", numeric="size")


def test_columns_of_all_kinds():
    rng = np.random.default_rng(1)
    true = FRAME["true"].rank("dense").to_numpy()
    frame = FRAME.with_columns(
        size=pl.Series(true + rng.normal(size=len(true))),
        sort=pl.Series((true + rng.integers(2, size=len(true))).astype(str)),
        new=pl.Series(rng.random(len(true)) < true / 5),
    )
    table = rows(audit(frame, label="label", numeric="size", categorical="sort", binary="new"))
    assert table["p_wrong"].null_count() == 0
    assert table.filter(table["label"] != table["true"])["p_wrong"].mean() > 2 * table["p_wrong"].mean()


def test_spellings_of_a_label_are_one_class():
    frame = FRAME.with_columns(
        label=pl.when(pl.int_range(pl.len()) % 90 == 5).then(pl.col("label").str.to_uppercase()).otherwise("label")
    )
    found = audit(frame, **COLUMNS)
    assert list(found.by_class["label"]) == ["apple", "bean", "corn", "durian"]
    assert found.by_class["given"].sum() == pytest.approx(FRAME.height)


def test_the_review_desk_fits_a_sample_too():
    from noisybayes.web.fitting import fit_table

    frame = FRAME.drop("true")
    verdicts = {5: "apple", 17: "bean", 99: None}
    fitted = fit_table(frame, ROLES, "table", verdicts, [99], lambda stage: None)
    positions = [one.position for one in fitted.findings]
    assert len(set(positions)) == len(positions) >= fitted.overview["n_suspects"] > 300
    assert set(fitted.overview["sample"]) - {99} <= set(positions)
    p_wrong = [one.p_wrong for one in fitted.findings if one.suspect]
    assert p_wrong == sorted(p_wrong, reverse=True)
    assert {5, 17, 99}.isdisjoint(fitted.corrected)
    assert fitted.overview["n_verified"] == 2
    assert fitted.overview["n_no_class"] == 1
