"""Proxies under test, and a server behind them."""

import asyncio
import http.server
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from apps.workloads.gateway.proxy import Proxy


class Target(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.path} {self.headers['Host']} {self.headers['Proxy-Authorization']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(len(self.rfile.read(size))).encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def target() -> Iterator[int]:
    """A server on this machine's loopback, standing for one that the operator allows by name."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@dataclass
class Running:
    path: Path

    def send(self, data: bytes, patience: float = 60) -> bytes:
        """Everything that comes back for these bytes."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(patience)
            connection.connect(str(self.path))
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))


def serving(proxy: Proxy) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    task = loop.create_task(proxy.serve())
    thread = threading.Thread(target=lambda: loop.run_until_complete(asyncio.gather(task, return_exceptions=True)))
    thread.start()
    while not proxy.path.exists():
        time.sleep(0.01)
    yield Running(proxy.path)
    loop.call_soon_threadsafe(task.cancel)
    thread.join(60)
    loop.close()
    assert not proxy.path.exists()
