"""A way out of the house for one message, and how it went."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

LONGEST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class Message:
    """`key` is the same however often it is tried. `html` is empty where the way out has none."""

    to: str
    subject: str
    text: str
    html: str = ""
    key: str = ""
    logo: bytes = b""  # a PNG that the HTML shows as `cid:logo`


class Outcome(StrEnum):
    """`UNKNOWN`: handed over, but the answer is missing; trying again might send it twice."""

    SENT = "sent"
    LATER = "later"  # not taken now, the other side may take it later
    REFUSED = "refused"  # never will be taken
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Result:
    """`detail`: what the other side said, for the administrator."""

    outcome: Outcome
    detail: str = ""


class Unreachable(Exception):
    """The server cannot be used now; nothing has been handed over."""


class Gateway(Protocol):
    """Opened once for a number of messages, used by one thread."""

    def open(self) -> None:
        """Connect and sign in; raises `Unreachable`."""

    def send(self, message: Message) -> Result:
        """Hand over one message. Raises nothing that has to do with the other side."""

    def close(self) -> None: ...


def said(error: BaseException) -> str:
    """An error of the other side in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:LONGEST_DETAIL]
