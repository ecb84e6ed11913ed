"""Where to begin: what is said is what would remove most wrong labels."""

from __future__ import annotations

from noisybayes.auditing.guidance import guidance


def summary(labelers=None, pairs=(), classes=(), sources=()):
    return {
        "labelers": labelers,
        "sources": sources,
        "confused_pairs": [{"given": given, "true": true, "rows": rows} for given, true, rows in pairs],
        "by_class": [{"label": label, "given": n, "wrong": share} for label, n, share in classes],
    }


def labeler(name, rows, rate, pair=None, remark=None):
    return {"labeler": name, "rows": rows, "error_rate": rate, "confuses": pair, "remark": remark}


def texts(found):
    return [one["text"] for one in found]


def test_two_classes_that_are_taken_for_each_other():
    found = guidance(
        summary(pairs=[("a", "b", 40.0), ("b", "a", 30.0), ("a", "c", 2.0)], classes=[("a", 400, 0.1), ("b", 300, 0.1)])
    )
    assert texts(found) == [
        "Clarify when to use 'a' and when 'b': about 70 rows have one of these labels and should have the other."
    ]
    assert (found[0]["given"], found[0]["true"]) == ("a", "b")


def test_a_label_that_stands_for_many_others():
    pairs = [("other", name, 8.0) for name in "abcdef"]
    found = guidance(summary(pairs=pairs, classes=[("other", 100, 0.48), *((name, 50, 0.0) for name in "abcdef")]))
    assert texts(found) == [
        "Review the rows labeled 'other': about 48.0 % of 100 should have another label, and no single class accounts "
        "for most of them."
    ]


def test_labelers_who_stand_out_and_those_who_do_not():
    people = [
        labeler("Dan", 200, 0.5, {"given": "a", "true": "b", "rows": 90.0}),
        labeler("Eve", 100, 0.6, remark="hardly better than chance"),
        labeler("Ann", 700, 0.05),
    ]
    found = texts(guidance(summary(people, classes=[("a", 1_000, 0.195)])))
    assert found[0].startswith("Review the rows labeled")
    assert found[1] == (
        "Go through the labels of Dan together: about 50.0 % of 200 labels are wrong, most often 'a' instead of 'b', "
        "compared with 11.9 % for the other labelers."
    )
    assert found[2] == (
        "Have the rows of Eve labeled again: about 60.0 % of 100 labels are wrong, compared with 15.0 % for the other "
        "labelers. These labels are hardly better than chance."
    )
    assert not [text for text in found if "Ann" in text]


def test_nothing_where_hardly_any_label_is_wrong():
    assert guidance(summary(pairs=[("a", "b", 4.0)], classes=[("a", 400, 0.01), ("b", 400, 0.0)])) == []


def test_no_more_than_three():
    pairs = [(f"a{i}", f"b{i}", 50.0 - i) for i in range(6)]
    assert len(guidance(summary(pairs=pairs, classes=[("x", 1_000, 0.3)]))) == 3


def source(kind, levels, kept=True):
    told = [{"level": name, "start": name, "rows": rows, "error_rate": rate} for name, rows, rate in levels]
    return {"source": "week", "kind": kind, "kept": kept, "levels": told}


def test_labels_of_the_first_or_the_last_weeks():
    early = [("1", 100, 0.5), ("2", 100, 0.4), ("3", 400, 0.05), ("4", 400, 0.04)]
    (one,) = guidance(summary(sources=[source("number", early)]))
    assert one["text"] == (
        "Have the rows below 3 (week) labeled again: about 45.0 % of 200 labels are wrong, compared with 4.5 % "
        "elsewhere."
    )
    assert (one["source"], one["levels"], one["rows"]) == ("week", ["1", "2"], 81.0)
    late = [(name, rows, rate) for name, (_, rows, rate) in zip("1234", reversed(early), strict=True)]
    assert texts(guidance(summary(sources=[source("time", late)])))[0].startswith("Have the rows from 3 on (week)")
    assert guidance(summary(sources=[source("time", early, kept=False)])) == []


def test_labels_of_one_category():
    levels = [("phone", 100, 0.5), ("mail", 900, 0.05)]
    assert texts(guidance(summary(sources=[source("category", levels)]))) == [
        "Have the rows with week 'phone' labeled again: about 50.0 % of 100 labels are wrong, compared with 5.0 % "
        "elsewhere."
    ]
