"""The first program of an environment. Runs inside, on the image's Python (in a container image on the machine's), with
only the standard library.

It prepares the home (a virtual environment on top of the image's packages, shell profiles), starts JupyterLab from the
tools' own runtime, and starts or stops VS Code and TensorBoard on request over the control port. Each service listens
on `$PLSTACK_PORTS/<port>.sock`, where the platform reaches it.
"""

import json
import os
import signal
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

# Beside this file, wherever it is mounted.
import container  # type: ignore[import-not-found]
import home  # type: ignore[import-not-found]
import services  # type: ignore[import-not-found]

CONTROL_PORT = 8800
MAX_BODY = 64 * 1024
POLL_S = 1.0


class Control(BaseHTTPRequestHandler):
    """`GET /`: what runs. `POST /<service>` with JSON settings starts it, `DELETE /<service>` ends it."""

    protocol_version = "HTTP/1.0"
    keeper: "services.Keeper"

    def do_GET(self) -> None:
        self._answer(200, self.keeper.report())

    def do_POST(self) -> None:
        length = min(int(self.headers.get("Content-Length") or 0), MAX_BODY)
        try:
            settings = json.loads(self.rfile.read(length) or b"{}")
            self.keeper.start(self.path.strip("/"), settings)
        except (ValueError, KeyError, OSError) as error:
            self._answer(400, {"error": str(error)})
        else:
            self._answer(200, self.keeper.report())

    def do_DELETE(self) -> None:
        self.keeper.stop(self.path.strip("/"))
        self._answer(200, self.keeper.report())

    def _answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The environment's log is for its programs."""

    def address_string(self) -> str:
        return "platform"  # a Unix socket's peer has no address


class ControlServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def serve_control(keeper: "services.Keeper", ports: Path) -> None:
    Control.keeper = keeper
    path = ports / f"{CONTROL_PORT}.sock"
    path.unlink(missing_ok=True)
    server = ControlServer(str(path), Control)
    path.chmod(0o666)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main() -> int:
    here, notebook = Path(os.environ["HOME"]), None
    if container.is_container(os.environ):
        notebook = container.prepare(here, os.environ)
    else:
        home.prepare(here, os.environ)
    ports = Path(os.environ["PLSTACK_PORTS"])
    keeper = services.Keeper(here, ports, notebook)
    serve_control(keeper, ports)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopping.set())
    for name in os.environ.get("PLSTACK_SERVICES", "jupyter").split(","):
        keeper.start(name, {})
    print("The environment is ready.", flush=True)  # noqa: T201
    while not stopping.wait(POLL_S):
        keeper.look()
    keeper.stop_all(grace_s=15.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
