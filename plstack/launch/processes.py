"""What each platform process does once it has been forked (see `zygote`). Order is the order of starting."""

import os
from collections.abc import Callable
from pathlib import Path

import uvicorn

from plstack.asgi import application
from plstack.celery import app as celery_app

QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"]
GRACE_SECONDS = 3


def web() -> None:
    """Pages, API and WebSockets. Proxy headers are not believed: nothing stands in front of this server."""
    uvicorn.run(
        application,
        host=os.environ["PLSTACK_HOST"],
        port=int(os.environ["PLSTACK_PORT"]),
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def worker() -> None:
    celery_app.worker_main(
        ["worker", "-n", "worker@%h", "-Q", "reconcile,default", "--pool", "threads", "--concurrency", "4", *QUIET]
    )


def scheduler() -> None:
    celery_app.worker_main(["worker", "-n", "scheduler@%h", "-Q", "scheduler", "--pool", "solo", *QUIET])


def beat() -> None:
    schedule = Path(os.environ["PLSTACK_HOME"]) / "run" / "beat-schedule"
    celery_app.start(["beat", "--schedule", str(schedule), "--pidfile=", "--loglevel", "INFO"])


PROCESSES: dict[str, Callable[[], None]] = {"web": web, "worker": worker, "scheduler": scheduler, "beat": beat}
