"""Have a periodic task run now. A nudge that is lost costs seconds: the next turn finds the same rows."""

import logging

from celery import current_app
from kombu.exceptions import KombuError

log = logging.getLogger(__name__)


def send(task: str, *, queue: str = "default", expires_s: int = 5) -> None:
    try:
        current_app.send_task(task, queue=queue, expires=expires_s, retry=False)
    except (KombuError, OSError, RuntimeError):
        log.warning("nudge lost: %s", task)
