"""The channel of a run is out of the reach of everybody but the platform, the program inside first of all."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from apps.workloads.drivers.local import channel
from apps.workloads.drivers.local.records import RunDirectory
from tests.drivers.kit import Kit
from tests.drivers.test_local_faults import run_directory

REACHES = """
import json, os, socket, stat, sys
found = []
for folder, folders, files in os.walk(sys.argv[2]):
    if folder.startswith(("/sys", "/usr")):
        folders[:] = []
    for name in [*files, *folders]:
        path = os.path.join(folder, name)
        if name == "channel.sock":
            found.append(path)
        try:
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                continue
            stream = socket.socket(socket.AF_UNIX)
            stream.settimeout(60)
            stream.connect(path)
            if stream.recv(10).startswith(b"PL"):
                found.append(path)
        except OSError:
            pass
try:
    os.stat(sys.argv[1])
    found.append(sys.argv[1])
except OSError:
    pass
for line in open("/proc/net/unix").read().splitlines()[1:]:
    if "channel.sock" in line or line.split()[-1].startswith("@"):
        found.append(line)
for number in os.listdir("/proc/self/fd"):
    try:
        if stat.S_ISSOCK(os.stat("/proc/self/fd/" + number).st_mode):
            found.append(number)
    except OSError:
        pass
print(json.dumps(found))
"""


def test_the_program_inside_finds_no_way_to_it(isolated: Kit, home: Path) -> None:
    """The same program in the run's own directory, as root of the machine, is the proof that it would find one."""
    handle = isolated.launch(isolated.python("import time; print('ready'); time.sleep(60)"))
    isolated.wait_output(handle, "ready")
    run = run_directory(home, handle)
    outside = [sys.executable, "-c", REACHES, str(run.channel), str(run.path)]
    found = json.loads(subprocess.run(outside, stdout=subprocess.PIPE, check=True).stdout)
    assert found.count(str(run.channel)) == 3, "by its name, by its greeting, by its path"
    isolated.driver.stop(handle, 0)
    request = isolated.python(REACHES, "")
    place = RunDirectory(home / "runs" / str(request.attempt_id)).channel
    request = isolated.python(REACHES, str(place), "/", attempt_id=request.attempt_id)
    _, text = isolated.run(request)
    assert json.loads(text) == []


def test_nothing_but_the_platform_may_come_near(isolated: Kit, home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("takes another user id")
    handle = isolated.launch(isolated.python("import time; print('ready'); time.sleep(60)"))
    isolated.wait_output(handle, "ready")
    run = run_directory(home, handle)
    assert run.path.stat().st_mode & 0o077 == 0
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setresuid(210_777, 210_777, 210_777)
            channel.dial(run.channel)
        except PermissionError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    isolated.driver.stop(handle, 0)
    isolated.wait(handle)


def test_a_disk_without_room_for_the_socket_costs_nothing_else(tmp_path: Path) -> None:
    with (
        patch.object(socket.socket, "bind", side_effect=OSError(28, "No space left on device")),
        pytest.raises(OSError, match="space"),
    ):
        channel.bound(tmp_path / "channel.sock")
