"""Run a command and print its cost as JSON. A separate script, run by path: a process inherits the peak memory of its
parent, so the parent has to be small."""

import json
import os
import subprocess
import sys
import time

start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
cost = {
    "wall_s": time.perf_counter() - start,
    "cpu_s": usage.ru_utime + usage.ru_stime,
    "peak_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
}
print(json.dumps(cost))
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
