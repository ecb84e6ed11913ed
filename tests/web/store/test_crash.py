"""What was acknowledged is there after the program was killed."""

from __future__ import annotations

import subprocess
import sys

from noisybayes.web.store import Store

from .made import finding, fitted_table

GIVE_VERDICTS = """
import sys
from noisybayes.web.store import Store

store = Store.open(sys.argv[1])
seen = {}
for turn in range(1_000_000):
    position = turn % 7
    made = store.give_verdict(int(sys.argv[2]), position, reviewer="ann", label="b", seen=seen.get(position, 0))
    seen[position] = made.id
    print(made.id, position, flush=True)
"""


def test_acknowledged_verdicts_outlive_a_kill(store_url: str) -> None:
    with Store.open(store_url) as store:
        table_id = fitted_table(store, [finding(i) for i in range(7)])
    command = [sys.executable, "-c", GIVE_VERDICTS, store_url, str(table_id)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(60)]
        process.kill()
        lines += process.stdout.readlines()
    acknowledged = [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]
    assert len(acknowledged) >= 60
    with Store.open(store_url) as store:
        log = [(one.id, one.position) for one in store.log(table_id)]
        assert log[: len(acknowledged)] == acknowledged
        assert len(log) <= len(acknowledged) + 1  # one may have been written and not yet told
        last = {position: number for number, position in log}
        assert {one.position: one.id for one in store.verdicts(table_id).values()} == last
