"""Storage of the review desk: tables, fits, findings and verdicts, in SQLite or PostgreSQL.

`Store.open(url)` opens a store, or creates it. Many threads and several processes may use it. Texts are
stored unchanged, except that null characters and unpaired surrogates, which not every database accepts, become
U+FFFD.
"""

from .accounts import ROLES, SESSION_LASTS, Account
from .store import Store
from .values import (
    Busy,
    Conflict,
    Finding,
    FitInfo,
    NoLabel,
    NotFound,
    ReviewProgress,
    StoreError,
    TableInfo,
    Unavailable,
    Verdict,
)

__all__ = [
    "ROLES",
    "SESSION_LASTS",
    "Account",
    "Busy",
    "Conflict",
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
