"""The order in which rules, features and slots are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .conditions import Rule
from .config_values import Feature, Slot
from .yaml_source import Entry


def slot_steps(entries: list[tuple[str, Entry]]) -> list[tuple[str, Entry]]:
    return [(f"slot {name}", entry) for name, entry in entries]


def ordered_steps(
    rules: Mapping[str, Rule], features: Mapping[str, Feature], slots: Mapping[str, Slot], entries: Mapping[str, Entry]
) -> tuple[tuple[str, Rule | Slot], ...]:
    """Sort the steps so that each comes after those it uses; reject cycles."""
    uses = {name: rule.uses for name, rule in rules.items()}
    uses |= {name: feature.when.uses for name, feature in features.items()}
    for name, slot in slots.items():
        needed = frozenset().union(*(value.when.uses for value in slot.values.values()))
        uses[f"slot {name}"] = needed | ({f"slot {slot.forget_with}"} if slot.forget_with else frozenset())
    order: dict[str, None] = {}
    visit = _visitor(uses, entries, order)
    for step in uses:
        visit(step, ())
    named: dict[str, tuple[str, Rule | Slot]] = {name: (name, rule) for name, rule in rules.items()}
    named |= {name: (name, feature.when) for name, feature in features.items()}
    named |= {f"slot {name}": (name, slot) for name, slot in slots.items()}
    return tuple(named[step] for step in order)


def _visitor(
    uses: Mapping[str, frozenset[str]], entries: Mapping[str, Entry], order: dict[str, None]
) -> Callable[[str, tuple[str, ...]], None]:
    def visit(step: str, above: tuple[str, ...]) -> None:
        if step in order:
            return
        if step in above:
            circle = " -> ".join([*above[above.index(step) :], step])
            entries[step].fail(f"this depends on itself ({circle}); remove one of these conditions")
        for needed in sorted(uses[step]):
            visit(needed, (*above, step))
        order[step] = None

    return visit
