"""What the command line does without: libraries that take long to import."""

import subprocess
import sys

from noisybayes.data.messages import write_messages

_RUN = """
import sys
from noisybayes.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *(name for name in ("sklearn", "pandas", "joblib", "dask") if name in sys.modules))
"""


def test_an_audit_needs_neither_scikit_learn_nor_pandas(tmp_path):
    table = tmp_path / "messages.csv"
    write_messages(table, 300, n_words=8, n_classes=3, seed=0)
    command = [
        sys.executable,
        "-c",
        _RUN,
        "audit",
        table,
        "--label",
        "label",
        "--text",
        "text",
        "--out",
        tmp_path / "x",
    ]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == "imported:"
