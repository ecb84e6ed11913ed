"""Contact details in messages: found however they are written, masked everywhere, and stored encrypted."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import NamedTuple

from .._extras import require
from ..data.errors import InputError

MASK = "[contact]"
VARIABLE = "NOISYBAYES_LEADS_KEY"
_LEAST_DIGITS = 7
_DIGIT_OF = dict(zip("零〇幺一二两三四五六七八九", "0011223456789", strict=True)) | dict(
    zip(
        ("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), "00123456789",
        strict=True,
    )
)  # fmt: skip
_CHINESE_DIGIT, _SPOKEN = "零〇幺一二两三四五六七八九", "zero|oh|one|two|three|four|five|six|seven|eight|nine"
_DIGIT = rf"(?:\d|[{_CHINESE_DIGIT}]|(?<![a-z])(?:{_SPOKEN})(?![a-z]))"
_SEPARATOR = r"[ ().,，。/\-–—_·…]{0,4}"
_NUMBER = rf"(?<!\d)(?:(?<![a-z])|(?=\d\d))\+?\(?{_DIGIT}(?:{_SEPARATOR}{_DIGIT}){{6,}}"
_AT, _DOT = r"(?:@| ?[(\[{]at[)\]}] ?| at )", r"(?:\.| ?[(\[{]dot[)\]}] ?| dot )"
_HOST = rf"[\w\-]{{1,63}}(?:{_DOT}[a-z][\w\-]{{1,62}}){{1,4}}"
# "cheaper at cars.com" is no address, "tom at cars dot com" is
_MAIL = rf"[\w.+\-]{{1,64}}(?:(?! at ){_AT}{_HOST}| at [\w\-]{{1,63}}(?: dot [a-z][\w\-]{{1,62}}){{1,4}})"
_APP = (
    r"wechat|weixin|vx|telegram|instagram|insta|ig|whatsapp|signal|snapchat|facebook|扣扣|qq|加v信?|"
    r"(?<![a-z\d])v信?(?=[:=])|[微威薇]信"
)
_SAYS = r"(?:\s|号|id|name|handle|number|is|是|同号|我)*"
_ID = r"[a-z0-9][a-z0-9_.\-]{3,30}"
# a name after "is" or ":", or one with a digit or an underscore: "add me on whatsapp please" has none
_NAME = rf"(?:{_APP}){_SAYS}(?:(?:[:=]|\bis\b)\s*@?(?P<said>{_ID})|@?(?P<name>(?=[a-z.\-]*[\d_]){_ID}))"
_NAME_AFTER = r"(?P<before>(?<![a-z0-9])[a-z][a-z0-9_\-]{4,30})\s*(?:是我|这是我)?的?[微威薇]信号?(?![a-z:])"
_HANDLE = r"(?<![\w.])@[a-z][a-z0-9_.]{3,30}"
# amounts, ranges of years, dates, and numbers of orders are not contact details
_OTHER = (
    r"(?:19|20)\d\d ?[-–~至到] ?(?:19|20)\d\d(?!\d)|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|[$€£¥] ?\d[\d,.]*|"
    r"\d{1,3}(?:,\d{3})+(?!\d)|(?:order|invoice|contract|reference|ref|vin|订单|合同|发票|单号)[^\d]{0,12}\d[\d\-]*"
)
_EVERYWHERE = re.compile(f"(?P<other>{_OTHER})|(?P<mail>{_MAIL})|(?P<app>{_NAME})|(?P<app2>{_NAME_AFTER})|"
                         f"(?P<handle>{_HANDLE})|(?P<number>{_NUMBER})", re.IGNORECASE)  # fmt: skip
#: A number that is asked about, not left: "is 614-555-0101 your number?"
_ASKED = re.compile(
    r"\b(?:is|was)\b.{0,40}\byour\b|\byour (?:phone |cell )?(?:number|phone)\b|你们的?(?:电话|号码|手机)|是你们|你们家"
)
_ONLY_DIGITS = re.compile(rf"[\s+]*{_DIGIT}(?:{_SEPARATOR}{_DIGIT}){{2,9}}[\s.!]*", re.IGNORECASE)
_PIECE = re.compile(rf"(?<![\d$€£¥.,]){_DIGIT}(?:[ ().\-]{{0,3}}{_DIGIT}){{2,9}}[\s.…]*$", re.IGNORECASE)


class Found(NamedTuple):
    text: str  # contact details masked
    details: tuple[str, ...]  # as the customer can be reached
    piece: str  # digits at the end that may be the first half of a number


def find(message: str, own: Collection[str] = (), piece: str = "") -> Found:
    """own : the shop's own numbers and addresses; piece : the digits at the end of the message before"""
    message = unicodedata.normalize("NFKC", message)
    own_keys = {_key(each) for each in own}
    is_asked = _ASKED.search(message.casefold()) is not None
    details: list[str] = []

    def hide(match: re.Match[str]) -> str:
        detail = match["said"] or match["name"] or match["before"] or match[0].strip(" .,，。-–—…(")
        if match["other"] or (match["number"] and not _is_number(detail)):
            return match[0]
        if _key(detail) not in own_keys and not (is_asked and match["number"]):
            details.append(_written(detail))
        return match[0].replace(detail, MASK)

    masked = _EVERYWHERE.sub(hide, message)
    if not details and not any(map(str.isdigit, message)):
        return Found(masked, (), "")
    whole = _digits(message)
    if not details and piece and _ONLY_DIGITS.fullmatch(message) and _LEAST_DIGITS <= len(piece + whole) <= 15:
        return Found(MASK, (piece + whole,), "")
    rest = _PIECE.search(masked)
    is_piece = rest is not None and not details and _ONLY_DIGITS.fullmatch(rest[0])
    return Found(masked, tuple(dict.fromkeys(details)), _digits(rest[0]) if rest and is_piece else "")


