"""The services of an environment and their supervisor. Uses only the standard library."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Beside this file, wherever it is mounted.
import container  # type: ignore[import-not-found]
import lab_settings as lab  # type: ignore[import-not-found]

INSIDE = Path(__file__).resolve().parent
JUPYTER, VSCODE, TENSORBOARD = "jupyter", "vscode", "tensorboard"
PORTS = {JUPYTER: 8888, VSCODE: 8889, TENSORBOARD: 6006}
RESTART_AFTER_S = 3.0
BUFFER = 64 * 1024


@dataclass
class Service:
    """A running service. `wanted`: it is started again when it ends by itself."""

    process: "subprocess.Popen[bytes]"
    settings: Mapping[str, Any]
    started: float = field(default_factory=time.monotonic)
    relay: "Relay | None" = None


class Keeper:
    """Starts services, restarts them when they end by themselves, and stops them."""

    def __init__(self, home: Path, ports: Path, notebook: "container.Notebook | None" = None) -> None:
        """`notebook`: what notebooks run on in a container image."""
        self.home, self.ports, self.notebook = home, ports, notebook
        self.running: dict[str, Service] = {}
        self.lock = threading.Lock()
        self.folder = Path(tempfile.mkdtemp(prefix="plstack-"))

    def start(self, name: str, settings: Mapping[str, Any]) -> None:
        """Raises KeyError for an unknown service, ValueError where it cannot be started; one that runs stays unless its
        settings are others."""
        with self.lock:
            known = self.running.get(name)
            if known is not None and known.process.poll() is None:
                if known.settings == settings:
                    return
                self._end(name, 5.0)
            self.running[name] = self._launch(name, settings)

    def stop(self, name: str) -> None:
        with self.lock:
            self._end(name, 5.0)

    def stop_all(self, grace_s: float) -> None:
        with self.lock:
            for service in self.running.values():
                _signal(service.process, signal.SIGTERM)
            for name in list(self.running):
                self._end(name, grace_s)

    def look(self) -> None:
        """Restart services that have ended by themselves."""
        with self.lock:
            for name, service in list(self.running.items()):
                ended = service.process.poll() is not None
                if ended and time.monotonic() - service.started > RESTART_AFTER_S:
                    print(f"{name} ended with {service.process.returncode}; it is started again.", flush=True)  # noqa: T201
                    if service.relay is not None:
                        service.relay.close()
                    self.running[name] = self._launch(name, service.settings)

    def report(self) -> dict[str, Any]:
        with self.lock:
            services = {
                name: {"running": service.process.poll() is None, "settings": dict(service.settings)}
                for name, service in self.running.items()
            }
        return services if self.notebook is None else {**services, "notebook": self.notebook.report()}

    def _launch(self, name: str, settings: Mapping[str, Any]) -> Service:
        launch: dict[str, Callable[[Mapping[str, Any]], Service]] = {
            JUPYTER: self._jupyter,
            VSCODE: self._vscode,
            TENSORBOARD: self._tensorboard,
        }
        return launch[name](settings)

    def _end(self, name: str, grace_s: float) -> None:
        service = self.running.pop(name, None)
        if service is None:
            return
        _signal(service.process, signal.SIGTERM)
        try:
            service.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            _signal(service.process, signal.SIGKILL)
            service.process.wait()
        if service.relay is not None:
            service.relay.close()

    def _jupyter(self, settings: Mapping[str, Any]) -> Service:
        tool = Path(os.environ["PLSTACK_TOOL_JUPYTERLAB"])
        kernels = self.folder / "jupyter"
        _write_kernel(kernels / "kernels" / "python3", self.notebook)
        environment = os.environ | {
            "JUPYTER_PATH": str(kernels),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "SHELL": shutil.which("bash") or "/bin/sh",
        }
        socket_path = self._fresh(JUPYTER)
        command = [
            *(*container.module(os.environ, tool, "jupyterlab"), "--no-browser"),
            f"--ServerApp.sock={socket_path}",
            "--ServerApp.sock_mode=0666",
            f"--ServerApp.root_dir={self.home}",
            # Only the platform's gateway reaches the socket, and it has authenticated the caller.
            "--IdentityProvider.token=",
            "--PasswordIdentityProvider.hashed_password=",
            "--ServerApp.allow_remote_access=True",
            "--ServerApp.allow_root=True",
            "--ServerApp.quit_button=False",
            "--ServerApp.port_retries=0",
            f"--LabApp.app_settings_dir={lab.write_settings(INSIDE / 'lab', self.folder / 'lab', os.environ)}",
            *lab.limits_shown(os.environ),
            "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            # The announcement extension fetches news from the internet, which is not reachable and not needed.
            "--LabApp.extension_manager=readonly",
        ]
        return Service(_spawn(command, self.home, environment), settings)

    def _vscode(self, settings: Mapping[str, Any]) -> Service:
        tool = os.environ.get("PLSTACK_TOOL_CODE_SERVER")
        if tool is None:
            raise ValueError("VS Code is not part of this environment")
        data = self.home / ".local" / "share" / "code-server"
        _write_editor_settings(data / "User" / "settings.json")
        command = [
            *_code_server(Path(tool)),
            *("--socket", str(self._fresh(VSCODE)), "--socket-mode", "666", "--auth", "none"),
            *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
            "--disable-getting-started-override",
            *("--user-data-dir", str(data), "--extensions-dir", str(data / "extensions"), str(self.home)),
        ]
        return Service(_spawn(command, self.home, dict(os.environ)), settings)

    def _tensorboard(self, settings: Mapping[str, Any]) -> Service:
        """It cannot listen on a Unix socket, so one is relayed to a free loopback port."""
        tool = os.environ.get("PLSTACK_TOOL_TENSORBOARD")
        if tool is None:
            raise ValueError("TensorBoard is not part of this environment")
        folder = (self.home / str(settings.get("folder", ""))).resolve()
        if not folder.is_dir():
            raise ValueError("there is no such folder")
        port = _free_port()
        command = [
            *(*container.module(os.environ, Path(tool), "tensorboard.main"), "--logdir", str(folder)),
            *("--host", "127.0.0.1", "--port", str(port), "--reload_interval", "15"),
        ]
        process = _spawn(command, self.home, dict(os.environ))
        return Service(process, settings, relay=Relay(self._fresh(TENSORBOARD), port))

    def _fresh(self, name: str) -> Path:
        path = self.ports / f"{PORTS[name]}.sock"
        path.unlink(missing_ok=True)
        return path


def _write_kernel(folder: Path, notebook: "container.Notebook | None") -> None:
    """In place of the tools' own, also where the image has no Python: then it says so."""
    folder.mkdir(parents=True, exist_ok=True)
    python = notebook.python if notebook is not None else f"{os.environ['VIRTUAL_ENV']}/bin/python"
    name = os.environ.get("PLSTACK_IMAGE_NAME", "Python")
    spec = {
        "argv": [python or "/no-python-in-this-image", str(INSIDE / "kernel.py"), "-f", "{connection_file}"],
        "display_name": name if python else f"{name}: no Python in this image",
        "language": "python",
        "metadata": {"debugger": True},
    }
    (folder / "kernel.json").write_text(json.dumps(spec))


