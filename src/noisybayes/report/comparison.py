"""What changed between two audits: two versions of a data set, or before and after correcting its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from ..audit.rates import AT_LEAST
from .phrases import Summary, count, percent, plural

_MOST_NAMED = 5
# Smaller changes of a share are not listed.
_LEAST_CHANGE = 0.005
_LEAST_ROWS = 1.0


class Change(NamedTuple):
    """The change of one quantity."""

    name: str
    before: float
    after: float


class Comparison(NamedTuple):
    rows: Change
    wrong: Change  # estimated share of wrong labels
    at_least: Change  # wrong labels that can be relied on
    suspects: Change
    classes: list[Change]  # share of wrong labels by label, largest change first
    pairs: list[Change]  # expected rows, largest change first
    new_classes: list[str]
    gone_classes: list[str]
    new_suspects: list[Mapping[str, Any]]
    gone_suspects: list[Mapping[str, Any]]  # corrected, removed, or no longer suspicious

    @property
    def rise(self) -> float:
        """The increase of the share of wrong labels that can be relied on."""
        return self.at_least.after - self.at_least.before

    def to_dict(self) -> dict[str, Any]:
        def plain(value: Any) -> Any:
            if isinstance(value, Change):
                return value._asdict()
            return [plain(item) for item in value] if isinstance(value, list) else value

        return {**{name: plain(value) for name, value in self._asdict().items()}, "rise": self.rise}


def compare(before: Summary, after: Summary) -> Comparison:
    """Compare two summaries. Suspects are matched by identifier or, without one, by content."""
    key = _identity(before["suspects"], after["suspects"])
    old, new = (Counter(map(key, summary["suspects"])) for summary in (before, after))
    known, now = set(before["classes"]), set(after["classes"])
    return Comparison(
        Change("rows", before["n_rows"], after["n_rows"]),
        Change("wrong labels", before["wrong"]["estimate"], after["wrong"]["estimate"]),
        Change("wrong labels at least", *_at_least(before, after)),
        Change("suspects", before["n_suspects"], after["n_suspects"]),
        _changes(_shares(before), _shares(after), _LEAST_CHANGE, both=True),
        _changes(_pairs(before), _pairs(after), _LEAST_ROWS),
        sorted(now - known),
        sorted(known - now),
        _without(after["suspects"], key, old),
        _without(before["suspects"], key, new),
    )


def _at_least(*summaries: Summary) -> list[float]:
    """The lower ends of random checks if all have them, else what nine in ten real data sets exceed."""
    wrong = [summary["wrong"] for summary in summaries]
    if all(each["random"] for each in wrong):
        return [each["random"]["low"] for each in wrong]
    return [AT_LEAST * each["estimate"] for each in wrong]


def _identity(*lists: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], Hashable]:
    every = [suspect for suspects in lists for suspect in suspects]
    if all(suspect.get("id") is not None for suspect in every):
        return lambda suspect: str(suspect["id"])
    if all(suspect["cells"] for suspect in every):
        return lambda suspect: tuple(suspect["cells"].items())
    return lambda suspect: int(suspect["row"])


def _without(
    suspects: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Hashable], known: Counter[Hashable]
) -> list[Mapping[str, Any]]:
    left = Counter(known)
    unmatched: list[Mapping[str, Any]] = []
    for suspect in suspects:
        if left[key(suspect)]:
            left[key(suspect)] -= 1
        else:
            unmatched.append({name: suspect[name] for name in ("row", "id", "given", "suggested", "p_wrong")})
    return unmatched


def _shares(summary: Summary) -> dict[str, float]:
    return {row["label"]: row["wrong"] for row in summary["by_class"]}


def _pairs(summary: Summary) -> dict[str, float]:
    return {f"{pair['given']!r} instead of {pair['true']!r}": pair["rows"] for pair in summary["confused_pairs"]}


def _changes(old: Mapping[str, float], new: Mapping[str, float], least: float, both: bool = False) -> list[Change]:
    names = [name for name in new if name in old] if both else list(dict.fromkeys([*new, *old]))
    changes = [Change(name, old.get(name, 0.0), new.get(name, 0.0)) for name in names]
    return sorted((one for one in changes if abs(one.after - one.before) >= least), key=lambda one: -_size(one))


def _size(change: Change) -> float:
    return abs(change.after - change.before)


def comparison_text(comparison: Comparison) -> str:
    """A short summary."""
    wrong, suspects = comparison.wrong, comparison.suspects
    lines = [
        f"Labels that look wrong: {percent(wrong.before)} before, {percent(wrong.after)} after "
        f"({_signed(100 * (wrong.after - wrong.before))} points).",
        f"Wrong at least: {percent(comparison.at_least.before)} before, {percent(comparison.at_least.after)} after "
        f"({_signed(100 * comparison.rise)} points).",
        f"Rows: {count(comparison.rows.before)} before, {count(comparison.rows.after)} after. "
        f"Suspects: {count(suspects.before)} before, {count(suspects.after)} after; "
        f"{count(len(comparison.new_suspects))} new, {count(len(comparison.gone_suspects))} fixed or removed.",
    ]
    for title, names in (("New labels", comparison.new_classes), ("Removed labels", comparison.gone_classes)):
        if names:
            lines.append(f"{title}: {_named(list(map(repr, names)))}")
    if comparison.pairs:
        lines += ["", "Confused pairs, expected rows before and after"]
        lines += [f"  {one.name}: {one.before:,.0f}, {one.after:,.0f}" for one in comparison.pairs[:_MOST_NAMED]]
    if comparison.classes:
        lines += ["", "Share of wrong labels by label, before and after"]
        lines += [
            f"  {one.name}: {percent(one.before)}, {percent(one.after)}" for one in comparison.classes[:_MOST_NAMED]
        ]
    if comparison.new_suspects:
        lines += [
            "",
            f"New suspects ({plural(len(comparison.new_suspects), 'row')})",
            *map(_line, comparison.new_suspects[:5]),
        ]
    return "\n".join(lines)


def _line(suspect: Mapping[str, Any]) -> str:
    row = suspect["row"] if suspect["id"] is None else f"{suspect['row']} ({suspect['id']})"
    return f"  row {row}: {suspect['given']!r}, suggested {suspect['suggested']!r}, {percent(suspect['p_wrong'])}"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")
