"""A Celery consumer that survives outages of Redis, even while tasks run."""

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

# A worker has to be back within half a minute; Celery alone waits up to 30 s between two attempts.
LONGEST_WAIT_S = 4


class Consumer(CeleryConsumer):
    """Reconnects quickly and without a limit on attempts, even while tasks run."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Reconnect without restoring the messages of tasks that still run.

        kombu would restore them through the connection that it has just closed, and its AttributeError would end the
        worker, which would then wait idle for the tasks in its threads. The messages are nudges, so the next nudge
        replaces them.
        """
        channel = getattr(getattr(self, "task_consumer", None), "channel", None)
        if channel is not None:
            channel.do_restore = False
        super().on_connection_error_after_connected(exc)

    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(
            conn.ensure_connection, interval_start=1, interval_step=1, interval_max=LONGEST_WAIT_S
        )
        return super().ensure_connected(conn)
