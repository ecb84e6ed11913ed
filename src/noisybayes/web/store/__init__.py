"""Storage of the review desk: tables, fits, findings, verdicts and chats, in SQLite or PostgreSQL.

`Store.open(url)` creates a store or upgrades an older one. Many threads and several processes may use it. Texts are
stored unchanged, except that null characters and unpaired surrogates, which not every database accepts, become
U+FFFD.
"""

from .accounts import ROLES, SESSION_LASTS, Account
from .store import Store
from .store_errors import Busy, Conflict, NotFound, StoreError, Unavailable
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
