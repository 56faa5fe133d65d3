"""Heartbeats of the platform's processes: servers prove their work in the event loop, Celery in its tasks."""

import asyncio
from typing import Any

from celery import Task, bootsteps
from celery.beat import PersistentScheduler

from apps.common.heartbeats import Evidence, Heartbeat, LoopEvidence, QueueEvidence, WorkEvidence

queue_evidence = QueueEvidence()
beat_evidence = WorkEvidence()


class WithHeartbeat:
    """Wrap an ASGI application: while its process lives, it proves that its event loop turns and that it `serves`."""

    def __init__(
        self, kind: str, application: Any, *, serves: Evidence = lambda: True, has_lifespan: bool = False
    ) -> None:
        self.application, self.has_lifespan = application, has_lifespan
        self.loop = LoopEvidence(serves)
        self.heart = Heartbeat(kind, self.loop)

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


class HeartbeatTask(Task):  # type: ignore[type-arg]
    """The base class of all tasks: a task that has run proves that its queue is served."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        delivery = self.request.delivery_info or {}
        with queue_evidence.running(str(delivery.get("routing_key"))):
            return super().__call__(*args, **kwargs)


class HeartStep(bootsteps.StartStopStep):
    """Start a worker's heartbeat, whose kind is the part of the worker's name before the @: `worker@host`."""

    requires = ("celery.worker.components:Pool",)

    def start(self, parent: Any) -> None:
        queue_evidence.expect(parent.app.amqp.queues.consume_from, parent.concurrency)
        Heartbeat(parent.hostname.partition("@")[0], queue_evidence).start()


class HeartbeatScheduler(PersistentScheduler):
    """The scheduler of beat: each message that it sends proves its work."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        Heartbeat("beat", beat_evidence).start()

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        sent = super().apply_async(*args, **kwargs)
        beat_evidence.done()
        return sent
