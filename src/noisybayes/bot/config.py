"""The configuration of a bot: one block for each topic, in YAML. Errors name the file, the line and the key."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from ..data.errors import InputError
from .catalogue import Catalogue, Source
from .facts import PATTERNS, Facts, Slot
from .yaml_source import Entry, hint, parse, read_text

SHIPPED = Path(__file__).parent / "configs"
SHIPPED_NAMES, EXAMPLES_FILE = ("cars",), "examples.csv"
CONTINUES, CONTACT, OTHER, STOP = "details", "contact", "other", "stop"
#: Topics that do not count next to a question.
ASIDE = ("greeting", "thanks", "chatter", CONTINUES, CONTACT)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_NAMES = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
Texts = Mapping[str, str]  # by language; "" for all others


def in_language(texts: Texts, language: str) -> str:
    return texts.get(language) or texts.get("") or next(iter(texts.values()), "")


class Topic(NamedTuple):
    """One block of the file."""

    name: str
    reply: Texts = {}  # noqa: RUF012 - never changed
    examples: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # slots that are asked for even if no field depends on them
    notify: bool = False  # people must know
    mutes: bool = False  # the bot is silent until somebody has answered: danger and abuse
    public: bool = True  # also answered where everybody reads it


class Hours(NamedTuple):
    """Opening hours by day of the week, in minutes."""

    days: tuple[tuple[tuple[int, int], ...], ...]
    zone: ZoneInfo

    def next_opening(self, now: datetime) -> datetime | None:
        """None if the shop is open."""
        here = now.astimezone(self.zone)
        minute = 60 * here.hour + here.minute
        if any(start <= minute < end for start, end in self.days[here.weekday()]):
            return None
        midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
        openings = [(days, start) for days in range(8) for start, _ in self.days[(here.weekday() + days) % 7]
                    if days or start > minute]  # fmt: skip
        days, start = min(openings)
        return (midnight + timedelta(days=days)).replace(hour=start // 60, minute=start % 60)


@dataclass(frozen=True)
class Config:
    title: str
    language: str
    threshold: float
    own: tuple[str, ...]  # the shop's own contact details
    hours: Hours | None
    texts: Mapping[str, Texts]  # "handover", "closed", "noted"
    slots: tuple[Slot, ...]
    topics: Mapping[str, Topic]
    tests: tuple[str, ...]
    example_files: tuple[str, ...]
    sources: tuple[Source, ...]
    catalogue: Catalogue
    source: str
    folder: Path

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.slots, {slot.name: self.catalogue.values(slot.name) for slot in self.slots})

    def text(self, name: str, language: str) -> str:
        return in_language(self.texts[name], language)

    def closed(self, now: datetime, language: str) -> str:
        """What to add to a promise outside opening hours."""
        opening = None if self.hours is None else self.hours.next_opening(now)
        if opening is None:
            return ""
        day = _DAY_NAMES.get(language, _DAY_NAMES["en"])[opening.weekday()]
        return self.text("closed", language).replace("{opens}", f"{day} {opening:%H:%M}")

    def examples(self) -> Iterator[tuple[str, str, bool]]:
        """Message, topic, and whether it is from a topic's own block. Those of topics without one go to a person."""
        for name in self.example_files:
            path = self.folder / name
            for row in csv.DictReader(io.StringIO(read_text(path if path.exists() else SHIPPED / name))):
                if row.get("topic") and row.get("message"):
                    yield row["message"], row["topic"] if row["topic"] in self.topics else OTHER, False
        for topic in self.topics.values():
            for example in topic.examples:
                yield example, topic.name, True

    def files(self) -> dict[str, str]:
        """The files that a saved bot needs besides its configuration, with their content."""
        found = {source.name: read_text(self.folder / source.name) for source in self.sources if not source.url}
        names = [*self.tests, *(name for name in self.example_files if name != EXAMPLES_FILE)]
        return found | {name: read_text(self.folder / name) for name in names}


def load_config(source: str | Path) -> Config:
    """A configuration from a file, or a shipped one by its name."""
    path = SHIPPED / f"{source}.yaml" if str(source) in SHIPPED_NAMES else Path(source)
    if not path.is_file():
        raise InputError(
            f"there is no file {str(source)!r}; write one with `noisybayes bot init FILE`, or use a shipped one: "
            f"{', '.join(SHIPPED_NAMES)}"
        )
    return read_config(read_text(path), path.name, path.parent)


