"""JSON: lists and lines, types that differ, dotted names of nested keys, and the sentence for a damaged file."""

from __future__ import annotations

import io
import json

import pytest

from noisybayes.data import decoding
from noisybayes.data.errors import InputError
from noisybayes.data.formats import json_records
from noisybayes.data.read import read_table

FIX = 'write a list of objects, like [{"text": "hello", "label": "greeting"}]'
FIX_LINE = 'write one object per line, like {"text": "hello", "label": "greeting"}'


def read(content, **options):
    return read_table(io.BytesIO(content.encode()), **options)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_like_lines(monkeypatch, tmp_path, indent):
    monkeypatch.setattr(decoding, "CHUNK", 3)
    rows = [{"a": 1, "b": "x]},{["}, {"a": 2.5, "b": None, "c": [1, {"d": 2}]}, {"a": 3, "b": "é\\ud83d\\ude00"}] * 3
    lines = read("\n".join(map(json.dumps, rows)))
    assert read(json.dumps(rows, indent=indent)).equals(lines)
    assert lines.columns == ["a", "b", "c"]
    path = tmp_path / "lines.json"  # some programs call that JSON too
    path.write_text("\n".join(map(json.dumps, rows)))
    assert read_table(path).equals(lines)


def test_values_of_several_types(monkeypatch):
    records = [
        {"a": 1, "b": 1, "c": True, "d": [1, "é"], "e": 1},
        {"a": 2.5, "b": "x", "c": None, "e": 10**30, "f": "y"},
    ]
    expected = {
        "a": [1.0, 2.5], "b": ["1", "x"], "c": [True, None], "d": ['[1, "é"]', None], "e": ["1", str(10**30)],
        "f": [None, "y"],
    }  # fmt: skip
    text = "\n".join(map(json.dumps, records))
    assert read(text).to_dict(as_series=False) == expected
    monkeypatch.setattr(json_records, "_BATCH", 1)
    assert read(text).select("a", "b", "f").to_dict(as_series=False) == {key: expected[key] for key in "abf"}
    assert read('{"a": "\\ud83d\\ude00 \\ud800"}')["a"].to_list() == ["😀 �"]


@pytest.mark.parametrize("as_list", [True, False])
def test_nested_keys_have_dotted_names(as_list):
    rows = [
        {"doc": {"text": "hello", "meta": {"n": 1}}, "annotation": {"label": "a", "by": {}}},
        {"doc": {"text": "bye"}, "annotation": None, "tags": ["x", "y"]},
    ]
    frame = read(json.dumps(rows) if as_list else "\n".join(map(json.dumps, rows)))
    columns = ["doc.text", "doc.meta.n", "annotation.label", "annotation.by", "annotation", "tags"]
    assert frame.select(columns).rows() == [
        ("hello", 1, "a", None, None, None), ("bye", None, None, None, None, '["x", "y"]')
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('[{"a": 1}, {"a": }]', f"the input: object 2 is not JSON (Expecting value); {FIX}"),
        ('[{"a": 1}, 7]', f"the input: item 2 of the list is not an object with keys; {FIX}"),
        ('[{"a": 1}, {}]', f"the input: item 2 of the list is not an object with keys; {FIX}"),
        ('[{"a": 1},', "the input is truncated: the closing ] is missing; download it again"),
        ("[]", "the input has no rows; give a table with rows"),
        ('[{"a": "x}]', f"the input: object 1 is not JSON (Unterminated string starting at); {FIX}"),
        ("[" + '{"a":' * 100_000 + "1" + "}" * 100_000 + "]", "the input: object 1 is not JSON ("),
        ('{"a": 1}\n{"a"}\n', f"the input: line 2 is not JSON (Expecting ':' delimiter at column 5); {FIX_LINE}"),
        ('{"a": 1}\n[2]\n', f"the input: line 2 is not a JSON object with keys; {FIX_LINE}"),
        ("{}\n", f"the input: line 1 is not a JSON object with keys; {FIX_LINE}"),
        (
            json.dumps(dict.fromkeys("abcd", 1)),
            "the input: the objects have more than 3 different keys; use keys for columns, and values for what "
            "differs from row to row",
        ),
    ],
)
def test_bad_content(monkeypatch, content, text):
    monkeypatch.setattr(json_records, "_MOST_COLUMNS", 3)
    with pytest.raises(InputError) as caught:
        read(content)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)
