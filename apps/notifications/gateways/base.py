"""The interface of channels: send one message, and report the outcome."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

LONGEST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class Message:
    """`key` stays the same over all tries. `html` is empty for channels without HTML."""

    to: str
    subject: str
    text: str
    html: str = ""
    key: str = ""
    logo: bytes = b""  # a PNG that the HTML shows as `cid:logo`


class Outcome(StrEnum):
    """`UNKNOWN`: handed over without an answer, so that another try might send it twice."""

    SENT = "sent"
    LATER = "later"  # not taken now, the other side may take it later
    REFUSED = "refused"  # never will be taken
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Result:
    """`detail`: the server's answer, for the administrator."""

    outcome: Outcome
    detail: str = ""


class Unreachable(Exception):
    """The server cannot be used now; nothing has been handed over."""


class Gateway(Protocol):
    """Opened once for a number of messages, used by one thread."""

    def open(self) -> None:
        """Connect and sign in; raises `Unreachable`."""

    def send(self, message: Message) -> Result:
        """Hand over one message. Failures of the server are returned, not raised."""

    def close(self) -> None: ...


def error_text(error: BaseException) -> str:
    """A server's error in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:LONGEST_DETAIL]
