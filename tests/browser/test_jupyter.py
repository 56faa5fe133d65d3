"""A real JupyterLab in a real environment, without a browser: a cell runs, a terminal opens, files outlive a restart.

The tools' runtimes take a minute to install; they are kept in one folder of the machine for the next time.
"""

import http.client
import json
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from websockets.sync.client import ClientConnection, unix_connect

from apps.common.scoping import acting
from apps.envs import program
from apps.envs.models import Environment, Watch
from apps.envs.reconcile import idle
from apps.envs.services import running, tools
from apps.workloads import nodes, reach
from apps.workloads.choices import Status
from tests.builders import World, make_package, make_world, platform
from tests.drivers.kit import eventually
from tests.envs import kit
from tests.stack import kept_runtimes
from tests.workloads.loops import until

pytestmark = pytest.mark.browser

INSTALL_TIMEOUT_S = 600.0
# JupyterLab starts within seconds, and compiles itself first where its runtime is new.
ANSWER_TIMEOUT_S = 240.0


@pytest.fixture(autouse=True)
def home(settings: LazySettings) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="plstack-jupyter-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "runtimes").symlink_to(kept_runtimes())
        settings.PLSTACK_HOME = folder
        nodes.local_driver.cache_clear()
        program.published.cache_clear()
        yield folder
        nodes.local_driver.cache_clear()
        program.published.cache_clear()


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


