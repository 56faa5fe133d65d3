"""Who comes in, who does not, and who is shown out."""

import asyncio
import socket
import subprocess
import time

import pytest

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.ssh.bans import ALLOWED, BANNED_S, Bans
from apps.storage import volumes
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import Membership, Organisation, SshKey
from tests.builders import World, make_member, make_organisation
from tests.envs.ssh.kit import Client, Desk
from tests.ports import free_port


def signed_in(within_s: float = 60.0) -> Entry:
    """The door writes it down beside the conversation, which may end first."""
    end = time.monotonic() + within_s
    while not Entry.objects.filter(action="ssh.signed_in").exists() and time.monotonic() < end:
        time.sleep(0.02)
    return Entry.objects.get(action="ssh.signed_in")


def test_the_owner_comes_in_and_it_is_written_down(alice: Client, stopped: Environment, world: World) -> None:
    assert alice.sftp(stopped.code, "pwd").code == 0
    entry = signed_in()
    assert (entry.actor_id, entry.channel, entry.address) == (world.alice.pk, "ssh", "127.0.0.1")
    assert entry.target_id == str(stopped.pk)
    assert SshKey.objects.get(user=world.alice).last_used_at is not None


def test_a_stopped_environment_says_how_to_start_it(alice: Client, stopped: Environment) -> None:
    done = alice.ssh(stopped.code, "true")
    assert done.code == 1
    assert "is stopped" in done.errors
    assert "sftp" in done.errors


def test_keys_of_others_open_nothing(desk: Desk, stopped: Environment, world: World) -> None:
    stranger = make_member(make_organisation(), "charlie", Role.ADMIN)
    colleague = make_member(world.organisation, "bob")
    for client in (desk.client(None), desk.client(stranger), desk.client(colleague)):
        done = client.sftp(stopped.code, "ls")
        assert done.code == 255
        assert "Permission denied (publickey)" in done.errors


def test_an_admin_of_the_organisation_stays_outside_as_in_the_browser(
    desk: Desk, stopped: Environment, world: World
) -> None:
    admin = desk.client(make_member(world.organisation, "carol", Role.ADMIN))
    done = admin.sftp(stopped.code, "ls")
    assert (done.code, "Permission denied (publickey)" in done.errors) == (255, True)


def test_unknown_names_look_like_wrong_keys(alice: Client, stopped: Environment) -> None:
    done = alice.sftp("env-nobody", "ls")
    assert (done.code, "Permission denied (publickey)" in done.errors) == (255, True)


def test_what_is_in_the_bin_is_closed(alice: Client, stopped: Environment) -> None:
    Environment.objects.filter(pk=stopped.pk).update(deleted_at="2026-01-01T00:00Z", purge_at="2027-01-01T00:00Z")
    assert alice.sftp(stopped.code, "ls").code == 255


def test_a_frozen_organisation_is_closed(alice: Client, stopped: Environment, world: World) -> None:
    Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
    assert alice.sftp(stopped.code, "ls").code == 255


@pytest.mark.parametrize("loss", ["key", "membership", "account", "role", "organisation", "environment"])
def test_who_loses_the_right_is_shown_out(
    alice: Client, running: Environment, world: World, desk: Desk, loss: str
) -> None:
    argv = ["ssh", *alice.options(), f"{running.code}@127.0.0.1", "echo in; sleep 50"]
    client = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"in\n"
    (door,) = desk.house.doors
    check(desk)
    assert client.poll() is None
    lose(loss, world, running)
    check(desk)
    assert client.wait(60) == 255
    assert door.is_in


def lose(loss: str, world: World, environment: Environment) -> None:
    if loss == "key":
        SshKey.objects.all().delete()
    elif loss == "membership":
        Membership.objects.filter(user=world.alice).delete()
    elif loss == "account":
        type(world.alice).objects.filter(pk=world.alice.pk).update(is_active=False)
    elif loss == "role":
        Membership.objects.filter(user=world.alice).update(role=Role.FINANCE)
    elif loss == "organisation":
        Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
    else:
        Environment.objects.filter(pk=environment.pk).update(
            deleted_at="2026-01-01T00:00Z", purge_at="2027-01-01T00:00Z"
        )


def test_a_change_of_role_that_keeps_the_right_disturbs_nobody(
    alice: Client, running: Environment, world: World, desk: Desk
) -> None:
    argv = ["ssh", *alice.options(), f"{running.code}@127.0.0.1", "echo in; read line; echo $line"]
    client = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"in\n"
    Membership.objects.filter(user=world.alice).update(role=Role.ADMIN)
    check(desk)
    assert client.communicate(b"still here\n", timeout=60)[0] == b"still here\n"


@pytest.mark.parametrize("kind", ["transfer", "forward", "idle shell"])
def test_whatever_is_under_way_is_cut(alice: Client, running: Environment, world: World, desk: Desk, kind: str) -> None:
    """In the middle of a transfer that never ends, of a forwarded connection, of a shell in which nobody types."""
    there, tty = f"{running.code}@127.0.0.1", ("-tt",) if kind == "idle shell" else ()
    port = free_port()
    if kind == "forward":
        argv = ["ssh", *alice.options(), "-N", "-L", f"{port}:localhost:8080", there]
    else:
        command = {"transfer": ["cat /dev/zero"], "idle shell": []}[kind]
        argv = ["ssh", *alice.options(), *tty, there, *command]
    client = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert client.stdout is not None
    if kind == "forward":
        connection = forwarded(port)
    else:
        assert client.stdout.read(1)  # and no more: the client's buffers are full from now on
    Membership.objects.filter(user=world.alice).delete()
    check(desk)
    if kind == "transfer":
        while client.stdout.read(1 << 20):
            pass
    if kind == "forward":
        assert connection.recv(1) == b""
    assert client.wait(60) == 255


def forwarded(port: int) -> socket.socket:
    """A connection through the tunnel, which the other end has taken."""
    end = time.monotonic() + 60
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), 60)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            connection.sendall(b"GET / HTTP/1.0\r\n")
            return connection


def check(desk: Desk) -> None:
    """What the door does by itself every ten seconds."""
    (door,) = desk.house.doors
    asyncio.run_coroutine_threadsafe(door.check(), desk.house.loops[0].get_loop()).result(60)


def test_a_volume_by_its_own_code_has_files_and_no_shell(alice: Client, world: World) -> None:
    with acting(world.actor):
        volume = volumes.create(world.actor, name="data", size_mib=10)
    (volumes.root_of(volume) / "here").write_text("x")
    assert b"here" in alice.sftp(volume.code, "ls").output
    done = alice.ssh(volume.code, "true")
    assert (done.code, "no shell" in done.errors) == (1, True)


def test_an_address_that_fails_again_and_again_waits() -> None:
    bans = Bans()
    for second in range(ALLOWED):
        assert not bans.is_banned("192.0.2.1", second)
        bans.failed("192.0.2.1", second)
    assert bans.is_banned("192.0.2.1", ALLOWED)
    assert not bans.is_banned("192.0.2.2", ALLOWED)
    assert not bans.is_banned("192.0.2.1", ALLOWED + BANNED_S)


def test_a_banned_address_is_not_even_asked_for_its_key(alice: Client, desk: Desk, stopped: Environment) -> None:
    nobody = desk.client(None)
    for _ in range(ALLOWED):
        assert nobody.sftp(stopped.code, "ls").code == 255
    done = alice.sftp(stopped.code, "ls")
    assert done.code == 255
    assert "Permission denied" not in done.errors
