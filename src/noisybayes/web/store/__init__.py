"""What the review application keeps: tables, fits, findings, verdicts and chats, in SQLite or PostgreSQL.

`Store.open(url)` makes a store or brings an older one up to date. A store may be used by many threads and by several
processes. Texts are kept as they are, but for zero characters and halves of characters, which no database holds alike:
they become U+FFFD.
"""

from .accounts import ROLES, SESSION_LASTS, Account
from .errors import Busy, Conflict, NotFound, StoreError, Unavailable
from .store import Store
from .values import ChatTurn, DialogInfo, Finding, FitInfo, NoLabel, ReviewProgress, TableInfo, Verdict

__all__ = [
    "ROLES",
    "SESSION_LASTS",
    "Account",
    "Busy",
    "ChatTurn",
    "Conflict",
    "DialogInfo",
    "Finding",
    "FitInfo",
    "NoLabel",
    "NotFound",
    "ReviewProgress",
    "Store",
    "StoreError",
    "TableInfo",
    "Unavailable",
    "Verdict",
]
