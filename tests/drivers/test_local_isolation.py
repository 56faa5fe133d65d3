"""Level L1: what a workload of one tenant can see and do beyond its own. Each test has a control that works."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import ExitReason, IsolationLevel, LaunchRefused
from apps.workloads.drivers.local import isolation, processes, sandbox
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.request import DATA
from tests.drivers.kit import Kit

TRY_EACH = """
import json, sys
results = {}
for name, source in json.loads(sys.argv[1]).items():
    scope = {}
    try:
        exec(source, scope)
        results[name] = scope.get("found", "done")
    except BaseException as error:
        results[name] = type(error).__name__
print(json.dumps(results))
"""
STATUS = "status = dict(line.replace(chr(9), '').split(':', 1) for line in open('/proc/self/status'))\n"
UNSHARE = (
    "import ctypes, os\nif ctypes.CDLL(None, use_errno=True).unshare({flag}): raise OSError(ctypes.get_errno(), '')"
)


def attempt(kit: Kit, programs: dict[str, str], **changes: Any) -> dict[str, Any]:
    """What came of each program, all run in one workload: its `found`, or the name of its exception."""
    ended, text = kit.run(kit.python(TRY_EACH, json.dumps(programs), **changes))
    assert ended.succeeded, text
    results: dict[str, Any] = json.loads(text)
    return results


def test_the_machine_is_out_of_sight(isolated: Kit, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    seen = attempt(
        isolated,
        {
            "control": "found = open('/workspace/code/own').read()",
            "user": "import os, pwd; found = pwd.getpwuid(os.getuid()).pw_name",
            "certificates": "import ssl; found = len(ssl.create_default_context().get_ca_certs()) > 0",
            "home": f"import os; found = os.listdir({str(home)!r})",
            "runs": f"open({str(home / 'uids.json')!r})",
            "shadow": "open('/etc/shadow')",
            "root": "import os; found = sorted(os.listdir('/'))",
            "processes": "import os; found = sum(name.isdigit() for name in os.listdir('/proc'))",
            "environment": "import os; found = 'DATABASE_URL' in os.environ",
            "first": "open('/proc/1/environ').read()",
            "disks": "import os; found = [n for n in os.listdir('/dev') if n[:2] in ('sd', 'vd', 'nv', 'me', 'km')]",
            "network": "import socket; found = [name for _, name in socket.if_nameindex()]",
            "outside": "import socket; socket.create_connection(('192.0.2.1', 80), 3)",
        },
        mounts=(isolated.mount(_with_file(isolated.code), "/workspace/code"),),
    )
    assert seen.pop("control") == "mine"
    assert seen.pop("user") == "workload"
    assert seen.pop("certificates") is Path("/etc/ssl/certs/ca-certificates.crt").exists()
    assert set(seen.pop("home")) <= {"runtimes"}
    assert seen.pop("runs") == "FileNotFoundError"
    assert seen.pop("shadow") == "FileNotFoundError"
    assert not {"work", "home", "srv", "var", "mnt"} & set(seen.pop("root"))
    assert seen.pop("processes") == 2
    assert seen.pop("environment") is False
    assert seen.pop("disks") == []
    assert seen.pop("network") == ["lo"]
    assert seen.pop("outside") == "OSError"
    if os.geteuid() == 0:
        assert seen.pop("first") == "PermissionError"


def _with_file(directory: Path) -> Path:
    (directory / "own").write_text("mine")
    return directory


def test_only_its_own_places_can_be_written(isolated: Kit) -> None:
    writes = {name: f"open({path!r}, 'w')" for name, path in {
        "output": "/workspace/output/x", "tmp": "/tmp/x", "shm": "/dev/shm/x", "code": "/workspace/code/x",
        "usr": "/usr/x", "etc": "/etc/passwd", "init": sandbox.INIT_INSIDE, "sysrq": "/proc/sysrq-trigger",
    }.items()}  # fmt: skip
    writes["runtime"] = "import sys; open(sys.prefix + '/x', 'w')"
    seen = attempt(isolated, writes)
    assert {name for name, result in seen.items() if result == "done"} == {"output", "tmp", "shm"}


def test_no_privilege_can_be_had(isolated: Kit) -> None:
    seen = attempt(
        isolated,
        {
            "capabilities": STATUS + "found = [status[name].strip() for name in ('CapEff', 'CapPrm', 'CapAmb')]",
            "first": STATUS.replace("self", "1") + "found = status['CapPrm'].strip()",
            "no_new": STATUS + "found = status['NoNewPrivs'].strip()",
            "filter": STATUS + "found = status['Seccomp'].strip()",
            "user_namespace": UNSHARE.format(flag=0x10000000),
            "mount_namespace": UNSHARE.format(flag=0x00020000),
            "control": "import threading; t = threading.Thread(target=print); t.start(); t.join()",
            "children": "import subprocess; found = subprocess.run(['true']).returncode",
        },
    )
    assert set(seen["capabilities"]) == {"0" * 16}
    # The first process: at most to change to the tenant's user id and to signal it (capabilities 5, 6 and 7).
    assert int(seen["first"], 16) & ~0b1110_0000 == 0
    assert seen["no_new"] == "1"
    assert seen["filter"] == "2"
    assert seen["user_namespace"] == "PermissionError"
    assert seen["mount_namespace"] == "PermissionError"
    assert seen["children"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give tenants user ids of their own")
def test_each_tenant_has_a_user_id_of_its_own(isolated: Kit) -> None:
    tenant = uuid4()
    source = {"uid": "import os; found = os.getresuid() + os.getresgid() + tuple(os.getgroups())"}
    first = attempt(isolated, source, tenant_id=tenant)["uid"]
    again = attempt(isolated, source, tenant_id=tenant)["uid"]
    other = attempt(isolated, source)["uid"]
    assert first == again == [first[0]] * 6
    assert first[0] >= 210_000
    assert other[0] != first[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give tenants user ids of their own")
def test_what_it_writes_belongs_to_its_tenant_and_stays_readable_to_it(isolated: Kit) -> None:
    (isolated.output / "earlier").write_text("from the platform")
    tenant = uuid4()
    programs = {"write": "open('/workspace/output/earlier', 'a').write('!')"}
    assert attempt(isolated, programs, tenant_id=tenant) == {"write": "done"}
    assert attempt(isolated, programs, tenant_id=tenant) == {"write": "done"}
    assert (isolated.output / "earlier").stat().st_uid >= 210_000


def test_a_link_in_the_platforms_home_does_not_lead_elsewhere(isolated: Kit, home: Path) -> None:
    volume = home / "volumes" / str(uuid4())
    (volume / "mine").mkdir(parents=True)
    (volume / "link").symlink_to("/etc")
    for name, reason in (("mine", ExitReason.EXITED), ("link", ExitReason.MOUNT_FAILED)):
        mount = isolated.mount(volume / name, "/workspace/data")
        ended, _ = isolated.run(isolated.request("true", mounts=(mount,), workdir="/workspace"))
        assert ended.reason is reason


def test_a_home_that_is_named_through_a_link_is_no_way_around(isolated: Kit, home: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(home)
    driver = LocalDriver(home, IsolationLevel.L1, False, volumes={DATA: alias})
    named = Kit(driver, isolated.code, isolated.output, root=alias)
    volume = home / "volumes" / str(uuid4())
    (volume / "mine").mkdir(parents=True)
    (volume / "link").symlink_to("/etc")
    for name, reason in (("mine", ExitReason.EXITED), ("link", ExitReason.MOUNT_FAILED)):
        mount = named.mount(alias / "volumes" / volume.name / name, "/workspace/data")
        ended, _ = named.run(isolated.request("true", mounts=(mount,), workdir="/workspace"))
        assert ended.reason is reason


def test_a_sandbox_that_cannot_be_built_is_a_failed_start(isolated: Kit, tmp_path: Path) -> None:
    inner = isolated.mount(tmp_path, "/workspace/code/no-such-folder")
    request = isolated.request("true")
    ended, _ = isolated.run(replace(request, mounts=(*request.mounts, inner)))
    assert ended.reason is ExitReason.START_FAILED
    assert "bwrap" in ended.detail


def test_shared_memory_is_no_way_around_the_limit(isolated: Kit) -> None:
    # Room is asked for, not written: a folder filled to its end and the program beside it are over the limit together,
    # and whoever measures them in that instant ends the workload, rightly.
    take = "import os\nfile = open('/dev/shm/x', 'wb')\nos.posix_fallocate(file.fileno(), 0, {} * 2**20)"
    seen = attempt(isolated, {"some": take.format(8), "more": take.format(65)}, memory_mib=64)
    assert seen == {"some": "done", "more": "OSError"}


def test_what_lies_in_shared_memory_counts_where_nothing_maps_it(isolated: Kit) -> None:
    """Without control groups, where nobody but the shim counts: files there and the program together."""
    fill = "open('/dev/shm/x', 'wb').write(b'x' * {} * 2**20)\nrest = b'x' * {} * 2**20\nimport time; time.sleep(60)"
    ended, _ = isolated.run(isolated.python(fill.format(60, 90), memory_mib=128))
    assert ended.reason is ExitReason.OOM
    mapped = "from multiprocessing import shared_memory as m\ns = m.SharedMemory(create=True, size=80 * 2**20)\n"
    mapped += "s.buf[:] = b'x' * s.size\nimport time; time.sleep(2); s.unlink()"
    ended, text = isolated.run(isolated.python(mapped, memory_mib=200))
    assert ended.succeeded, text


def test_a_link_in_place_of_a_listening_socket_is_not_followed(isolated: Kit, home: Path) -> None:
    source = (
        "import os, time; os.symlink('/run/postgres.sock', os.environ['PLSTACK_PORTS'] + '/80.sock'); print('ready')"
    )
    handle = isolated.launch(isolated.python(source + "; time.sleep(60)"))
    isolated.wait_output(handle, "ready")
    with pytest.raises(Exception, match="does not listen"):
        isolated.driver.endpoint(handle, 80)
    isolated.driver.stop(handle, 0)
    isolated.wait(handle)


def test_the_shim_knows_no_secret_of_the_platform(isolated: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    handle = isolated.launch(isolated.python("import time; print('ready'); time.sleep(60)"))
    isolated.wait_output(handle, "ready")
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in processes.marked(MARKER, handle.ref)]
    assert environments
    assert not any(b"do not tell" in environment for environment in environments)
    isolated.driver.stop(handle, 0)
    isolated.wait(handle)


def test_secrets_of_the_workload_are_in_no_command_line(isolated: Kit) -> None:
    handle = isolated.launch(isolated.python("import time; print('ready'); time.sleep(60)", env={"TOKEN": "s3cr3t"}))
    isolated.wait_output(handle, "ready")
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes.marked(MARKER, handle.ref)]
    assert not any(b"s3cr3t" in command for command in commands)
    isolated.driver.stop(handle, 0)
    isolated.wait(handle)


def test_a_missing_sandbox_is_said_and_never_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: Kit
) -> None:
    monkeypatch.setattr(sandbox, "executable", lambda: None)
    found = LocalDriver(tmp_path).isolation()
    assert found.level is IsolationLevel.L0
    assert "bubblewrap" in found.reason
    strict = LocalDriver(tmp_path, IsolationLevel.L1)
    with pytest.raises(LaunchRefused) as refusal:
        strict.launch(plain.request("true"))
    assert refusal.value.code == "isolation_unavailable"
    assert strict.known() == []


def test_a_sandbox_that_does_not_work_is_found_out_by_trying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox, "executable", lambda: str(broken))
    found = isolation.Machine().isolation()
    assert found.level is IsolationLevel.L0
    assert "No permissions to create new namespace" in found.reason
