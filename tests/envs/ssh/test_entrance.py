"""Who comes in, who does not, and who is shown out."""

import asyncio
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


def signed_in(within_s: float = 10.0) -> Entry:
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


@pytest.mark.parametrize("loss", ["key", "membership", "account"])
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
    if loss == "key":
        SshKey.objects.all().delete()
    elif loss == "membership":
        Membership.objects.filter(user=world.alice).delete()
    else:
        type(world.alice).objects.filter(pk=world.alice.pk).update(is_active=False)
    check(desk)
    assert client.wait(20) == 255
    assert door.is_in


def check(desk: Desk) -> None:
    """What the door does by itself every half minute."""
    (door,) = desk.house.doors
    asyncio.run_coroutine_threadsafe(door.check(), desk.house.loops[0].get_loop()).result(20)


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
