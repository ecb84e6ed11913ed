from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from noisybayes.report import cleanlab_export, label_studio_config, label_studio_tasks

from .example import example_summary

MATRIX = np.array([[0.8, 0.1, 0.05], [0.15, 0.7, 0.05], [0.05, 0.2, 0.9]])  # [given, true]
TRUE_COUNTS = np.array([300.0, 200.0, 500.0])


def test_label_studio_tasks_hold_the_row_and_the_suggestion():
    summary = example_summary(n_suspects=3)
    tasks = json.loads(json.dumps(label_studio_tasks(summary)))
    suspect = summary["suspects"][0]
    assert len(tasks) == 3
    assert tasks[0]["data"]["text"] == suspect["cells"]["message"]
    assert tasks[0]["data"]["cells"] == suspect["cells"]
    assert (tasks[0]["data"]["id"], tasks[0]["data"]["given"]) == (suspect["id"], suspect["given"])
    (prediction,) = tasks[0]["predictions"]
    assert prediction["model_version"] == "noisybayes 0.2.0"
    assert prediction["score"] == pytest.approx(suspect["p_suggested"])
    assert prediction["result"] == [
        {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [suspect["suggested"]]}}
    ]


def test_the_config_fits_the_tasks_and_escapes_labels():
    classes = ['a "b"', "<c> & d", "e'"]
    root = ElementTree.fromstring(label_studio_config(classes))
    assert [node.get("value") for node in root.iter("Choice")] == classes
    choices = root.find("Choices")
    assert (choices.get("name"), choices.get("toName")) == ("label", root.find("Text").get("name"))
    task = label_studio_tasks(example_summary(n_suspects=1))[0]
    fields = {root.find("Text").get("value"), "$" + root.find("Header").get("value").split("$")[1]}
    assert {field[1:] for field in fields} <= set(task["data"])


def test_label_studio_tasks_from_a_list_of_rows():
    rows = example_summary(n_suspects=2)["suspects"]
    assert label_studio_tasks(rows)[0]["data"]["text"].endswith("\ncolour: red")
    assert label_studio_tasks(rows, text_column="colour", model_version="m")[1]["data"]["text"] == "red"
    with pytest.raises(ValueError, match="Label Studio cannot read a field named '第一列'.*Use text_column='text'"):
        label_studio_config(["a"], "第一列")


def test_matrices_of_cleanlab_follow_from_ours():
    exported = cleanlab_export(MATRIX, TRUE_COUNTS, [0.1] * 1000)
    noise, inverse, joint = (np.array(exported[k]) for k in ("noise_matrix", "inverse_noise_matrix", "joint"))
    np.testing.assert_allclose(noise, MATRIX)
    np.testing.assert_allclose(joint, MATRIX * TRUE_COUNTS / 1000)
    np.testing.assert_allclose(inverse, (joint / joint.sum(axis=1, keepdims=True)).T)  # [true, given]
    unused = cleanlab_export(
        [[1.0, 1.0], [0.0, 0.0]], [3, 1], [0.2, 0.9], given=["a", "a"], suggested=["a", "b"], classes=["a", "b"]
    )
    assert (unused["given_label"], unused["predicted_label"]) == ([0, 0], [0, 1])
    assert unused["inverse_noise_matrix"] == [[0.75, 0.0], [0.25, 0.0]]  # finite
    with pytest.raises(ValueError, match="columns of mislabel_matrix must sum to 1"):
        cleanlab_export(MATRIX.T, TRUE_COUNTS, [0.1])
    with pytest.raises(ValueError, match=r"shape \(3, 3\), but there are 2 true_counts"):
        cleanlab_export(MATRIX, [1, 2], [0.1])
