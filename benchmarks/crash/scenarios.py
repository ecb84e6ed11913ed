"""What is killed: audits in memory and from shards, resumed ones, saved models, exports, imports and refits."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_ROWS = 60
_EARLIER_ROWS = 40
_WORDS = {
    "price": ("cost", "euro", "cheap"),
    "repair": ("broken", "oil", "engine"),
    "hours": ("open", "sunday", "late"),
}


class Scenario(NamedTuple):
    """Functions of a folder; each but `content` runs in its own process."""

    prepare: Callable[[Path], None]  # creates the state before
    work: Callable[[Path], None]  # what is killed
    again: Callable[[Path], None]  # what a user does afterwards
    content: Callable[[Path], Any]  # must equal the state before or the state after, at every moment
    statements: bool = False  # whether statements and commits of a store count as operations


def messages(n_rows: int) -> str:
    rng, names = np.random.default_rng(n_rows), sorted(_WORDS)
    lines = ["message,label"]
    for i in range(n_rows):
        true = names[i % 3]
        given = names[(i + 1) % 3] if i % 10 == 0 else true
        lines.append(f"{' '.join(rng.choice(_WORDS[true], 3))} number {i % 7},{given}")
    return "\n".join(lines) + "\n"


def _run(*arguments: str) -> None:
    """Run a command without output."""
    sys.argv = ["noisybayes", *arguments]
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            runpy.run_module("noisybayes", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(output.getvalue()) from None


def _audit(folder: Path, *options: str, n_rows: int = _ROWS) -> None:
    # beside the folder, which is copied: a run can be resumed only if its file is unchanged
    file = folder.parent / f"messages{n_rows}.csv"
    if not file.exists():
        file.write_text(messages(n_rows), encoding="utf-8")
    _run(
        "audit", str(file), "--label", "label", "--text", "message", "--views", "naive-bayes", "--out", "out", *options
    )


def _earlier_audit(folder: Path) -> None:
    _audit(folder, n_rows=_EARLIER_ROWS)


def _from_shards(folder: Path) -> None:
    _audit(folder, "--memory", "2GB")


def _resume_or_start(folder: Path) -> None:
    if (folder / ".out.unfinished").exists():
        _audit(folder, "--memory", "2GB", "--resume")
    else:
        _from_shards(folder)


def _half_done(folder: Path) -> None:
    """An audit from shards, interrupted when its rows were on disk and its fit had started."""
    from noisybayes.dataset.checkpoint import Checkpoint

    class CutOffError(BaseException):
        pass

    _earlier_audit(folder)
    real, left = Checkpoint.save, folder / "left"

    def save(self: Checkpoint, name: str, value: Any) -> None:
        real(self, name, value)
        os.rename(folder / ".out.unfinished", left)
        raise CutOffError

    Checkpoint.save = save  # type: ignore[method-assign]
    with contextlib.suppress(CutOffError):
        _from_shards(folder)
    os.rename(left, folder / ".out.unfinished")


def audit_content(folder: Path) -> Any:
    """The findings of an audit without its date and duration; None if there is none."""
    out = folder / "out"
    if not out.exists():
        return None
    summary = {key: value for key, value in json.loads((out / "audit.json").read_bytes()).items() if key != "run"}
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*"))
    tables = [(out / name).read_bytes() for name in ("corrected.csv", "suspects.csv")]
    return _digest([names, summary, [str(each) for each in tables]])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _nothing(folder: Path) -> None:
    pass


def _a_model(folder: Path) -> None:
    from noisybayes.data.simulate import simulate
    from noisybayes.estimators import BernoulliINB

    rows = simulate(40, n_features=5, n_classes=2, random_state=0)
    BernoulliINB().fit(rows.X, rows.y).save(folder / "given")


def _save_model(folder: Path) -> None:
    from noisybayes.estimators import load

    load(folder / "given").save(folder / "out")


def _export(folder: Path) -> None:
    import polars as pl

    from noisybayes.data.read import write_batches

    write_batches([pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})], folder / "out", "parquet")


def _file_content(folder: Path) -> Any:
    """A zip file contains its creation time, so only check whether there is a readable one, or none."""
    out = folder / "out"
    return None if not out.exists() else out.stat().st_size


def _desk(folder: Path) -> Any:
    """A review desk whose jobs run here, so that their operations count too."""
    from noisybayes.web import limited_process, table_jobs
    from noisybayes.web.desk import Desk
    from noisybayes.web.server_settings import Settings
    from noisybayes.web.store import Store, fits

    def here(job: str, arguments: Mapping[str, Any], memory: int, seconds: float, report_stage: Any) -> Any:
        return json.loads(json.dumps(table_jobs.JOBS[job](report_stage or (lambda stage: None), **arguments)))

    limited_process._run = here  # type: ignore[assignment]
    fits.LEASE_LASTS = timedelta(0)  # a killed server's fits are taken over at once
    return Desk(Store.open(f"sqlite:///{folder / 'desk.db'}"), Settings())


def _empty_store(folder: Path) -> None:
    _desk(folder).store.close()


def _import(folder: Path) -> None:
    desk = _desk(folder)
    if not desk.store.tables():
        desk.import_file("messages.csv", messages(_ROWS).encode())
    desk.guess_columns(1, "label")  # the next step cleans up
    desk.store.close()


def _tables_content(folder: Path) -> Any:
    from noisybayes.web.store import Store

    with Store.open(f"sqlite:///{folder / 'desk.db'}") as store:
        return [(table.name, table.n_rows, _digest(list(store.content(table.id)))) for table in store.tables()]


def _reviewed_table(folder: Path) -> None:
    desk = _desk(folder)
    table_id = desk.import_file("messages.csv", messages(_ROWS).encode())
    choice = desk._on_table("choose", table_id, chosen={"label": "label", "text": ["message"]})
    desk.store.set_roles(table_id, choice["roles"], choice["labels"])
    desk.jobs.start(table_id).join()
    for one in desk.store.queue(table_id, reviewer="ann", suspects_only=False)[:5]:
        desk.store.give_verdict(table_id, one.position, reviewer="ann", label="price", seen=0)
    desk.store.close()


def _refit(folder: Path) -> None:
    """Finish unfinished fits; if there are none, and no second fit is done, start one."""
    desk = _desk(folder)
    left = desk.store.take_over_fits(desk.jobs.owner)
    threads = [desk.jobs._begin(table_id, fit_id) for fit_id, table_id in left]
    if not left and desk.store.latest_fit(1).id == 1:
        threads = [desk.jobs.start(1)]
    for thread in threads:
        thread.join()
    desk.guess_columns(1, "label")
    desk.store.close()


def _review_content(folder: Path) -> Any:
    from noisybayes.web.store import Store

    with Store.open(f"sqlite:///{folder / 'desk.db'}") as store:
        fit = store.latest_fit(1)
        verdicts = sorted((one.position, one.label) for one in store.verdicts(1).values())
        content = {} if fit is None or fit.overview is None else fit.overview
        overview = {key: value for key, value in content.items() if key != "run"}
        queue = [tuple(one) for one in store.queue(1, reviewer="bob", suspects_only=False)]
        return _digest([verdicts, overview, queue])


SCENARIOS: dict[str, Scenario] = {
    "audit in memory": Scenario(_earlier_audit, _audit, _audit, audit_content),
    "audit from shards": Scenario(_earlier_audit, _from_shards, _resume_or_start, audit_content),
    "resumed audit": Scenario(_half_done, _resume_or_start, _resume_or_start, audit_content),
    "saved model": Scenario(_a_model, _save_model, _save_model, _file_content),
    "exported table": Scenario(_nothing, _export, _export, _file_content),
    "import": Scenario(_empty_store, _import, _import, _tables_content, statements=True),
    "refit": Scenario(_reviewed_table, _refit, _refit, _review_content, statements=True),
}


def enter(folder: Path) -> None:
    """Make the folder the working directory of this process and the place of its temporary files."""
    os.chdir(folder)
    (folder / "tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(folder / "tmp")
