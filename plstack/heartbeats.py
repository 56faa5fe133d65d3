"""Where the processes of the platform give evidence of their work: servers in their event loop, Celery in its tasks."""

import asyncio
from typing import Any

from celery import Task, bootsteps
from celery.beat import PersistentScheduler

from apps.common.heartbeats import Did, Evidence, Heart, Loop, Tasks

tasks = Tasks()
sending = Did()


class Beating:
    """An ASGI application whose process proves that its event loop turns, and `serves`, for as long as it lives."""

    def __init__(
        self, kind: str, application: Any, *, serves: Evidence = lambda: True, has_lifespan: bool = False
    ) -> None:
        self.application, self.has_lifespan = application, has_lifespan
        self.loop = Loop(serves)
        self.heart = Heart(kind, self.loop)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self.application(scope, receive, send)
            return
        self.heart.start()
        turning = asyncio.create_task(self.loop.turn_forever())
        try:
            await (self.application(scope, receive, send) if self.has_lifespan else _lifespan(receive, send))
        finally:
            turning.cancel()


async def _lifespan(receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


class ProvenTask(Task):  # type: ignore[type-arg]
    """The class of all tasks: one that has run proves that its queue is served."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        delivery = self.request.delivery_info or {}
        with tasks.running(str(delivery.get("routing_key"))):
            return super().__call__(*args, **kwargs)


class HeartStep(bootsteps.StartStopStep):
    """A worker's heart, of the kind that its name begins with: `worker@host`."""

    requires = ("celery.worker.components:Pool",)

    def start(self, parent: Any) -> None:
        tasks.expect(parent.app.amqp.queues.consume_from, parent.concurrency)
        Heart(parent.hostname.partition("@")[0], tasks).start()


class ProvenScheduler(PersistentScheduler):
    """Beat's: what it has sent proves it."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        Heart("beat", sending).start()

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        sent = super().apply_async(*args, **kwargs)
        sending.done()
        return sent