def read_config(text: str, file: str = "bot.yaml", folder: Path = SHIPPED) -> Config:
    root = parse(text, file)
    parts = root.fields(
        ("title", "topics"),
        ("language", "threshold", "contact", "hours", "timezone", "catalogue", "slots", "tests", "examples", "handover",
         "closed", "noted"),
    )  # fmt: skip
    defaults = parse(read_text(SHIPPED / "defaults.yaml"), "defaults.yaml").fields(
        ("handover", "closed", "noted", "topics")
    )
    topics = {name: _topic(name, entry, None) for name, entry in defaults["topics"].named()}
    for name, entry in parts["topics"].named():
        topics[name] = _topic(name, entry, topics.get(name))
    slots = tuple(_slot(name, entry) for name, entry in parts["slots"].named()) if "slots" in parts else ()
    sources = tuple(map(_source, parts["catalogue"].members())) if "catalogue" in parts else ()
    catalogue = Catalogue(tuple(slot.name for slot in slots), tuple(tuple(each.rows(folder)) for each in sources))
    texts = {name: _texts(parts.get(name, defaults[name])) for name in ("handover", "closed", "noted")}
    listed = {name: parts[name].texts() if name in parts else () for name in ("contact", "tests", "examples")}
    config = Config(
        parts["title"].text(), parts["language"].text() if "language" in parts else "en",
        _threshold(parts["threshold"]) if "threshold" in parts else 0.5, listed["contact"],
        _hours(parts["hours"], parts.get("timezone")) if "hours" in parts else None, texts, slots, topics,
        listed["tests"], (EXAMPLES_FILE, *listed["examples"]), sources, catalogue, text, folder,
    )  # fmt: skip
    _check(config, dict(parts["topics"].items()))
    return config


def _check(config: Config, entries: Mapping[str, Entry]) -> None:
    names = [slot.name for slot in config.slots]
    known, shipped = {*names, *config.catalogue.fields}, {topic for _, topic, _ in config.examples()}
    for topic in config.topics.values():
        entry = entries.get(topic.name)
        if entry is None:
            continue
        for need in topic.needs:
            if need not in names:
                entry.fail(f"there is no slot {need!r}; {hint(need, names)}")
        for field in (match[1] for text in topic.reply.values() for match in re.finditer(r"\{(\w+)\}", text)):
            if field not in known:
                entry.fail(f"{{{field}}} is neither a slot nor a column of the catalogue; {hint(field, sorted(known))}")
        if topic.name not in shipped and topic.name != CONTINUES:
            entry.fail("this topic needs examples: what customers write, three or more")


def _topic(name: str, entry: Entry, default: Topic | None) -> Topic:
    own: dict[str, Any] = {}
    parts = entry.fields((), ("reply", "examples", "needs", "notify", "mutes", "public"))
    for key, value in parts.items():
        if key == "reply":
            own[key] = _texts(value)
        else:
            own[key] = value.texts() if key in ("examples", "needs") else value.choice(("yes", "no"), "answer") == "yes"
    if default is None and "reply" not in own:
        entry.fail("the key 'reply' is missing here; add it (reply: \"\" says nothing)")
    return (default or Topic(name))._replace(**own)


def _slot(name: str, entry: Entry) -> Slot:
    parts = entry.fields(("ask",), ("values", "pattern"))
    values = {key: value.texts() for key, value in parts["values"].items()} if "values" in parts else {}
    pattern = parts["pattern"].choice(tuple(PATTERNS), "pattern") if "pattern" in parts else ""
    return Slot(name, _texts(parts["ask"]), values, pattern)


def _texts(entry: Entry) -> Texts:
    """A text for all languages, or one for each: {en: Hello, zh: 您好}."""
    if entry.kind == "a mapping":
        return {language: text.text(empty=True) for language, text in entry.items()}
    return {"": entry.text(empty=True)}


def _source(entry: Entry) -> Source:
    if entry.kind != "a mapping":
        return Source(entry.text())
    parts = entry.fields(("database", "table"))
    return Source(parts["table"].text(), parts["database"].text())


def _threshold(entry: Entry) -> float:
    if not re.fullmatch(r"0?\.\d+|[01](?:\.0*)?", entry.text()):
        entry.fail(f"must be a number from 0 to 1, got {entry.text()!r}")
    return float(entry.text())


def _hours(entry: Entry, zone: Entry | None) -> Hours:
    days: list[tuple[tuple[int, int], ...]] = [()] * 7
    for key, value in entry.items():
        first, _, last = key.partition("-")
        if first not in _DAYS or (last or first) not in _DAYS:
            value.fail(f"{key!r} is not a day or a range of days; write {', '.join(_DAYS)} or mon-fri")
        times = re.fullmatch(r"(\d{1,2}):(\d\d) ?- ?(\d{1,2}):(\d\d)", value.text())
        if times is None or max(int(times[1]), int(times[3])) > 24:
            value.fail(f"{value.text()!r} are not opening hours; write 9:00-18:00")
        minutes = [60 * int(times[i]) + int(times[i + 1]) for i in (1, 3)]
        for day in range(_DAYS.index(first), _DAYS.index(last or first) + 1):
            days[day] = (*days[day], (minutes[0], minutes[1]))
    if not any(days):
        entry.fail("there is no day with opening hours")
    try:
        return Hours(tuple(days), ZoneInfo(zone.text() if zone else "UTC"))
    except (ValueError, OSError, KeyError):
        assert zone is not None
        zone.fail(f"there is no time zone {zone.text()!r}; write one like Europe/Berlin")
