"""Compose customer messages from the sentence patterns in dealership_messages."""

import re
from random import Random

import dealership_messages as texts

WORDS_MIN, WORDS_MAX = 5, 25
ALWAYS_CAPITAL = {"I", "AC", *texts.PAIRED_SLOT_VALUES["model", "own_model"], *texts.SLOT_VALUES["first"]}


def draw_slots(rng: Random) -> dict[str, str]:
    slots = {name: rng.choice(values) for name, values in texts.SLOT_VALUES.items()}
    for names, values in texts.PAIRED_SLOT_VALUES.items():
        slots.update(zip(names, rng.sample(values, 2), strict=True))
    slots["email"] = f"{slots['first'].lower()}{rng.randrange(1, 30)}@example.com"
    return slots


def fill_pattern(pattern: str, slots: dict[str, str], rng: Random) -> str:
    chosen = re.sub(r"\[([^\]]*)\]", lambda match: rng.choice(match[1].split("|")), pattern)
    sentence = " ".join(chosen.format_map(slots).split())
    return re.sub(r" ([?.,!])", r"\1", sentence)


def start_lower_case(sentence: str) -> str:
    first_word = re.split(r"[ ,']", sentence, maxsplit=1)[0]
    if first_word in ALWAYS_CAPITAL:
        return sentence
    return sentence[0].lower() + sentence[1:]


def type_carelessly(message: str, rng: Random) -> str:
    for right, wrong in texts.TYPOS.items():
        if rng.random() < 0.06:
            message = message.replace(right, wrong, 1)
    if rng.random() < 0.15:
        message = message.lower()
    if rng.random() < 0.10:
        message = message.replace("'", "")
    if rng.random() < 0.15:
        message = message.rstrip(".?!")
    return message


def compose_message(category: str, rng: Random) -> str:
    parts = [rng.choice(texts.MAIN_SENTENCES[category])]
    if rng.random() < 0.50:
        parts.append(rng.choice(texts.FOLLOW_UPS[category]))
    if rng.random() < 0.25:
        topic = rng.choice(texts.ASIDE_TOPICS[category])
        parts.insert(1, rng.choice(texts.ASIDES[topic]))
    if rng.random() < 0.15:
        parts.insert(0, rng.choice(texts.SMALL_TALK))
    if rng.random() < 0.25:
        parts.append(rng.choice(texts.SIGN_OFFS))
    slots = draw_slots(rng)
    sentences = [fill_pattern(part, slots, rng) for part in parts]
    if rng.random() < 0.40:
        greeting = rng.choice(texts.GREETINGS)
        if greeting.endswith(","):
            sentences[0] = start_lower_case(sentences[0])
        sentences.insert(0, greeting)
    return type_carelessly(" ".join(sentences), rng)


def draw_message(category: str, rng: Random) -> str:
    while True:
        message = compose_message(category, rng)
        if WORDS_MIN <= len(message.split()) <= WORDS_MAX:
            return message
