"""What each role may do. A viewer looks, a reviewer gives verdicts, an admin changes tables."""

from __future__ import annotations

import re

from .store import ROLES, Account

SAFE = ("GET", "HEAD", "OPTIONS")
_OF_EVERYBODY = re.compile(r"/(login|logout|reviewer)")
_OF_REVIEWERS = re.compile(
    r"/api/tables/\d+/(verdicts|accept|undo|fit)|/t/\d+/(verdict|accept|undo|refit|fit)|(/api)?/chat(/[^/]*)?"
)


def least_role(method: str, path: str) -> str:
    """What is not listed is for admins."""
    if method in SAFE or _OF_EVERYBODY.fullmatch(path):
        return "viewer"
    return "reviewer" if _OF_REVIEWERS.fullmatch(path) else "admin"


def may(account: Account, role: str) -> bool:
    return ROLES.index(account.role) >= ROLES.index(role)
