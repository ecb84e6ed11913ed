"""Messages name options; Python and the browser get their own words."""

from __future__ import annotations

import pytest

from noisybayes.data.option_names import in_field_words, in_python_words


@pytest.mark.parametrize(
    ("message", "python", "field"),
    [
        ("--label: there is no column 'x'", "label: there is no column 'x'", "“label”: there is no column 'x'"),
        ("name one with --text or --binary", "name one with text= or binary=", "name one with “text” or “yes or no”"),
        ("try --encoding cp1252", 'try encoding="cp1252"', "try “encoding” cp1252"),
        ("--encoding names another one", "encoding= names another one", "“encoding” names another one"),
        ("by --text and by --id", "by text= and by id=", "by “text” and by “row ID”"),
        ("--categorical age uses it", 'categorical="age" uses it', "“category” age uses it"),
        ("--keep-variants keeps them", "keep_variants=True keeps them", "“keep variants” keeps them"),
        ("add --engine dask", 'add engine="dask"', "add “engine” dask"),
        ("choose another one with --out", "choose another one", "choose another one with “out”"),
        ("a text -- with dashes", "a text -- with dashes", "a text -- with dashes"),
    ],
)
def test_words(message, python, field):
    assert in_python_words(message) == python
    assert in_field_words(message) == field
