"""JSON: lists and lines, dotted names of nested keys, and what is said of damaged files."""

from __future__ import annotations

import io
import json

import pytest

from noisybayes.data import decoding
from noisybayes.data.errors import InputError
from noisybayes.data.formats import records
from noisybayes.data.read import read_table
from noisybayes.data.roles import find_roles

FIX = 'write a list of objects, like [{"text": "hello", "label": "greeting"}]'


def read(content, **options):
    return read_table(io.BytesIO(content.encode()), **options)


def refusal(content):
    with pytest.raises(InputError) as caught:
        read(content)
    return str(caught.value)


@pytest.mark.parametrize("chunk", [3, 1 << 20])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_like_lines(monkeypatch, chunk, indent):
    monkeypatch.setattr(decoding, "CHUNK", chunk)
    rows = [{"a": 1, "b": "x]},{["}, {"a": 2.5, "b": None, "c": [1, {"d": 2}]}, {"a": 3, "b": "é\\ud83d\\ude00"}] * 3
    lines = read("\n".join(map(json.dumps, rows)))
    assert read(json.dumps(rows, indent=indent)).equals(lines)
    assert lines.columns == ["a", "b", "c"]


@pytest.mark.parametrize("as_list", [True, False])
def test_nested_keys_have_dotted_names(as_list):
    rows = [
        {"doc": {"text": "hello", "meta": {"n": 1}}, "annotation": {"label": "a", "by": {}}},
        {"doc": {"text": "bye"}, "annotation": None, "tags": ["x", "y"]},
    ]
    frame = read(json.dumps(rows) if as_list else "\n".join(map(json.dumps, rows)))
    assert frame.to_dicts() == [
        {"doc.text": "hello", "doc.meta.n": 1, "annotation.label": "a", "annotation.by": None, "annotation": None,
         "tags": None},
        {"doc.text": "bye", "doc.meta.n": None, "annotation.label": None, "annotation.by": None, "annotation": None,
         "tags": '["x", "y"]'},
    ]  # fmt: skip
    assert find_roles(frame, label="annotation.label", text=["doc.text"])[0].label == "annotation.label"


def test_a_file_named_json_may_have_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert read_table(path)["a"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('[{"a": 1}, {"a": }]', f"the input: object 2 is not JSON (Expecting value); {FIX}"),
        ('[{"a": 1}, 7]', f"the input: item 2 of the list is not an object with keys; {FIX}"),
        ('[{"a": 1}, {}]', f"the input: item 2 of the list is not an object with keys; {FIX}"),
        ('[{"a": 1},', "the input is truncated: the closing ] is missing; download it again"),
        ("[]", "the input has no rows; give a table with rows"),
        ('[{"a": "x}]', f"the input: object 1 is not JSON (Unterminated string starting at); {FIX}"),
    ],
)
def test_what_is_said_of_a_bad_list(content, text):
    assert refusal(content) == text


def test_deep_nesting_is_refused():
    assert "object 1 is not JSON (" in refusal("[" + '{"a":' * 100_000 + "1" + "}" * 100_000 + "]")


def test_keys_that_are_values_are_refused(monkeypatch):
    monkeypatch.setattr(records, "_MOST_COLUMNS", 3)
    assert refusal('{"scores": {"u1": 1, "u2": 2, "u3": 3, "u4": 4}}') == (
        "the input: the objects have more than 3 different keys; use keys for columns, and values for what differs "
        "from row to row"
    )
