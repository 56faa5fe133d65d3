"""The main functions of the platform's processes, called after the fork (see `zygote`).

They start in two stages, because people wait for the pages and these need no Celery worker.
"""

import importlib
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import uvicorn
from celery.utils.nodenames import host_format

from apps.workloads.gateway.sockets import LARGEST_MESSAGE
from plstack.asgi import application
from plstack.celery import app as celery_app
from plstack.gateway import application as gateway_application
from plstack.launch.layout import web_names

GRACE_SECONDS = 3
BACKLOG = 2048
STARTUP_FAILURE = 3  # uvicorn's own status
WEB = web_names(int(os.environ.get("PLSTACK_WEB_PROCESSES", "1")))


class SharedPort:
    """The port that several web processes accept from, opened before they are forked.

    A port that each opened for itself (SO_REUSEPORT) could be taken by any program of the same account, and what had
    been given to a process that hangs would hang with it. One process alone opens its own.
    """

    def __init__(self) -> None:
        self.listening: socket.socket | None = None

    def open(self) -> None:
        host, port = os.environ["PLSTACK_HOST"], int(os.environ["PLSTACK_PORT"])
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listening = socket.create_server((host, port), family=family, backlog=BACKLOG)

    def close(self) -> None:
        """In a process that answers no pages: a port that somebody else holds open would outlive its servers."""
        if self.listening is not None:
            self.listening.close()
            self.listening = None


shared_port = SharedPort()


def web(name: str = "web") -> None:
    """Pages, API and WebSockets. Proxy headers are ignored: no proxy is in front of this server.

    WebSockets are not compressed by the server, which would do so anew for each of a thousand pages that are sent the
    same (0.14 s of a core), and keep 256 KiB for each: what is large and for many is deflated once.
    """
    application.heart.kind = name
    config = uvicorn.Config(
        application,
        host=os.environ["PLSTACK_HOST"],
        port=int(os.environ["PLSTACK_PORT"]),
        backlog=BACKLOG,
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[shared_port.listening] if shared_port.listening else None)
    if not server.started:
        raise SystemExit(STARTUP_FAILURE)


def gateway() -> None:
    """Services in workloads, each on its own origin, and the egress proxy of programs."""
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
    """File jobs: copies, archives, measuring. Imported by name, like `ssh`."""
    importlib.import_module("plstack.files").main()


def beat() -> None:
    schedule = Path(os.environ["PLSTACK_HOME"]) / "run" / "beat-schedule"
    celery_app.Beat(schedule=str(schedule), loglevel="INFO", quiet=True).run()


def ssh() -> None:
    """The SSH server. Imported by name: it is loaded with the task workers, after the pages are up."""
    importlib.import_module("plstack.ssh").main()


def _work(name: str, queues: list[str], pool: str, concurrency: int) -> None:
    """Run a worker directly: Celery's command line would load many more modules into each process."""
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


PAGES: dict[str, Callable[[], None]] = {**{name: partial(web, name) for name in WEB}, "gateway": gateway}
TASKS: dict[str, Callable[[], None]] = {"worker": worker, "scheduler": scheduler, "files": files, "beat": beat}
if os.environ.get("PLSTACK_SSH_PORT") != "0":
    TASKS["ssh"] = ssh
