"""Write dealership.csv: customer messages to a car dealership, with partly wrong labels and their labelers.

Usage: python examples/make_dealership.py [--out PATH]
"""

import argparse
import csv
from pathlib import Path
from random import Random

from dealership_composer import draw_message
from dealership_labelers import LABELERS, draw_labeler, draw_times

# Labelers and times have a separate seed, so that messages and labels do not depend on them.
SEED, LABELERS_SEED = 20240611, 20241117
COLUMNS = ["id", "message", "label", "true_label", "labeler", "received"]
DEFAULT_OUT = Path(__file__).with_name("dealership.csv")

Message = tuple[int, str, str, str]
Row = tuple[int, str, str, str, str, str]

MESSAGES_PER_CATEGORY: dict[str, int] = {
    "price": 380, "discount": 170, "financing": 250, "trade_in": 200, "test_drive": 280, "availability": 300,
    "configuration": 190, "used_cars": 220, "service_repair": 180, "opening_hours_location": 120,
    "contact_left": 110,
}  # fmt: skip

# True category -> {category chosen by mistake: probability}; the rest goes to the right label.
LABELER_MISTAKES: dict[str, dict[str, float]] = {
    "price": {"discount": 0.05, "financing": 0.03, "availability": 0.02},
    "discount": {"price": 0.30, "financing": 0.04},
    "financing": {"price": 0.18, "discount": 0.04},
    "trade_in": {"used_cars": 0.25, "price": 0.05},
    "test_drive": {"availability": 0.07, "contact_left": 0.03},
    "availability": {"configuration": 0.07, "used_cars": 0.03, "test_drive": 0.02},
    "configuration": {"availability": 0.26, "price": 0.06},
    "used_cars": {"trade_in": 0.09, "availability": 0.06, "price": 0.03},
    "service_repair": {"opening_hours_location": 0.03, "contact_left": 0.02},
    "opening_hours_location": {"service_repair": 0.03, "test_drive": 0.03},
    "contact_left": {"test_drive": 0.10, "price": 0.08, "service_repair": 0.04},
}


def choose_label(true_label: str, rng: Random) -> str:
    mistakes = LABELER_MISTAKES[true_label]
    labels = [true_label, *mistakes]
    weights = [1 - sum(mistakes.values()), *mistakes.values()]
    return rng.choices(labels, weights)[0]


def make_messages(rng: Random) -> list[Message]:
    true_labels = [label for label, count in MESSAGES_PER_CATEGORY.items() for _ in range(count)]
    rng.shuffle(true_labels)
    return [
        (row_id, draw_message(label, rng), choose_label(label, rng), label)
        for row_id, label in enumerate(true_labels, start=1)
    ]


def add_labelers(messages: list[Message], rng: Random) -> list[Row]:
    return [
        (*message, draw_labeler(label, true_label, LABELER_MISTAKES[true_label], when, rng), f"{when:%Y-%m-%d %H:%M}")
        for message, when in zip(messages, draw_times(len(messages), rng), strict=True)
        for *_, label, true_label in [message]
    ]


def write_csv(rows: list[Row], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the car dealership example data.")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="file to write (default: %(default)s)")
    out = parser.parse_args().out

    rows = add_labelers(make_messages(Random(SEED)), Random(LABELERS_SEED))
    write_csv(rows, out)
    wrong = [label != true_label for _, _, label, true_label, *_ in rows]
    print(f"rows: {len(rows)}")
    print(f"categories: {len(MESSAGES_PER_CATEGORY)}")
    print(f"wrong labels: {sum(wrong) / len(rows):.1%}")
    for labeler in LABELERS:
        own = [is_wrong for is_wrong, row in zip(wrong, rows, strict=True) if row[4] == labeler.name]
        third = len(own) // 3
        print(
            f"{labeler.name}: {len(own)} rows, {sum(own) / len(own):.0%} wrong"
            f" (first third {sum(own[:third]) / third:.0%}, last third {sum(own[-third:]) / third:.0%})"
        )


if __name__ == "__main__":
    main()
