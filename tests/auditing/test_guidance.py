"""Where to begin: what is said is what would remove most wrong labels."""

from __future__ import annotations

from noisybayes.auditing.guidance import guidance


def summary(groups=(), pairs=(), classes=()):
    return {
        "groups": groups,
        "confused_pairs": [{"given": given, "true": true, "rows": rows} for given, true, rows in pairs],
        "by_class": [{"label": label, "given": n, "wrong": share} for label, n, share in classes],
    }


def group(name, rows, difference, low, pair=None, kind="labeler"):
    high = 2 * difference - low
    return {
        "column": "who", "kind": kind, "group": name, "rows": rows, "difference": difference, "low": low, "high": high,
        "confuses": pair,
    }  # fmt: skip


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


def test_groups_that_stand_out_and_those_that_do_not():
    people = [
        group("Dan", 200, 0.4, 0.3, {"given": "a", "true": "b", "rows": 90.0}),
        group("phone", 100, 0.5, 0.4, kind="source"),
        group("Ann", 700, 0.05, -0.1),
        {**group("Bob", 10, 0.0, 0.0), "difference": None, "low": None, "high": None},
        group("rules", 700, 0.3, 0.2, kind="second opinion"),
    ]
    found = texts(guidance(summary(people, classes=[("a", 1_000, 0.195)])))
    assert found[1:] == [
        "Go through the labels of Dan together: 40 points more of them are wrong than of the others (30 to 50); most "
        "often 'a' instead of 'b'.",
        "Go through the rows with who 'phone' together: 50 points more of them are wrong than of the others (40 to "
        "60).",
    ]
    assert found[0].startswith("Review the rows labeled")


def test_nothing_where_hardly_any_label_is_wrong():
    assert guidance(summary(pairs=[("a", "b", 4.0)], classes=[("a", 400, 0.01), ("b", 400, 0.0)])) == []


def test_no_more_than_three():
    pairs = [(f"a{i}", f"b{i}", 50.0 - i) for i in range(6)]
    assert len(guidance(summary(pairs=pairs, classes=[("x", 1_000, 0.3)]))) == 3
