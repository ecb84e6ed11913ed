"""`python -m noisybayes.web.read_one FILE OUT BYTES ENCODING`: read a file in so much memory, write it as Parquet."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ..data.errors import InputError
from ..data.read import read_table, write_table
from .uploads import MOST_ROWS


def main(source: str, made: str, most_memory: int, encoding: str) -> dict[str, object]:
    _limit_memory(most_memory)
    try:
        frame = read_table(source, encoding=encoding)
        if frame.height > MOST_ROWS:
            raise InputError(f"the table has {frame.height:,} rows; at most {MOST_ROWS:,} can be reviewed here")
        write_table(frame, made, "parquet")
    except (InputError, OSError) as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "the file needs more memory than an upload may take; send a smaller one"}
    return {"n_rows": frame.height, "columns": frame.columns}


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:  # no such limit on Windows
        return
    # the address space that the libraries took before the first row does not count
    statm = Path("/proc/self/statm")
    used = int(statm.read_text(encoding="ascii").split()[0]) * resource.getpagesize() if statm.exists() else 0
    resource.setrlimit(resource.RLIMIT_AS, (used + most, used + most))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])))
