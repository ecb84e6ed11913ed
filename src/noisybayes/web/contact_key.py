"""Contact details are encrypted with a key from the environment before they are stored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from ..data.errors import InputError

VARIABLE = "NOISYBAYES_LEADS_KEY"
_SHOWN = 2  # last characters, which are shown


class ContactKey:
    """One key, or several (the first encrypts, all decrypt), so that a key can be replaced."""

    def __init__(self, keys: str) -> None:
        self.keys = keys
        try:
            self._fernet = MultiFernet([Fernet(key.strip()) for key in keys.split(",")])
        except ValueError:
            raise InputError(f"{VARIABLE} is not a valid key; create one with `noisybayes bot key`") from None

    def encrypt(self, contact: str) -> str:
        return self._fernet.encrypt(contact.encode()).decode()

    def decrypt(self, stored: str) -> str:
        try:
            return self._fernet.decrypt(stored.encode()).decode()
        except InvalidToken:
            raise InputError(
                f"a contact was encrypted with another key; append that key to {VARIABLE} after a comma"
            ) from None


def new_key() -> str:
    return Fernet.generate_key().decode()


def key_from(environment: Mapping[str, str] = os.environ, *, demo: bool = False) -> ContactKey:
    """The demo, whose store is temporary, gets a temporary key."""
    keys = environment.get(VARIABLE)
    if keys:
        return ContactKey(keys)
    if demo:
        return ContactKey(new_key())
    raise InputError(
        "a bot stores contact details encrypted, so it needs a key: create one with "
        f"`noisybayes bot key`, set {VARIABLE} to it and keep it in a safe place"
    )


def masked(contact: str) -> str:
    """Just enough to recognise a contact: ***42, ***@example.com."""
    name, at, host = contact.strip().rpartition("@")
    if at and name:
        return f"***@{host}"
    return "***" + re.sub(r"\W", "", contact)[-_SHOWN:]
