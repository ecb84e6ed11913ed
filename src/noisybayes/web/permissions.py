"""What each role may do.

A viewer looks, a reviewer gives labels and talks to bots, a salesperson sees contact details and answers customers, an
admin changes and removes things.
"""

from __future__ import annotations

import re

from .store import ROLES, Account

SAFE = ("GET", "HEAD", "OPTIONS")
_OF_EVERYBODY = re.compile(r"/(login|logout|reviewer)")
_OF_REVIEWERS = re.compile(
    r"/api/tables/\d+/(verdicts|accept|undo|fit)|/t/\d+/(verdict|accept|undo|refit|fit)|(/api)?/chat(/[^/]*)?|/learn"
    r"|/api/bots/[^/]+/messages"
)
_OF_SALES = re.compile(r"/handover/\d+|/api/handovers/\d+/answer|/leads\.csv")


def least_role(method: str, path: str) -> str:
    """Everything that is not listed requires an admin."""
    if method in SAFE or _OF_EVERYBODY.fullmatch(path):
        return "viewer"
    if _OF_REVIEWERS.fullmatch(path):
        return "reviewer"
    return "salesperson" if _OF_SALES.fullmatch(path) else "admin"


def may(account: Account, role: str) -> bool:
    return ROLES.index(account.role) >= ROLES.index(role)


def may_see_contacts(account: Account) -> bool:
    """Even masked ones: the last digits of a number or the host of an address can identify a person."""
    return may(account, "salesperson")
