"""One request at the door, and what becomes of it."""

import logging
import re
import time
import uuid
from dataclasses import dataclass, field

from apps.serving.door.passing import REQUEST_ID
from apps.serving.door.refusing import Refusal, refuse
from apps.serving.door.tokens import Tokens
from apps.workloads.gateway import headers
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.relay import Message, Scope, Send

log = logging.getLogger("plstack.serving.door")

GIVEN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
CLIENT_GONE = 499
"""As other proxies log it: nobody was left to be answered."""


@dataclass(slots=True)
class Call:
    """`status`: 0 while nothing was answered. `tokens`: reads along what the answer says of them, where it may."""

    scope: Scope
    send: Send
    request_id: str = ""
    came_at: float = field(default_factory=time.monotonic)
    began_at: float | None = None
    status: int = 0
    more: Headers = field(default_factory=list)
    tokens: Tokens | None = None

    def __post_init__(self) -> None:
        self.request_id = _request_id(self.scope["headers"])
        self.more = [(REQUEST_ID, self.request_id.encode())]

    @property
    def announced(self) -> int:
        """How many bytes are to come, as far as the caller says."""
        said = headers.get(self.scope["headers"], b"content-length") or "0"
        return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else 0

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.began_at = message["status"], time.monotonic()
        elif self.tokens is not None:
            self.tokens.feed(message.get("body", b""))
        await self.send(message)

    async def refuse(self, refusal: Refusal, retry_after_s: int | None = None) -> None:
        if not self.status:
            await refuse(
                refusal,
                self.scope["headers"],
                self.tell,
                more=self.more,
                request_id=self.request_id,
                retry_after_s=retry_after_s,
            )

    def written(self, label: str) -> float:
        """A line in the log; returns after how many ms the answer began, or the call ended without one."""
        took_ms = ((self.began_at or time.monotonic()) - self.came_at) * 1000
        log.info(
            "%s %s %s %s %d %.1f ms", self.request_id, label, self.scope["method"], self.scope["path"], self.status,
            took_ms,
        )  # fmt: skip
        return took_ms


def _request_id(incoming: Headers) -> str:
    """The caller's own, where it can stand in a log."""
    given = headers.get(incoming, REQUEST_ID) or ""
    return given if GIVEN_ID.fullmatch(given) else uuid.uuid4().hex
