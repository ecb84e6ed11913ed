"""Tables with findings, for the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from noisybayes.web.store import ChatTurn, Finding, Store

STRANGE_TEXTS = [
    "",
    'it\'s "quoted" \\ %s :name ?',
    "emoji 👩‍👩‍👧 and 中文 and עברית",
    "line\nbreaks\r\n\ttabs",
    "'; DROP TABLE verdict; --",
    "long " * 200_000,
]
NO_TEXTS = {"zero\0byte": "zero\ufffdbyte", "half \ud83d of a pair": "half \ufffd of a pair"}


def finding(position: int, **changes: Any) -> Finding:
    """A suspect, given a, suggested b."""
    plain = Finding(position, f"id{position}", "a", "b", 0.9, 0.8, True, {"text": f"row {position}"})
    return plain._replace(**changes)


def fitted_table(store: Store, findings: Sequence[Finding] = (), name: str = "made") -> int:
    table_id = store.add_table(name, b"content", max(len(findings), 1), ["text", "label"])
    refit(store, table_id, findings)
    return table_id


def refit(store: Store, table_id: int, findings: Sequence[Finding]) -> None:
    store.finish_fit(store.start_fit(table_id), {"rows": len(findings)}, findings)


def give(store: Store, table_id: int, position: int, label: str = "b", *, reviewer: str = "ann", seen: int = 0) -> int:
    return store.give_verdict(table_id, position, reviewer=reviewer, label=label, seen=seen).id


def say(store: Store, dialog_id: str, seen: int, **changes: Any) -> ChatTurn:
    turn: dict[str, Any] = {
        "state": {"turns": seen + 1}, "message": "hello", "category": "greeting", "title": "Greeting",
        "confidence": 0.75, "handover": False, "reply": "hi", "fired": ["rule 1"],
    }  # fmt: skip
    return store.add_turn(dialog_id, seen=seen, **{**turn, **changes})


def at_once(n: int, work: Callable[[int], Any]) -> list[Any]:
    """What `n` threads that start together return, or the errors they raise."""
    start = Barrier(n)

    def run(number: int) -> Any:
        start.wait()
        try:
            return work(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))