class Jupyter:
    """A client of one environment's JupyterLab, over the socket that the gateway uses."""

    def __init__(self, socket_path: str) -> None:
        self.path = socket_path
        self.cookie = ""
        self.token = ""
        self.ask("GET", "/lab")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("localhost", timeout=ANSWER_TIMEOUT_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        headers = {"Cookie": self.cookie, "X-XSRFToken": self.token, "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        data = answer.read()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie" and value.startswith("_xsrf="):
                self.cookie = value.partition(";")[0]
                self.token = self.cookie.partition("=")[2]
        connection.close()
        assert answer.status < 400, (path, answer.status, data[:300])
        return json.loads(data) if "json" in (answer.getheader("Content-Type") or "") else data

    def socket(self, path: str) -> ClientConnection:
        headers = {"Cookie": self.cookie}
        return unix_connect(self.path, f"ws://localhost{path}", origin="http://localhost", additional_headers=headers)

    def run(self, kernel: str, code: str) -> str:
        """What a cell prints."""
        with self.socket(f"/api/kernels/{kernel}/channels") as channel:
            asked = _execute(code)
            channel.send(json.dumps(asked))
            return _printed(channel, asked["header"]["msg_id"])


def _execute(code: str) -> dict[str, Any]:
    header = {"msg_id": uuid4().hex, "msg_type": "execute_request", "session": uuid4().hex, "username": "", "date": ""}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    return {
        "header": {**header, "version": "5.3"},
        "parent_header": {},
        "metadata": {},
        "content": content,
        "channel": "shell",
        "buffers": [],
    }


def _printed(channel: ClientConnection, asked: str) -> str:
    """What it had printed once the kernel is idle after it: output and reply come on two channels, in any order."""
    said, end = "", time.monotonic() + ANSWER_TIMEOUT_S
    while time.monotonic() < end:
        message = json.loads(channel.recv(timeout=ANSWER_TIMEOUT_S))
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "stream":
            said += content["text"]
        elif kind == "error":
            return "\n".join(content["traceback"])
        elif kind == "status" and content["execution_state"] == "idle":
            return said
    raise AssertionError("the cell did not end")


def start(environment: Environment) -> Environment:
    assert environment.workload is not None
    with acting(platform()):
        until(environment.workload, lambda workload: workload.status == Status.RUNNING, INSTALL_TIMEOUT_S)
    return kit.again(environment)


def jupyter(environment: Environment) -> Jupyter:
    """As soon as it answers."""
    end = time.monotonic() + ANSWER_TIMEOUT_S
    while True:
        try:
            return Jupyter(port(environment, program.JUPYTER))
        except (OSError, http.client.HTTPException, AssertionError):
            assert time.monotonic() < end, "JupyterLab does not answer"
            time.sleep(0.5)


def port(environment: Environment, name: str) -> str:
    with acting(platform()) as actor:
        assert environment.workload is not None
        try:
            return reach.endpoint(actor, environment.workload, name).socket_path or ""
        except reach.NotListening as error:
            raise ConnectionRefusedError from error


def look(environment: Environment) -> Watch:
    with acting(platform()) as actor:
        idle.watch_all(actor)
        found: Watch = Watch.objects.get(environment=environment)
        return found


def test_a_cell_runs_a_terminal_opens_and_files_outlive_a_restart(world: World) -> None:
    with acting(platform()):
        package = make_package(memory_mib=2048)
    made = start(kit.make(world, package_id=package.pk))
    lab = jupyter(made)
    specs = lab.ask("GET", "/api/kernelspecs")["kernelspecs"]
    assert specs["python3"]["spec"]["display_name"] == made.image.name
    kernel = lab.ask("POST", "/api/kernels", {})["id"]
    cells_run(lab, kernel)
    a_terminal_opens(lab)
    what_computes_is_not_idle(lab, kernel, made)
    tensorboard_shows_a_folder(world, lab, kernel, made)
    stop(world, made)
    with acting(world.actor):
        again = start(running.start(world.actor, kit.again(made)))
    lab = jupyter(again)
    kernel = lab.ask("POST", "/api/kernels", {})["id"]
    assert lab.run(kernel, "print(open('work.txt').read())").strip() == "from a cell"
    stop(world, again)


def cells_run(lab: Jupyter, kernel: str) -> None:
    assert lab.run(kernel, "print(6 * 7)").strip() == "42"
    assert lab.run(kernel, "import sys; print(sys.prefix.endswith('.venv'))").strip() == "True"
    assert lab.run(kernel, "!pip --version").startswith("pip ")
    assert lab.run(kernel, "print(open('work.txt', 'w').write('from a cell'))").strip() == "11"


def a_terminal_opens(lab: Jupyter) -> None:
    terminal = lab.ask("POST", "/api/terminals", {})["name"]
    with lab.socket(f"/terminals/websocket/{terminal}") as shell:
        shell.send(json.dumps(["stdin", "echo from-$((40 + 2)) $(which python)\r"]))
        said, end = "", time.monotonic() + ANSWER_TIMEOUT_S
        while not (said_all := re.search(r"from-42 \S*\.venv/bin/python", said)) and time.monotonic() < end:
            kind, *rest = json.loads(shell.recv(timeout=ANSWER_TIMEOUT_S))
            said += str(rest[0]) if kind == "stdout" else ""
    assert said_all, said


def what_computes_is_not_idle(lab: Jupyter, kernel: str, made: Environment) -> None:
    with lab.socket(f"/api/kernels/{kernel}/channels") as channel:
        asked = _execute("import time; time.sleep(15); print('done')")
        channel.send(json.dumps(asked))
        watch = eventually(lambda: look(made), lambda watch: watch.facts["kernels_busy"] == 1)
        assert watch.cause == "kernel"
        assert _printed(channel, asked["header"]["msg_id"]).strip() == "done"
    # JupyterLab hears of it by another line than whoever asked.
    eventually(lambda: look(made), lambda watch: watch.facts["kernels_busy"] == 0)


def tensorboard_shows_a_folder(world: World, lab: Jupyter, kernel: str, made: Environment) -> None:
    lab.run(kernel, "import os; os.makedirs('runs/one', exist_ok=True)")
    with acting(world.actor):
        tools.start_tensorboard(world.actor, made, folder="runs")
        assert tools.running(world.actor, made)["tensorboard"]["running"]
    assert b"TensorBoard" in _page(port(made, program.TENSORBOARD))


def stop(world: World, made: Environment) -> None:
    with acting(world.actor):
        running.stop(world.actor, made)
    assert made.workload is not None
    with acting(platform()):
        until(made.workload, lambda workload: workload.status == Status.STOPPED, ANSWER_TIMEOUT_S)


def _page(socket_path: str) -> bytes:
    """The first page of a service, as soon as it answers."""
    end = time.monotonic() + ANSWER_TIMEOUT_S
    while True:
        try:
            page: bytes = Jupyter.ask(_plain(socket_path), "GET", "/")
            return page
        except (OSError, http.client.HTTPException, AssertionError):
            assert time.monotonic() < end, "it does not answer"
            time.sleep(1)


def _plain(socket_path: str) -> Jupyter:
    client = Jupyter.__new__(Jupyter)
    client.path, client.cookie, client.token = socket_path, "", ""
    return client