def _write_editor_settings(path: Path) -> None:
    """VS Code's initial settings; after that the file belongs to its user."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {
        "files.autoSave": "afterDelay",
        "telemetry.telemetryLevel": "off",
        "chat.disableAIFeatures": True,
        "python.defaultInterpreterPath": f"{os.environ['VIRTUAL_ENV']}/bin/python",
    }
    path.write_text(json.dumps(settings, indent=2))


def _code_server(tool: Path) -> list[str]:
    """The program of the npm package, on the Node that comes with its runtime."""
    entry = tool / "node_modules" / "code-server" / "out" / "node" / "entry.js"
    node = os.environ.get("PLSTACK_NODE") or shutil.which("node", path=f"{tool}/bin:{os.environ.get('PATH', '')}")
    if node is None or not entry.is_file():
        raise ValueError("VS Code's runtime is not complete")
    return [node, str(entry)]


def _spawn(command: list[str], home: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, cwd=home, env=dict(environment), stdin=subprocess.DEVNULL, start_new_session=True)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Relay:
    """Relays between a Unix socket and a loopback port, with a thread for each connection."""

    def __init__(self, path: Path, port: int) -> None:
        self.port = port
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        path.chmod(0o666)
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                target = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            except OSError:
                return
            with target:
                target.settimeout(None)
                _stream(client, target)


def _stream(one: socket.socket, other: socket.socket) -> None:
    """Copy until one side closes."""
    peers = {one: other, other: one}
    while peers:
        for ready in select.select(list(peers), [], [])[0]:
            try:
                data = ready.recv(BUFFER)
                peers[ready].sendall(data)
            except OSError:
                return
            if not data:
                return


if __name__ == "__main__":
    sys.exit("Started by supervise.py")
