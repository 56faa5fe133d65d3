"""One request and its answer: to the replica that has the least to do, and to another one where that does no harm."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

import httpcore

from apps.serving.door import addresses, cors
from apps.serving.door.balancing import Balance
from apps.serving.door.bodies import Body, ClientGone, TooLarge
from apps.serving.door.refusing import Refusal
from apps.serving.door.routes import Replica, Route
from apps.workloads.gateway import headers, upstream
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.relay import Scope, Send, target_of

REQUEST_ID = b"x-request-id"
NEVER_BEGAN = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout)
BROKE = (httpcore.ProtocolError, httpcore.NetworkError)


class Refused(Exception):
    """The caller has not been answered, and has to be told this."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


@dataclass(slots=True)
class Exchange:
    """`more`: what the door adds to the answer's headers. `status`: 0 until the answer begins."""

    pool: upstream.Connections
    balance: Balance
    route: Route
    scope: Scope
    body: Body
    send: Send
    more: Headers
    request_id: str
    status: int = 0
    _tried: set[UUID] = field(default_factory=set)
    _fresh: bool = False

    async def run(self) -> None:
        """Until the answer is whole or the caller leaves. Raises `Refused` while the caller can still be told.

        An answer that breaks off later is left incomplete, which the server turns into a broken connection: it must
        not look whole.
        """
        passing = asyncio.create_task(self._pass_on())
        gone = asyncio.create_task(self.body.gone())
        try:
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                passing.result()
        finally:
            for task in (passing, gone):
                task.cancel()
            await asyncio.gather(passing, gone, return_exceptions=True)

    async def _pass_on(self) -> None:
        refusal = Refusal.STARTING
        while (replica := self.balance.choose(self.route.replicas, self._tried)) is not None:
            self._tried.add(replica.attempt_id)
            try:
                with self.balance.counted(replica):
                    await self._to(replica)
                return
            except NEVER_BEGAN:
                self.balance.avoid(replica)
                refusal = Refusal.BROKEN
                if not self.body.is_whole and self.body.was_begun:
                    break
            except BROKE as error:
                if self.status:
                    raise
                self._avoid(replica, error)
                refusal = Refusal.BROKEN
                if not (self.route.repeatable and self.body.is_whole):
                    raise Refused(refusal) from error
            except httpcore.TimeoutException as error:
                if self.status:
                    raise
                raise Refused(Refusal.SILENT) from error
        raise Refused(refusal)

    def _avoid(self, replica: Replica, error: Exception) -> None:
        """Ask another one next. One that closed what it kept may be well: it is asked again, by a new connection."""
        if isinstance(error, upstream.Stale):
            self._tried.discard(replica.attempt_id)
            self._fresh = True
        else:
            self.balance.avoid(replica)

    async def _to(self, replica: Replica) -> None:
        try:
            response = await self.pool.handle_async_request(self._request(replica))
        except TooLarge as error:
            raise Refused(Refusal.TOO_LARGE) from error
        except ClientGone:
            return
        try:
            self.status = response.status
            await self.send({"type": "http.response.start", "status": response.status, "headers": self._told(response)})
            async for chunk in response.aiter_stream():
                async with asyncio.timeout(self.route.timeout_s):
                    await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
            await self.send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()

    def _request(self, replica: Replica) -> httpcore.Request:
        host, port = upstream.authority(replica.endpoint)
        incoming: Headers = list(self.scope["headers"])
        silence = self.route.timeout_s
        times = {"connect": upstream.CONNECT_S, "pool": upstream.CONNECT_S, "read": silence, "write": silence}
        return httpcore.Request(
            self.scope["method"],
            httpcore.URL(scheme=b"http", host=host, port=port, target=target_of(self.scope)),
            headers=self._asked(incoming),
            content=self.body.__aiter__() if _has_body(incoming) else None,
            extensions={"timeout": times, "fresh": self._fresh},
        )

    def _asked(self, incoming: Headers) -> Headers:
        """What the replica is told: neither the key nor any cookie."""
        told = headers.to_program(incoming, addresses.netloc(self.route.label).encode())
        kept = [(name, value) for name, value in told if name not in (b"authorization", b"cookie", REQUEST_ID)]
        if headers.get(incoming, b"transfer-encoding") is not None:
            kept.append((b"transfer-encoding", b"chunked"))
        return [*kept, (REQUEST_ID, self.request_id.encode())]

    def _told(self, response: httpcore.Response) -> Headers:
        found = headers.to_browser(response.headers)
        return [(name, value) for name, value in found if name not in cors.ANSWERED and name != REQUEST_ID] + self.more


def _has_body(incoming: Headers) -> bool:
    names = (b"content-length", b"transfer-encoding")
    return any(headers.get(incoming, name) is not None for name in names)
