"""What the command line does without: libraries that take long to import, and frequent garbage collection."""

import subprocess
import sys

from ..bot.shop import demo
from ..simulated_messages import write_messages

# Python's own threshold comes to some 250 for a small audit.
_FEW_COLLECTIONS = 50

_RUN = """
import gc, sys
from noisybayes.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
assert sum(generation["collections"] for generation in gc.get_stats()) < FEW
print("imported:", *(name for name in ("sklearn", "pandas", "joblib", "dask") if name in sys.modules))
"""


def imported(*arguments, told=None):
    """What a command prints last."""
    command = [sys.executable, "-c", _RUN.replace("FEW", str(_FEW_COLLECTIONS)), *map(str, arguments)]
    done = subprocess.run(command, input=told, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_an_audit_needs_neither_scikit_learn_nor_pandas_nor_many_collections(tmp_path):
    table = tmp_path / "messages.csv"
    write_messages(table, 300, n_words=8, n_classes=3, seed=0)
    columns = ("--label", "label", "--text", "text")
    assert imported("audit", table, *columns, "--out", tmp_path / "x") == "imported:"


def test_a_bot_that_answers_needs_them_as_little(tmp_path):
    demo().save(tmp_path / "bot")
    assert imported("bot", "chat", tmp_path / "bot", told="how much is a used Tarvo?\n") == "imported:"
