"""Several web processes: each has a name, they share one port, and no other process holds it open."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plstack.launch.layout import ROOT, Layout, web_names
from plstack.launch.supervisor import STOPPED_IN_ORDER, Supervisor
from tests.ports import free_port

LOOK = """
import json, os, socket
from plstack.launch import processes
from plstack.requests import THREADS
processes.shared_port.open()
held = processes.shared_port.listening.fileno()
there = socket.create_connection(("127.0.0.1", int(os.environ["PLSTACK_PORT"])))
inherited = os.get_inheritable(held)
processes.shared_port.close()
try:
    os.fstat(held)
    still = True
except OSError:
    still = False
print(json.dumps([list(processes.PAGES), THREADS, inherited, still]))
"""


def looked(count: int) -> Any:
    ours = {"PLSTACK_WEB_PROCESSES": str(count), "PLSTACK_HOST": "127.0.0.1", "PLSTACK_PORT": str(free_port())}
    env = {**os.environ, **ours}
    done = subprocess.run([sys.executable, "-c", LOOK], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("count", "threads"), [(1, 24), (3, 8), (16, 6)])
def test_web_processes_divide_the_connections_and_programs_do_not_inherit_their_port(count: int, threads: int) -> None:
    pages, found, inherited, still = looked(count)
    assert pages == [*web_names(count), "gateway"]
    assert found == threads
    assert not inherited, "a program that a worker starts would hold the port"
    assert not still


def test_the_supervisor_restarts_and_stops_each_of_them(tmp_path: Path) -> None:
    layout = Layout.from_environ({"PLSTACK_HOME": str(tmp_path), "PLSTACK_WEB_PROCESSES": "3"})
    supervisor = Supervisor(layout, {}, [], print)
    assert list(supervisor.backoffs) == [*STOPPED_IN_ORDER, "web-2", "web-3"]
    assert [supervisor.stopped_in_order[name] for name in web_names(3)] == [STOPPED_IN_ORDER["web"]] * 3
