"""The configuration of a bot: one YAML file with everything that is specific to a business."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..data.errors import InputError
from .catalogue_sources import read_sources
from .conditions import FACTS, Names, read_rule
from .config_steps import ordered_steps, slot_steps
from .config_values import Category, Columns, Config, Feature, Slot, Value
from .contacts import Contacts, read_contacts
from .dictionaries import Dictionary, read_dictionary
from .meanings import Meanings, read_meanings, with_examples
from .policy import Policy, read_policy
from .yaml_source import Entry, parse

SHIPPED = Path(__file__).with_name("configs")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SLOT_WORDS = ("either", "negations")
_SLOT_KEYS = ("question", "take", "values", "forget_with", "not_needed_when", "misspelt", *_SLOT_WORDS)
OPTIONS = "options"  # in the question of a slot: its possible values


def load_config(source: str | Path) -> Config:
    """Load a file, or a shipped configuration by its name: `cars_en`, `cars_zh`."""
    path = Path(source)
    if not path.exists() and str(source) in shipped_names():
        path = SHIPPED / f"{source}.yaml"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(
            f"there is no file {str(source)!r}; write one with `noisybayes bot init FILE`, "
            f"or use a shipped one: {', '.join(shipped_names())}"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{source} is a folder; name the configuration file in it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    config = replace(read_config(text, path.name), folder=path.parent)
    if config.meanings is None:
        return config
    return replace(config, meanings=with_examples(config.meanings, path.parent))


def shipped_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def read_config(text: str, file: str = "configuration") -> Config:
    """Check a configuration; errors name file, line and key."""
    top = parse(text, file)
    parts = top.fields(
        ("title", "language", "threshold", "handover", "words", "slots", "features", "categories"),
        ("columns", "contacts", "rules", "policy", "catalogue", "meanings"),
    )
    words = {name: read_dictionary(entry) for name, entry in parts["words"].named()}
    rule_entries = parts["rules"].named() if "rules" in parts else []
    feature_entries, slot_entries = parts["features"].named(), parts["slots"].named()
    for name, entry in [*rule_entries, *feature_entries]:
        _reject_taken_name(name, entry, [*words, *FACTS])
    for name, entry in feature_entries:
        _reject_taken_name(name, entry, [name for name, _ in rule_entries])
    values = {name: _values_of(entry) for name, entry in slot_entries}
    meanings = _meanings(parts["meanings"], words, slot_entries) if "meanings" in parts else None
    names = Names(
        words,
        frozenset(name for name, _ in [*rule_entries, *feature_entries]),
        values,
        _asked(slot_entries),
        () if meanings is None else (*meanings.names, *meanings.groups),
    )
    rules = {name: read_rule(entry, names) for name, entry in rule_entries}
    features = {name: _feature(name, entry, names) for name, entry in feature_entries}
    slots = {name: _slot(entry, names) for name, entry in slot_entries}
    if not features:
        parts["features"].fail("at least one feature is needed")
    fields: dict[str, Entry] = {}
    catalogue = read_sources(parts["catalogue"]) if "catalogue" in parts else ()
    categories = _categories(parts["categories"], slots, fields if catalogue else None, names)
    return Config(
        title=parts["title"].text(),
        language=parts["language"].text(),
        threshold=parts["threshold"].number(0, 1),
        handover=parts["handover"].text(),
        columns=_columns(parts["columns"]) if "columns" in parts else Columns(),
        contacts=read_contacts(parts["contacts"]) if "contacts" in parts else Contacts(),
        slots=slots,
        rules=rules,
        features=features,
        categories=categories,
        policy=read_policy(parts["policy"], names) if "policy" in parts else Policy(),
        catalogue=catalogue,
        fields=fields,
        meanings=meanings,
        words=words,
        steps=ordered_steps(rules, features, slots, dict([*rule_entries, *feature_entries, *slot_steps(slot_entries)])),
        source=text,
    )


def _reject_taken_name(name: str, entry: Entry, taken: list[str]) -> None:
    if name in taken:
        entry.fail(f"the name {name!r} is already used by a dictionary, a rule or a fact; choose another one")


def _meanings(entry: Entry, words: Mapping[str, Dictionary], slots: list[tuple[str, Entry]]) -> Meanings:
    names = Names(words, frozenset(), {})
    taken = {name: dict(slot.items()) for name, slot in slots}
    return read_meanings(
        entry, words, {name: _take(parts["take"], names) for name, parts in taken.items() if "take" in parts}
    )


def _columns(entry: Entry) -> Columns:
    parts = entry.fields((), ("dialog", "position", "message", "label", "true_label", "message_format"))
    kind = parts.pop("message_format", None)
    tokens = kind is not None and kind.choice(("text", "tokens"), "message format") == "tokens"
    return Columns(**{name: part.text() for name, part in parts.items()}, tokens=tokens)


def _values_of(entry: Entry) -> frozenset[str] | None:
    parts = dict(entry.items())
    return frozenset(name for name, _ in parts["values"].named()) if "values" in parts else None


def _asked(entries: list[tuple[str, Entry]]) -> frozenset[str]:
    return frozenset(name for name, entry in entries if "question" in dict(entry.items()))


def _slot(entry: Entry, names: Names) -> Slot:
    parts = entry.fields(("title",), _SLOT_KEYS)
    if ("take" in parts) == ("values" in parts):
        entry.fail("a slot needs either take (dictionaries) or values (conditions), but not both")
    take = _take(parts["take"], names) if "take" in parts else None
    values = {}
    for name, part in parts["values"].named() if "values" in parts else ():
        fields = part.fields(("title", "when"))
        values[name] = Value(fields["title"].text(), read_rule(fields["when"], names))
    forget = parts["forget_with"].choice(list(names.slots), "slot") if "forget_with" in parts else None
    if forget == entry.path[-1]:
        parts["forget_with"].fail("a slot cannot be forgotten together with itself")
    either, negations = (_take(parts[key], names) if key in parts else None for key in _SLOT_WORDS)
    return Slot(
        parts["title"].text(),
        _reply(parts["question"], [*names.slots, OPTIONS]) if "question" in parts else None,
        take,
        values,
        forget,
        read_rule(parts["not_needed_when"], names) if "not_needed_when" in parts else None,
        either,
        negations,
        _is_yes(parts, "misspelt"),
    )


def _is_yes(parts: Mapping[str, Entry], key: str) -> bool:
    return key in parts and parts[key].choice(("yes", "no"), "answer") == "yes"


def _take(entry: Entry, names: Names) -> Dictionary:
    names_taken = [part.choice(list(names.words), "dictionary") for part in entry.members()]
    if not names_taken:
        entry.fail("must name at least one dictionary")
    return Dictionary(tuple(pair for name in names_taken for pair in names.words[name].spellings))


def _feature(name: str, entry: Entry, names: Names) -> Feature:
    parts = entry.fields(("title", "when"), ("column",))
    column = parts["column"].text() if "column" in parts else name
    return Feature(parts["title"].text(), column, read_rule(parts["when"], names))


def _categories(
    entry: Entry, slots: Mapping[str, Slot], fields: dict[str, Entry] | None, names: Names
) -> dict[str, Category]:
    categories = {name: _category(name, part, slots, fields, names) for name, part in entry.named()}
    if len(categories) < 2:
        entry.fail(f"at least 2 categories are needed, got {len(categories)}")
    meanings: dict[str, str] = {}
    for name, part in entry.items():
        for label in {categories[name].label, name}:
            if meanings.setdefault(label, name) != name:
                part.fail(f"the label {label!r} is already used by {meanings[label]!r}; give each category its own")
    return categories


def _category(
    name: str, entry: Entry, slots: Mapping[str, Slot], fields: dict[str, Entry] | None, names: Names
) -> Category:
    parts = entry.fields(("title", "reply"), ("label", "needs", "asks", "answers", "notify"))
    reply = _reply(parts["reply"], slots, empty=True, fields=fields)

    def asked(part: Entry) -> str:
        slot = part.choice(list(slots), "slot")
        if slots[slot].question is None:
            part.fail(f"the slot {slot!r} has no question to ask; add one to slots.{slot}")
        return slot

    return Category(
        parts["title"].text(),
        parts["label"].text() if "label" in parts else name,
        reply,
        tuple(asked(part) for part in parts["needs"].members()) if "needs" in parts else (),
        asked(parts["asks"]) if "asks" in parts else None,
        _is_yes(parts, "notify"),
        read_rule(parts["answers"], names) if "answers" in parts else None,
    )


def _reply(entry: Entry, slots: Iterable[str], empty: bool = False, fields: dict[str, Entry] | None = None) -> str:
    """`fields`: collects the placeholders that only a catalogue can fill; None if there is no catalogue."""
    text = entry.text(empty)
    for placeholder in _PLACEHOLDER.findall(text):
        if placeholder not in slots:
            if fields is None:
                entry.fail(f"{{{placeholder}}} is not a slot; the slots are {', '.join(slots)}")
            fields.setdefault(placeholder, entry)
    return text
