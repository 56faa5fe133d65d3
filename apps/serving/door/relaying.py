"""What is done with a request whose caller is known: limited, counted, and led to a replica."""

import asyncio
import math
import time
from dataclasses import dataclass, field

from apps.serving.door.admitting import Caller, Limits
from apps.serving.door.balancing import Balance
from apps.serving.door.bodies import Body, ClientGone, TooLarge
from apps.serving.door.call import CLIENT_GONE, Call
from apps.serving.door.counting import Counter
from apps.serving.door.in_flight import InFlight
from apps.serving.door.passing import Exchange, Refused
from apps.serving.door.refusing import Refusal
from apps.serving.door.routes import Route, Routes
from apps.workloads.gateway import upstream
from apps.workloads.gateway.relay import Receive

MOST_OPEN = 4000
"""Requests that one process holds: each may keep its body in memory, see `bodies.WHOLE_BYTES`."""
HOLD_S, LOOK_EVERY_S = 3.0, 0.1
"""How long a request waits for the first replica of a service that runs: one that was lost is replaced meanwhile."""
RETRY_S = 3


@dataclass(slots=True)
class Relay:
    """Of one process, for both kinds of addresses."""

    routes: Routes
    limits: Limits = field(default_factory=Limits)
    counter: Counter = field(default_factory=Counter)
    balance: Balance = field(default_factory=Balance)
    in_flight: InFlight = field(default_factory=InFlight)
    pool: upstream.Connections = field(default_factory=upstream.Connections)
    _open: int = 0

    async def carry(self, call: Call, caller: Caller, route: Route, receive: Receive) -> None:
        for limit, refusal in (
            (self.limits.tokens_wait_ms, Refusal.TOO_MANY_TOKENS),
            (self.limits.wait_ms, Refusal.TOO_OFTEN),
        ):
            if wait_ms := await limit(caller):
                self.counter.refused(caller.key_id, route.service_id)
                await call.refuse(refusal, math.ceil(wait_ms / 1000))
                return
        if self._open >= MOST_OPEN:
            self.counter.refused(caller.key_id, route.service_id)
            await call.refuse(Refusal.BUSY, RETRY_S)
            return
        self._open += 1
        try:
            with self.in_flight.counted(route.service_id):
                await self._pass_on(call, route, receive)
        finally:
            self._open -= 1
            self.counter.answered(caller.key_id, route.service_id, call.status, call.written(route.label))
            if call.tokens is not None and 200 <= call.status < 300:
                told = call.tokens.told()
                self.counter.spent(caller.key_id, route.service_id, told)
                if told is not None:
                    await asyncio.shield(self.limits.spend(caller, sum(told)))

    async def _pass_on(self, call: Call, route: Route, receive: Receive) -> None:
        found = await self._with_replicas(route)
        if not found.replicas:
            await call.refuse(Refusal.STARTING if found.is_started else Refusal.STOPPED, RETRY_S)
            return
        if call.announced > found.body_limit:
            await call.refuse(Refusal.TOO_LARGE)
            return
        body = Body(receive, found.body_limit, found.timeout_s)
        exchange = Exchange(
            self.pool, self.balance, found, call.scope, body, call.tell, list(call.more), call.request_id
        )
        try:
            await body.read_first()
            await exchange.run()
        except TooLarge:
            await call.refuse(Refusal.TOO_LARGE)
        except ClientGone:
            call.status = call.status or CLIENT_GONE
        except Refused as error:
            await call.refuse(error.refusal, RETRY_S)

    async def _with_replicas(self, route: Route) -> Route:
        """The route, once a replica is well; as it is where none becomes so in time, or nothing is started."""
        found, end = route, time.monotonic() + HOLD_S
        while found.is_started and not found.replicas and time.monotonic() < end:
            await asyncio.sleep(LOOK_EVERY_S)
            found = await self.routes.get(route.label) or found
        return found