def shown(contact: str) -> str:
    """Just enough to recognize a contact: ***42, ***@example.com."""
    name, at, host = contact.strip().rpartition("@")
    return f"***@{host}" if at and name else "***" + re.sub(r"\W", "", contact)[-2:]


def _is_number(text: str) -> bool:
    """Spoken digits count only in a row of their own: "one or two" and 一二线 are words."""
    return len(_digits(text)) >= _LEAST_DIGITS


def _written(detail: str) -> str:
    if "@" in detail and " " not in detail:
        return detail
    if _is_number(detail) and not re.search(r"[a-z]{6,}|@", re.sub(_SPOKEN, "", detail.casefold())):
        return _digits(detail) if re.search(rf"[{_CHINESE_DIGIT}]|{_SPOKEN}", detail.casefold()) else detail
    return re.sub(_DOT, ".", re.sub(_AT, "@", detail, flags=re.IGNORECASE), flags=re.IGNORECASE)


def _digits(text: str) -> str:
    found = re.findall(rf"\d|[{_CHINESE_DIGIT}]|{_SPOKEN}", text.casefold())
    return "".join(each if each.isdecimal() and each.isascii() else _DIGIT_OF.get(each, "") for each in found)


def _key(contact: str) -> str:
    digits = _digits(contact)
    return digits[-10:] if len(digits) >= _LEAST_DIGITS and "@" not in contact else contact.casefold()


class ContactKey:
    """One key, or several (the first encrypts, all decrypt), so that a key can be replaced."""

    def __init__(self, keys: str) -> None:
        fernet = require("cryptography.fernet", extra="web", purpose="encryption of contact details")
        self._refused = fernet.InvalidToken
        try:
            self._fernet = fernet.MultiFernet([fernet.Fernet(key.strip()) for key in keys.split(",")])
        except ValueError:
            raise InputError(f"{VARIABLE} is not a valid key; create one with `noisybayes bot key`") from None

    def encrypt(self, contact: str) -> str:
        return str(self._fernet.encrypt(contact.encode()).decode())

    def decrypt(self, stored: str) -> str:
        try:
            return str(self._fernet.decrypt(stored.encode()).decode())
        except self._refused:
            raise InputError(
                f"a contact was encrypted with another key; append that key to {VARIABLE} after a comma"
            ) from None


def new_key() -> str:
    fernet = require("cryptography.fernet", extra="web", purpose="encryption of contact details")
    return str(fernet.Fernet.generate_key().decode())


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
