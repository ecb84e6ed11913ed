"""Exports of labeling tools: which label a row gets where people disagree, refuse or give several."""

from __future__ import annotations

import io
import json

import pytest

from noisybayes.data.read import read_table

from .example_files import label_studio_task


def read(records, **options):
    return read_table(io.BytesIO(json.dumps(records).encode()), **options)


def test_label_studio_takes_what_most_people_chose():
    tasks = [
        label_studio_task(1, "hello", ["a", "b", "b"]),
        label_studio_task(2, "bye", ["b", "a"]),
        label_studio_task(3, "so long", []),
        label_studio_task(4, "hi", ["a"]),
    ]
    tasks[3]["annotations"][0]["was_cancelled"] = True
    tasks[0]["annotations"][0]["result"].append({"from_name": "x", "type": "labels", "value": {"labels": ["NOUN"]}})
    assert read(tasks).rows() == [(1, "hello", "b"), (2, "bye", "b"), (3, "so long", None), (4, "hi", None)]


def test_label_studio_names_several_questions():
    task = label_studio_task(1, "hello", ["a"])
    task["data"]["label"] = "given"
    other = {"from_name": "tone", "type": "choices", "value": {"choices": ["rude", "calm"]}}
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    task["annotations"][0]["result"] += [other, stars]
    assert read([task]).to_dicts() == [
        {"id": 1, "text": "hello", "label": "given", "annotation.label": "a", "tone": "calm | rude", "stars": "4"}
    ]


def test_argilla_of_both_versions_and_as_columns():
    users = [("a", "submitted"), ("b", "submitted"), ("b", "submitted"), ("a", "discarded"), ("a", "discarded")]
    first = {
        "fields": {"text": "hello"}, "external_id": "7", "metadata": {"source": "mail"}, "suggestions": [],
        "responses": [{"user_id": "u", "status": status, "values": {"topic": {"value": value}}}
                      for value, status in users],
    }  # fmt: skip
    second = {
        "id": "7", "fields": {"text": "hello"}, "metadata": {"source": "mail"}, "vectors": {},
        "suggestions": {"topic": {"value": "a", "score": 0.9}},
        "responses": {"topic": [{"value": value, "status": status} for value, status in users]},
    }  # fmt: skip
    row = {"id": "7", "text": "hello", "metadata.source": "mail", "topic": "b"}
    assert read([first]).to_dicts() == read([second]).to_dicts() == [row]
    columns = {"text": "hello", "topic.responses": ["b"], "topic.responses.users": ["u"], "topic.suggestion": "a"}
    assert read([columns]).to_dicts() == [{"text": "hello", "topic": "b"}]
    assert read([columns, {**columns, "topic.responses": None}])["topic"].to_list() == ["b", None]


def test_prodigy_labels_only_what_was_accepted():
    tasks = [{"text": "hello", "label": "a", "answer": answer, "_task_hash": 1, "meta": {"n": 1}}
             for answer in ("accept", "reject", "ignore")]  # fmt: skip
    assert read(tasks).rows() == [("hello", 1, "a"), ("hello", 1, None), ("hello", 1, None)]
    several = {"text": "bye", "accept": ["b", "a"], "options": [], "answer": "accept"}
    assert read([several])["label"].to_list() == ["a | b"]
    assert read([{**several, "accept": []}])["label"].to_list() == [None]


def test_doccano_lists():
    assert read([{"text": "x", "label": ["a"]}, {"text": "y", "label": []}])["label"].to_list() == ["a", None]
    assert read([{"text": "x", "labels": [1]}])["labels"].to_list() == ["1"]
    spans = read([{"text": "x", "label": [[0, 1, "NOUN"]]}])  # of another kind of task
    assert spans["label"].to_list() == ['[[0, 1, "NOUN"]]']


@pytest.mark.parametrize("name", ["label-studio", "argilla", "prodigy", "doccano"])
def test_odd_records_are_no_crash(name):
    """Of a file that is named so, whatever its records are."""
    odd = {"data": 1, "fields": 2, "label": 3, "annotations": "z", "responses": 4}
    assert read([{"x": 1}, odd, {"annotations": [None, {"result": [None, 1]}], "accept": "x"}], format=name).height == 3
