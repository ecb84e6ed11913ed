"""Dialogs of the bot."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from .column_types import clean_text, now
from .conversations import Conversation, TurnEffects, begin_conversation, write_effects
from .prepared import Direct, Prepared
from .schema import dialog, turn
from .store_errors import Conflict, NotFound
from .store_part import Part, check_name
from .values import ChatTurn, DialogInfo


class Chats(Part):
    def start_dialog(self, dialog_id: str, state: dict[str, Any]) -> None:
        check_name("dialog", dialog_id)
        values = {"id": dialog_id, "state": state, "n_turns": 0, "created": now()}
        try:
            with self._database.write(durable=False) as connection:
                connection.execute(insert(dialog).values(values))
        except IntegrityError:
            raise Conflict(f"the dialog {dialog_id!r} already exists; choose another name") from None

    def dialog(self, dialog_id: str) -> DialogInfo:
        turns = select(turn).where(turn.c.dialog_id == dialog_id).order_by(turn.c.ordinal)
        with self._database.read() as connection:
            row = connection.execute(select(dialog).where(dialog.c.id == dialog_id)).one_or_none()
            if row is None:
                raise _no_dialog(dialog_id)
            return _info(row)._replace(turns=[_turn(one) for one in connection.execute(turns)])

    def add_turn(
        self,
        dialog_id: str,
        *,
        seen: int,
        state: dict[str, Any],
        message: str,
        category: str,
        title: str,
        confidence: float,
        handover: bool,
        reply: str,
        fired: list[str],
        effects: TurnEffects | None = None,
        begins: Conversation | None = None,
    ) -> ChatTurn:
        """Add the turn after the `seen` ones, and the new state; Conflict if other turns were added in the meantime.

        `begins`: the conversation that starts with this turn; Conflict if the person already has one.
        """
        added = ChatTurn(
            seen + 1, clean_text(message), clean_text(category), clean_text(title), float(confidence), bool(handover),
            clean_text(reply), [clean_text(rule) for rule in fired], now(),
        )  # fmt: skip
        try:
            with self._database.write_directly() as direct:
                if begins is None:
                    _go_on(direct, dialog_id, seen, state)
                else:
                    _DIALOG.run(direct, {"id": dialog_id, "state": state, "n_turns": 1, "created": added.created})
                    begin_conversation(direct, begins)
                _TURN.run(direct, {"dialog_id": dialog_id, **added._asdict()})
                if effects is not None:
                    write_effects(direct, dialog_id, seen + 1, effects)
        except IntegrityError:
            raise Conflict("another server answered this person at the same time; send the message again") from None
        return added

    def chat_counts(self) -> tuple[int, int]:
        """Numbers of dialogs and turns."""
        with self._database.read() as connection:
            row = connection.execute(select(func.count(), func.coalesce(func.sum(dialog.c.n_turns), 0))).one()
        return int(row[0]), int(row[1])

    def dialogs(self, limit: int = 50) -> list[DialogInfo]:
        """Newest first, without their turns."""
        newest = select(dialog).order_by(dialog.c.created.desc(), dialog.c.id).limit(limit)
        with self._database.read() as connection:
            return [_info(row) for row in connection.execute(newest)]


_DIALOG, _TURN = Prepared.insert(dialog), Prepared.insert(turn)
_NEXT = Prepared(
    update(dialog)
    .where(dialog.c.id == bindparam("of_dialog"), dialog.c.n_turns == bindparam("seen"))
    .values(state=bindparam("after"), n_turns=dialog.c.n_turns + 1)
)
_N_TURNS = Prepared(select(dialog.c.n_turns).where(dialog.c.id == bindparam("of_dialog")))


def _go_on(direct: Direct, dialog_id: str, seen: int, state: dict[str, Any]) -> None:
    """The count enforces the order: of two concurrent updates, the second no longer matches the row."""
    if _NEXT.run(direct, {"of_dialog": dialog_id, "seen": seen, "after": state}):
        return
    there = _N_TURNS.row(direct, {"of_dialog": dialog_id})
    if there is None:
        raise _no_dialog(dialog_id)
    raise Conflict(f"the dialog {dialog_id!r} now has {there[0]} turns, not {seen}; read it again")


def _no_dialog(dialog_id: str) -> NotFound:
    return NotFound(f"there is no dialog {dialog_id!r}; start one first")


def _info(row: Row[Any]) -> DialogInfo:
    return DialogInfo(row.id, row.state, [], row.created, row.n_turns)


def _turn(row: Row[Any]) -> ChatTurn:
    return ChatTurn(
        row.ordinal, row.message, row.category, row.title, row.confidence, row.handover, row.reply, row.fired,
        row.created,
    )  # fmt: skip
