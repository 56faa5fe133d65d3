"""What each platform process does once it has been forked (see `zygote`).

In two stages, because the pages need no Celery worker to be loaded and people wait for the pages.
"""

import importlib
import os
from collections.abc import Callable
from pathlib import Path

import uvicorn
from celery.utils.nodenames import host_format

from apps.workloads.gateway.sockets import LARGEST_MESSAGE
from plstack.asgi import application
from plstack.celery import app as celery_app
from plstack.gateway import application as gateway_application

GRACE_SECONDS = 3


def web() -> None:
    """Pages, API and WebSockets. Proxy headers are not believed: nothing stands in front of this server."""
    uvicorn.run(
        application,
        host=os.environ["PLSTACK_HOST"],
        port=int(os.environ["PLSTACK_PORT"]),
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def gateway() -> None:
    """What people run, each on an origin of its own, and the way out of their programs."""
    uvicorn.run(
        gateway_application,
        host=os.environ["PLSTACK_HOST"],
        port=int(os.environ["PLSTACK_GATEWAY_PORT"]),
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        access_log=False,
        log_config=None,
        ws_max_size=LARGEST_MESSAGE,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def worker() -> None:
    _work("worker", ["reconcile", "default"], pool="threads", concurrency=4)


def scheduler() -> None:
    _work("scheduler", ["scheduler"], pool="solo", concurrency=1)


def files() -> None:
    """Copies, archives and measuring of people's files. By name, as `ssh` is."""
    importlib.import_module("plstack.files").main()


def beat() -> None:
    schedule = Path(os.environ["PLSTACK_HOME"]) / "run" / "beat-schedule"
    celery_app.Beat(schedule=str(schedule), loglevel="INFO", quiet=True).run()


def ssh() -> None:
    """The front door for SSH clients. By name: it is loaded with the task workers, after the pages are there."""
    importlib.import_module("plstack.ssh").main()


def _work(name: str, queues: list[str], pool: str, concurrency: int) -> None:
    """Straight to the worker: Celery's command line would load a shell's worth of modules into each process."""
    node = celery_app.Worker(
        hostname=host_format(f"{name}@%h"),
        queues=queues,
        pool_cls=pool,
        concurrency=concurrency,
        loglevel="INFO",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    node.start()
    raise SystemExit(node.exitcode)


PAGES: dict[str, Callable[[], None]] = {"web": web, "gateway": gateway}
TASKS: dict[str, Callable[[], None]] = {"worker": worker, "scheduler": scheduler, "files": files, "beat": beat}
if os.environ.get("PLSTACK_SSH_PORT") != "0":
    TASKS["ssh"] = ssh
