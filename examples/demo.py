"""Audit the dealership's messages, and compare the result with the true labels, which the audit never sees."""

from __future__ import annotations

import csv
import shlex
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from noisybayes import audit
from noisybayes.cli.terminal import terminal_lines
from noisybayes.report.phrases import percent

DATA = Path(__file__).with_name("dealership.csv")


def main() -> None:
    console = Console(highlight=False)
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-audit")
    start = time.perf_counter()
    found = audit(DATA, label="label", text="message", id="id", labeler="labeler")
    found.save(out)
    seconds = time.perf_counter() - start

    for line, style in terminal_lines(found.summary(), console.width, out, None):
        console.print(line, style=style, markup=False, soft_wrap=True)

    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    true, labeler = (np.array([row[name] for row in rows]) for name in ("true_label", "labeler"))
    table = found.to_polars()
    wrong = table["given"].to_numpy() != true
    suspect_rows = table["suspect"].to_numpy()
    hits = int(wrong[suspect_rows].sum())
    console.print(
        f"\nCompared with the true labels, which the audit never saw: {wrong.sum()} labels are wrong; {hits} of the "
        f"{suspect_rows.sum()} suspects are among them (precision "
        f"{percent(hits / suspect_rows.sum())}, recall {percent(hits / wrong.sum())})."
    )
    console.print(
        f"Right labels before: {percent(np.mean(~wrong))}, after automatic corrections: "
        f"[bold]{percent(np.mean(table['corrected'].to_numpy() == true))}[/bold]."
    )
    shares = ", ".join(
        f"{name} {percent(wrong[labeler == name].mean())}" for name in found.to_polars("groups")["group"]
    )
    console.print(f"True shares of wrong labels: {shares}.")
    command = shlex.join(["noisybayes", "audit", "examples/dealership.csv", "--labeler", "labeler", "--out", str(out)])
    console.print(f"\nAudited in {seconds:.1f} s. To run it from the command line: [bold]{command}[/bold]")


if __name__ == "__main__":
    main()
