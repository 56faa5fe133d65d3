"""SSH into running programs that are no environments: `run-<id>.<rank>`."""

import subprocess
from collections.abc import Iterator

import pytest

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.local.execution import LocalExec
from apps.workloads.models import Member, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.terminal.names import program_named, ssh_name
from tests.builders import World, make_member, make_organisation, submit_workload
from tests.drivers.kit import eventually
from tests.envs.ssh.kit import Client, Desk
from tests.envs.ssh.test_entrance import check
from tests.workloads.loops import until


@pytest.fixture
def queued(world: World) -> Workload:
    with acting(world.actor):
        waits = ("python", "-c", "import time; time.sleep(600)")
        return submit_workload(world, argv=waits, members=2, env={"MARK": "inside"})


@pytest.fixture
def gang(queued: Workload) -> Iterator[Workload]:
    yield until(queued, lambda workload: workload.status == Status.RUNNING)
    for member in Member.objects.exclude(handle=None):
        driver_named("local").stop(Handle.from_dict(member.handle or {}), 0)


def test_a_command_beside_each_rank_with_its_exit_code(alice: Client, gang: Workload, world: World) -> None:
    for rank in (0, 1):
        done = alice.ssh(ssh_name(gang, rank), 'echo "$MARK $PLSTACK_RANK in $PWD"; exit 37')
        assert (done.code, done.output) == (37, f"inside {rank} in /workspace\n".encode())
    assert alice.ssh(f"run-{gang.pk.hex[:12]}", "echo $PLSTACK_RANK").output == b"0\n"
    done = alice.ssh(ssh_name(gang, 1), before=("-tt",), data=b"tty -s && echo a-ter''minal; exit 4\n")
    assert (done.code, b"a-terminal" in done.output) == (4, True)


def test_each_shell_is_written_down(alice: Client, gang: Workload, world: World) -> None:
    assert alice.ssh(ssh_name(gang, 1), "true").code == 0
    rows = Entry.objects.filter(action__startswith="terminal.", actor_id=world.alice.pk).order_by("pk")
    (opened, closed) = eventually(lambda: list(rows.all()), lambda found: len(found) == 2)
    assert (opened.action, opened.after, opened.channel) == ("terminal.opened", {"rank": 1}, "ssh")
    assert (closed.action, closed.after["why"], closed.address) == ("terminal.closed", "ssh", "127.0.0.1")
    assert {opened.target_id, closed.target_id} == {str(gang.pk)}


def test_a_port_of_the_program_is_forwarded(alice: Client, gang: Workload) -> None:
    serve = (
        "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind(os.environ['PLSTACK_PORTS'] + '/7000.sock'); "
        "s.listen(); print('up', flush=True); p = s.accept()[0]; p.sendall(b'by socket'); p.close()"
    )
    name = ssh_name(gang, 0)
    server = subprocess.Popen(["ssh", *alice.options(), f"{name}@127.0.0.1", f'python -c "{serve}"'], stdout=-1)
    assert server.stdout is not None
    assert server.stdout.readline() == b"up\n"
    assert alice.ssh(name, before=("-W", "localhost:7000")).output == b"by socket"
    server.wait(60)


def test_keys_of_others_open_nothing(desk: Desk, queued: Workload, world: World) -> None:
    for client in (
        desk.client(None),
        desk.client(make_member(make_organisation(), "charlie", Role.ADMIN)),
        desk.client(make_member(world.organisation, "bob")),
        desk.client(make_member(world.organisation, "carol", Role.ADMIN)),
    ):
        done = client.ssh(ssh_name(queued, 0), "true")
        assert (done.code, "Permission denied (publickey)" in done.errors) == (255, True)


@pytest.mark.parametrize(
    "name", ["run-", "run-000000000000.0", "run-{short}.0", "run-{id}.x", "run-{id}.99999", "{id}"]
)
def test_names_that_name_nothing(alice: Client, queued: Workload, name: str) -> None:
    user = name.format(short=queued.pk.hex[:11], id=queued.pk.hex[:12])
    assert program_named(user) is None
    assert alice.ssh(user, "true").code == 255


def test_what_does_not_run_and_a_rank_that_there_is_not_say_so(alice: Client, gang: Workload) -> None:
    done = alice.ssh(ssh_name(gang, 7), "true")
    assert (done.code, "has no member of rank 7" in done.errors) == (1, True)
    for member in Member.objects.exclude(handle=None):
        driver_named("local").stop(Handle.from_dict(member.handle or {}), 0)
    until(gang, lambda workload: not workload.is_live)
    done = alice.ssh(ssh_name(gang, 0), "true")
    assert (done.code, "not running" in done.errors) == (1, True)


def test_files_are_not_served_and_the_client_says_why(alice: Client, queued: Workload) -> None:
    done = alice.sftp(ssh_name(queued, 0), "ls")
    assert done.code != 0
    assert "running program" in done.errors


def test_who_loses_the_right_is_shown_out(alice: Client, gang: Workload, world: World, desk: Desk) -> None:
    argv = ["ssh", *alice.options(), f"{ssh_name(gang, 0)}@127.0.0.1", "echo in; sleep 50"]
    client = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"in\n"
    (door,) = desk.house.doors
    check(desk)
    assert client.poll() is None
    Membership.objects.filter(user=world.alice).update(role=Role.FINANCE)
    check(desk)
    assert client.wait(60) == 255
    assert door.is_in


@pytest.mark.parametrize("is_told_of_the_kill", [False, True])
def test_the_end_of_the_program_ends_the_shell(
    alice: Client, gang: Workload, is_told_of_the_kill: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_told_of_the_kill:  # the workload's first process reports the shell's death, and then ends itself
        wait = LocalExec.wait
        monkeypatch.setattr(LocalExec, "wait", lambda stream, timeout_s=None: wait(stream, timeout_s) or -9)
    argv = ["ssh", *alice.options(), f"{ssh_name(gang, 1)}@127.0.0.1", "echo in; sleep 50"]
    client = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"in\n"
    for member in Member.objects.exclude(handle=None):
        driver_named("local").stop(Handle.from_dict(member.handle or {}), 0)
    assert client.wait(60) == 255
    assert client.stderr is not None
    assert b"The program has ended." in client.stderr.read()


def test_a_shell_that_kills_itself_is_no_end_of_the_program(alice: Client, gang: Workload) -> None:
    done = alice.ssh(ssh_name(gang, 0), "kill -9 $$")
    assert (done.code, "has ended" in done.errors) == (255, False)
