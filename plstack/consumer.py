"""Celery's consumer, which has to outlive Redis whatever its tasks do meanwhile."""

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

# A worker has to be back within half a minute; Celery alone waits up to 30 s between two attempts.
LONGEST_WAIT_S = 4


class Consumer(CeleryConsumer):
    """Reconnects also while tasks run, soon, and for as long as it takes."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Messages of tasks that still run are not put back.

        kombu would do so through the connection that it has just taken apart, and its AttributeError ends the worker;
        which then waits for the tasks in its threads, alive and doing nothing. The messages are nudges: what they would
        say, the next one says.
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
