"""What the store contains after a stream: nothing may be lost or duplicated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .result_files import Row


def accounts(store: Path, n_messages: int, taken: list[int]) -> Row:
    """Whether every message has one turn, and every turn its lead, handover and events."""
    from sqlalchemy import func, select

    from noisybayes.web.store import Store
    from noisybayes.web.store.bot_schema import handover, lead, outgoing, received
    from noisybayes.web.store.schema import turn

    with Store.open(f"sqlite:///{store}") as opened, opened._database.read() as connection:

        def number(query: Any) -> int:
            return int(connection.execute(query).scalar_one())

        answered = number(select(func.count()).select_from(received))
        turns = number(select(func.count()).select_from(turn))
        leads = number(select(func.count()).select_from(lead))
        with_contact = number(select(func.count()).select_from(turn).where(turn.c.message.contains("[contact]")))
        without_lead = number(
            select(func.count()).select_from(turn)
            .outerjoin(lead, (lead.c.dialog_id == turn.c.dialog_id) & (lead.c.ordinal == turn.c.ordinal))
            .where(turn.c.message.contains("[contact]"), lead.c.id.is_(None))
        )  # fmt: skip
        waiting = number(select(func.coalesce(func.sum(handover.c.n_messages), 0)))
        handed = number(select(func.count()).select_from(turn).where(turn.c.handover))
        events = {row.id for row in connection.execute(select(outgoing.c.id))}
    return {
        "lost": n_messages - answered, "doubled": turns - answered, "leads": leads, "with_contact": with_contact,
        "leads_lost": without_lead, "handovers_lost": handed - waiting, "events": len(events),
        "events_lost": len(events - set(taken)), "events_repeated": len(taken) - len(set(taken)),
    }  # fmt: skip
