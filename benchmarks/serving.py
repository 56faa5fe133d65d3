"""What the door of model services costs: the same server asked directly, through nginx, and through the door.

    python -m plstack.launch exec python -m benchmarks.serving [--seconds 5] [--rounds 5] [--streams 1500] [--json]

Needs `wrk` and `nginx`, which the platform itself does not. The server is a uvicorn of one process that answers 120
bytes to a POST of 60; nginx has one worker and keeps its connections to it; the door is one process of the gateway as
`plstack.launch.processes` runs it, with one route and one key already read, so neither Postgres nor Redis is asked.
wrk has one thread, and one or 32 connections that are kept. Each round asks all three, one after the other, beginning
with another one each time; told are medians of the rounds. `streams`: answers that are held open through the door, and
how much more memory its process has for them.

All of it shares the cores of one machine: the program that asks and the server take theirs away from the door. Say
the number of cores and the load of the machine with the figures.
"""

import argparse
import asyncio
import gc
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from uuid import UUID

import django
import uvicorn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.conf import settings  # noqa: E402  after set-up

from apps.serving.door.admitting import Caller, Callers  # noqa: E402
from apps.serving.door.application import ServiceDoor  # noqa: E402
from apps.serving.door.routes import Replica, Route, Routes  # noqa: E402
from apps.workloads.drivers.sockets import Endpoint  # noqa: E402
from tests.ports import free_port  # noqa: E402

LABEL, SECRET = "bench-0123456789", "plsv_bench"
CONNECTIONS = (1, 32)
TENSOR = {"name": "y", "shape": [1, 4], "datatype": "FP32", "data": [0.1, 0.2, 0.3, 0.4]}
ANSWER = json.dumps({"outputs": [TENSOR]}).encode()
QUESTION = json.dumps({"inputs": [{"name": "x", "data": [1.0, 2.0, 3.0]}]})
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream server {{ server 127.0.0.1:{server}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""
ASK = """
wrk.method = "POST"
wrk.body = [[{body}]]
wrk.headers["Host"] = "{host}"
wrk.headers["Authorization"] = "Bearer {secret}"
wrk.headers["Content-Type"] = "application/json"
"""
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


async def answering(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """The server behind all: `/held` is an answer that begins and stays."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    if scope["path"] == "/held":
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await receive()  # until its caller goes
        return
    await send({"type": "http.response.body", "body": ANSWER})


def host(port: int) -> str:
    return f"{LABEL}.apps.localhost:{port}"


async def nobody(*_anything: Any) -> None:
    raise AssertionError("passed to the gateway")


def the_door(port: int, server: int) -> None:
    """One process of the gateway that knows one service and its key."""
    settings.GATEWAY_ORIGIN = f"http://apps.localhost:{port}"
    replica = Replica(UUID(int=3), Endpoint(host="127.0.0.1", port=server))
    route = Route(UUID(int=1), UUID(int=2), LABEL, (), True, 60.0, 1 << 20, True, (replica,))

    async def find(label: str) -> Route | None:
        return route if label == LABEL else None

    async def admit(_service_id: UUID, _digest: str) -> Caller:
        return Caller(UUID(int=4), None, None)

    door = ServiceDoor(nobody, Routes(find), Callers(admit))
    gc.collect()
    gc.freeze()  # as `plstack.launch.zygote` does before it forks the gateway
    _serve(door, port, "off")  # what it counted is written nowhere


def _serve(application: Any, port: int, lifespan: Any) -> None:
    uvicorn.run(application, host="127.0.0.1", port=port, lifespan=lifespan, proxy_headers=False, server_header=False,
                date_header=False, access_log=False, log_config=None)  # fmt: skip


@contextmanager
def running(*argv: str, port: int) -> Iterator[int]:
    """The program, once it listens; its process id."""
    process = subprocess.Popen(argv)
    try:
        _await(port)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def _await(port: int) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/"):
                return
        except OSError as error:
            if hasattr(error, "code"):
                return
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def asked(port: int, connections: int, seconds: int, script: Path) -> tuple[float, float, float]:
    """Requests a second, and p50 and p99 in ms. Raises RuntimeError where an answer was none."""
    argv = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(script),
        f"http://127.0.0.1:{port}/",
    ]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])  # type: ignore[index]
    return rate, _ms(said, "50%"), _ms(said, "99%")


def _ms(said: str, share: str) -> float:
    number, unit = re.search(rf"{share}\s+([\d.]+)(us|ms|s)", said).groups()  # type: ignore[union-attr]
    return float(number) * MICROSECONDS[unit] / 1e3


async def held_mib(port: int, count: int, pid: int) -> float:
    """How much more memory the process has while it holds so many answers that have begun."""
    lines = ("POST /held HTTP/1.1", f"Host: {host(port)}", f"Authorization: Bearer {SECRET}", "Content-Length: 2")
    before, writers = _resident_mib(pid), []
    for _number in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(("\r\n".join(lines) + "\r\n\r\n{}").encode())
        answer = await reader.readuntil(b"data: 1")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer)
        writers.append(writer)
    more = _resident_mib(pid) - before
    for writer in writers:
        writer.close()
    return more


def _resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def measured(seconds: int, rounds: int, streams: int) -> dict[str, Any]:
    ports = {name: free_port() for name in ("direct", "nginx", "door")}
    me = [sys.executable, "-m", "benchmarks.serving"]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        script, config = folder / "ask.lua", folder / "nginx.conf"
        script.write_text(ASK.format(body=QUESTION, host=host(ports["door"]), secret=SECRET))
        config.write_text(NGINX.format(folder=folder, server=ports["direct"], port=ports["nginx"]))
        stack.enter_context(running(*me, "--role", "server", "--port", str(ports["direct"]), port=ports["direct"]))
        stack.enter_context(running("nginx", "-c", str(config), port=ports["nginx"]))
        to = ("--server", str(ports["direct"]))
        pid = stack.enter_context(running(*me, "--role", "door", "--port", str(ports["door"]), *to, port=ports["door"]))
        found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
        for number in range(rounds):
            for connections in CONNECTIONS:
                names = list(ports)
                for name in names[number % 3 :] + names[: number % 3]:
                    found.setdefault((name, connections), []).append(asked(ports[name], connections, seconds, script))
        mib = asyncio.run(held_mib(ports["door"], streams, pid))
    return {"cores": os.cpu_count(), "asked": _medians(found), "streams": streams, "streams_mib": round(mib, 1),
            "streams_per_100_mib": int(streams / mib * 100)}  # fmt: skip


def _medians(found: dict[tuple[str, int], list[tuple[float, float, float]]]) -> list[dict[str, Any]]:
    rows = []
    for (name, connections), several in found.items():
        rate, p50, p99 = (statistics.median(each[place] for each in several) for place in range(3))
        shares = [each[0] / direct[0] for each, direct in zip(several, found["direct", connections], strict=True)]
        rows.append({"through": name, "connections": connections, "a_second": round(rate), "p50_ms": round(p50, 3),
                     "p99_ms": round(p99, 3), "of_direct": round(statistics.median(shares), 3)})  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=1500)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--role", choices=["server", "door"], help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--server", type=int, help=argparse.SUPPRESS)
    asked_for = parser.parse_args()
    if asked_for.role == "server":
        _serve(answering, asked_for.port, "off")
    elif asked_for.role == "door":
        the_door(asked_for.port, asked_for.server)
    else:
        result = measured(asked_for.seconds, asked_for.rounds, asked_for.streams)
        print(json.dumps(result) if asked_for.json else json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
