"""Write dealership_dialogs.csv: dialogs with a fictional car dealership, with partly wrong labels.

A customer wants something, gives more or fewer details about the car, answers questions and may leave a number. The
true label of a message is what the dealership should do next, by the bot's flow chart; labelers then make mistakes.

Usage: python examples/make_dialogs.py [--out PATH]
"""

import argparse
import csv
from pathlib import Path
from random import Random
from typing import NamedTuple

from dealership_composer import fill_pattern, type_carelessly
from dealership_messages import PAIRED_SLOT_VALUES, SLOT_VALUES
from dialog_messages import ANSWERS, CONDITIONS, MESSAGES

SEED = 20240702
DIALOGS = 250
DEFAULT_OUT = Path(__file__).parents[1] / "src" / "noisybayes" / "bot" / "configs" / "dealership_dialogs.csv"

Row = tuple[int, int, str, str, str]

# Topics that need car, condition and configuration, and how often they come up.
ABOUT_A_CAR: dict[str, float] = {"total_cost": 5, "car_price": 2, "discount": 3, "availability": 3}
OTHER: dict[str, float] = {
    "loan": 2, "other": 3, "greeting": 3, "address": 1.2, "license_plate": 1, "assign_salesperson": 1, "statement": 1.5,
}  # fmt: skip
# Categories of topics that are not categories themselves.
CATEGORY = {"loan": "ask_for_contact", "other": "ask_for_contact", "greeting": "which_car", "contact": "contact_left",
            "chat": "ignore"}  # fmt: skip

# True category -> {category chosen by mistake: probability}; the rest goes to the right label.
LABELER_MISTAKES: dict[str, dict[str, float]] = {
    "total_cost": {"car_price": 0.12, "which_configuration": 0.05, "discount": 0.03},
    "car_price": {"total_cost": 0.25, "discount": 0.05},
    "discount": {"car_price": 0.14, "which_configuration": 0.08},
    "availability": {"which_configuration": 0.12, "ask_for_contact": 0.06},
    "ask_for_contact": {"which_car": 0.12, "ignore": 0.06, "total_cost": 0.05},
    "which_car": {"ignore": 0.10, "new_or_used": 0.05},
    "new_or_used": {"which_configuration": 0.12, "total_cost": 0.10},
    "which_configuration": {"new_or_used": 0.10, "total_cost": 0.10},
    "assign_salesperson": {"ask_for_contact": 0.15},
    "contact_left": {"ignore": 0.03},
    "ignore": {"which_car": 0.10, "ask_for_contact": 0.04},
    "license_plate": {"address": 0.10},
    "address": {"ask_for_contact": 0.12},
}


class Known(NamedTuple):
    car: bool = False
    condition: str = ""
    configuration: bool = False
    contact: bool = False


def next_step(topic: str, known: Known) -> str:
    """The flow chart."""
    if topic not in ABOUT_A_CAR:
        return CATEGORY.get(topic, topic)
    if not known.car:
        return "which_car"
    if not known.condition:
        return "new_or_used"
    return topic if known.condition == "used" or known.configuration else "which_configuration"


class Customer:
    """Writes messages one by one, each with its true label."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.known = Known()
        self.slots = {name: rng.choice(values) for name, values in SLOT_VALUES.items()}
        for names, values in PAIRED_SLOT_VALUES.items():
            self.slots.update(zip(names, rng.sample(values, 2), strict=True))
        self.slots["email"] = f"{self.slots['first'].lower()}{rng.randrange(1, 30)}@example.com"
        self.condition = rng.choices(["new", "used"], [3, 1])[0]

    def say(self, pattern: str, topic: str) -> tuple[str, str]:
        slots = self.slots | {"condition": self.rng.choice(CONDITIONS[self.condition])}
        self.known = self.known._replace(
            car=self.known.car or "{model}" in pattern or "{car}" in pattern,
            contact=self.known.contact or topic == "contact",
        )
        message = fill_pattern(pattern, slots, self.rng)
        return type_carelessly(message, self.rng), next_step(topic, self.known)

    def open(self, topic: str) -> tuple[str, str]:
        return self.say(self.described(self.rng.choice(MESSAGES[topic])), topic)

    def described(self, pattern: str) -> str:
        """Replaces {car} with the details that this customer gives at once."""
        if "{car}" not in pattern:
            return pattern
        words = "{model}"
        if not self.known.condition and self.rng.random() < 0.45:
            words = "{condition} " + words
            self.known = self.known._replace(condition=self.condition)
        if self.condition == "new" and not self.known.configuration and self.rng.random() < 0.4:
            words += " {trim}"
            self.known = self.known._replace(configuration=True)
        return pattern.replace("{car}", words)

    def answer(self, question: str, topic: str) -> tuple[str, str]:
        pattern = self.described(self.rng.choice(ANSWERS[question]))
        self.known = self.known._replace(
            condition=self.condition if question == "new_or_used" else self.known.condition,
            configuration=self.known.configuration or question == "which_configuration",
        )
        return self.say(pattern, topic)


def hold_dialog(rng: Random) -> list[tuple[str, str]]:
    customer = Customer(rng)
    topics = ABOUT_A_CAR | OTHER
    topic = rng.choices(list(topics), list(topics.values()))[0]
    if topic == "statement":
        message, _ = customer.open("statement")
        topic = "total_cost"  # a customer who only names a car gets its price
        turns = [(message, next_step(topic, customer.known))]
    else:
        turns = [customer.open(topic)]
    while turns[-1][1] in ANSWERS and len(turns) < 5 and rng.random() < 0.85:
        topic = topic if topic in ABOUT_A_CAR else "total_cost"
        turns.append(customer.answer(turns[-1][1], topic))
    if rng.random() < 0.3:
        turns.append(customer.open(rng.choice(["loan", "discount", "total_cost", "address", "license_plate", "other"])))
    if rng.random() < 0.45:
        turns.append(customer.open("contact"))
    if rng.random() < 0.25:
        turns.append(customer.open("chat"))
    return turns


def choose_label(true_label: str, rng: Random) -> str:
    mistakes = LABELER_MISTAKES[true_label]
    return rng.choices([true_label, *mistakes], [1 - sum(mistakes.values()), *mistakes.values()])[0]


def make_rows(rng: Random) -> list[Row]:
    return [
        (dialog, position, message, choose_label(true_label, rng), true_label)
        for dialog in range(1, DIALOGS + 1)
        for position, (message, true_label) in enumerate(hold_dialog(rng), 1)
    ]


def write_csv(rows: list[Row], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dialog", "position", "message", "label", "true_label"])
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the dialogs of the example bot.")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="file to write (default: %(default)s)")
    out = parser.parse_args().out

    rows = make_rows(Random(SEED))
    write_csv(rows, out)
    wrong = sum(label != true_label for *_, label, true_label in rows)
    print(f"dialogs: {DIALOGS}")
    print(f"messages: {len(rows)}")
    print(f"wrong labels: {wrong / len(rows):.1%}")


if __name__ == "__main__":
    main()
