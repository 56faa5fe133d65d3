"""Files over SFTP and scp: whole, inside their limits, and nowhere else."""

import asyncio
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest
from django.db import connection as database

from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.ssh import current
from apps.storage import sharing, volumes
from apps.storage.choices import Right
from apps.storage.models import Folder, Volume
from apps.storage.services import root_of
from tests.builders import World, actor_of, make_member
from tests.drivers.kit import MIB
from tests.envs.ssh.kit import Client, Desk, home_of


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("protocol", ["-s", "-O"])
def test_twenty_megabytes_there_and_back(alice: Client, stopped: Environment, desk: Desk, protocol: str) -> None:
    sent = desk.folder / "sent.bin"
    sent.write_bytes(os.urandom(20 * MIB))
    done = alice.scp(protocol, "-p", "sent.bin", f"@{stopped.code}:there.bin")
    assert done.code == 0, done.errors
    assert digest(home_of(stopped) / "there.bin") == digest(sent)
    done = alice.scp(protocol, f"@{stopped.code}:there.bin", "back.bin")
    assert done.code == 0, done.errors
    assert digest(desk.folder / "back.bin") == digest(sent)


def test_a_tree_by_scp(alice: Client, running: Environment, desk: Desk) -> None:
    tree = desk.folder / "tree/deep/deeper"
    tree.mkdir(parents=True)
    for number in range(20):
        (tree / f"f{number} 你好").write_text(str(number))
    assert alice.scp("-r", "tree", f"@{running.code}:").code == 0
    done = alice.ssh(running.code, "ls tree/deep/deeper | wc -l; touch tree/deep/mine && rm -r tree && echo gone")
    assert done.output == b"20\ngone\n", done.errors


def test_every_operation_of_sftp(alice: Client, stopped: Environment, desk: Desk) -> None:
    (desk.folder / "a").write_text("first")
    done = alice.sftp(
        stopped.code,
        "pwd", "mkdir d", "put a d/a", "chmod 600 d/a", "rename d/a d/b", "symlink b d/l", "ls -la d",
        "get d/l got", "rm d/l", "rm d/b", "rmdir d", "ls -la /",
    )  # fmt: skip
    assert done.code == 0, (done.output, done.errors)
    assert "/home/user" in done.output.decode()
    assert (desk.folder / "got").read_text() == "first"


def test_files_made_outside_belong_to_the_tenant(alice: Client, running: Environment, desk: Desk) -> None:
    (desk.folder / "a").write_text("x")
    assert alice.sftp(running.code, "mkdir made", "put a made/a").code == 0
    done = alice.ssh(running.code, "echo more >> made/a && mv made/a made/b && cat made/b")
    assert (done.code, done.output) == (0, b"xmore\n"), done.errors


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../../etc/passwd", "/home/user/../../etc/passwd", "escape", "folder/passwd", "chain",
             "/proc/self/environ", "/home", "loop", "pipe"],
)  # fmt: skip
def test_no_path_and_no_link_leads_out(alice: Client, stopped: Environment, desk: Desk, path: str) -> None:
    home = home_of(stopped)
    (home / "escape").symlink_to("/etc/passwd")
    (home / "folder").symlink_to("/etc")
    (home / "chain").symlink_to("escape")
    (home / "loop").symlink_to("loop")
    os.mkfifo(home / "pipe")
    done = alice.sftp(stopped.code, f"get {path} got")
    assert done.code != 0
    assert not (desk.folder / "got").is_file()
    assert alice.scp(f"@{stopped.code}:{path}", "got").code != 0
    assert not (desk.folder / "got").is_file()
    (desk.folder / "a").write_text("planted")
    for there in (path, f"{path}/planted"):
        alice.sftp(stopped.code, f"put a {there}")
        alice.scp("-O", "a", f"@{stopped.code}:{there}")
    assert "planted" not in Path("/etc/passwd").read_text()
    assert not Path("/etc/planted").exists()


def test_links_that_stay_inside_are_followed(alice: Client, stopped: Environment, desk: Desk) -> None:
    home = home_of(stopped)
    (home / "real").mkdir()
    (home / "real/file").write_text("through")
    (home / "relative").symlink_to("real")
    (home / "absolute").symlink_to("/home/user/real/file")
    (home / "up").symlink_to("../user/real")
    for path in ("relative/file", "absolute", "up/file"):
        assert alice.sftp(stopped.code, f"get {path} got").code == 0
        assert (desk.folder / "got").read_text() == "through"


def test_a_full_home_takes_no_more_and_says_so(alice: Client, stopped: Environment, desk: Desk) -> None:
    Folder.objects.filter(pk=stopped.home.pk).update(size_mib=10)
    (desk.folder / "large").write_bytes(os.urandom(12 * MIB))
    (desk.folder / "small").write_bytes(os.urandom(6 * MIB))
    done = alice.scp("large", f"@{stopped.code}:large")
    assert done.code != 0
    assert "full" in done.errors
    assert (home_of(stopped) / "large").stat().st_size <= 10 * MIB
    assert alice.sftp(stopped.code, "rm large").code == 0
    for _ in range(3):  # replacing frees what was there
        assert alice.scp("small", f"@{stopped.code}:small").code == 0
    assert alice.scp("small", f"@{stopped.code}:other").code != 0
    used = Folder.objects.values_list("used_bytes", flat=True).get(pk=stopped.home.pk)
    assert 6 * MIB <= used <= 10 * MIB


def test_mounted_volumes_are_found_where_they_are_inside(
    alice: Client, stopped: Environment, world: World, desk: Desk
) -> None:
    with acting(world.actor):
        ours, theirs = (volumes.create(world.actor, name=name, size_mib=5) for name in ("data", "fixed"))
    Environment.objects.filter(pk=stopped.pk).update(mounts=[row(ours, False), row(theirs, True)])
    (volumes.root_of(theirs) / "given").write_text("read me")
    (desk.folder / "a").write_text("x")
    assert b"data" in alice.sftp(stopped.code, "ls /volumes").output
    assert alice.sftp(stopped.code, "put a /volumes/data/a", "get /volumes/fixed/given got").code == 0
    assert (volumes.root_of(ours) / "a").read_text() == "x"
    assert alice.sftp(stopped.code, "put a /volumes/fixed/a").code != 0
    assert alice.sftp(stopped.code, "rm /volumes/fixed/given").code != 0
    assert (volumes.root_of(theirs) / "given").exists()


@pytest.mark.parametrize("how", ["unshared", "made read-only"])
def test_a_file_that_is_open_closes_with_the_share_that_it_was_opened_by(
    alice: Client, stopped: Environment, world: World, desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session goes on: it is about Alice's own environment, in which Bob's volume is mounted."""
    monkeypatch.setattr(current, "FRESH_S", 0.0)
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob):
        volume = volumes.create(bob, name="shared", size_mib=5)
        sharing.share(bob, volume, user_id=world.alice.pk, right=Right.WRITE)
    Environment.objects.filter(pk=stopped.pk).update(mounts=[row(volume, False)])
    (volumes.root_of(volume) / "paper").write_text("draft")

    def end() -> None:
        with acting(bob):
            sharing.unshare(bob, volume, user_id=world.alice.pk)
            if how == "made read-only":
                sharing.share(bob, volume, user_id=world.alice.pk, right=Right.READ)
        database.close()  # this thread's own

    assert asyncio.run(uses_around(alice, stopped.code, end)) == (
        ["denied", "denied"] if how == "unshared" else ["done", "denied"]
    )
    assert (volumes.root_of(volume) / "paper").read_text() == "draft of Alice's"


async def uses_around(client: Client, code: str, end: Callable[[], None]) -> list[str]:
    """Whether reading, and writing, files that were opened before `end` is done or denied after it."""
    options = {"port": client.port, "client_keys": [str(client.key)], "known_hosts": None, "config": None}
    told = []
    async with (
        asyncssh.connect("127.0.0.1", username=code, **options) as connection,
        connection.start_sftp_client() as files,
    ):
        read = await files.open("/volumes/shared/paper", "rb", block_size=0)
        write = await files.open("/volumes/shared/paper", "ab", block_size=0)
        assert await read.read(3) == b"dra"
        await write.write(b" of Alice's")
        await asyncio.to_thread(end)
        for act in (lambda: read.read(3, 0), lambda: write.write(b"!")):
            try:
                await act()
                told.append("done")
            except asyncssh.SFTPPermissionDenied:
                told.append("denied")
        assert ".." in await files.listdir("/")
    return told


def row(volume: Volume, read_only: bool) -> dict[str, object]:
    target = f"/volumes/{volume.name}"
    return {"kind": "volume", "id": str(volume.pk), "name": volume.name, "target": target, "read_only": read_only}


def test_a_folder_of_many_files_is_listed_whole(alice: Client, stopped: Environment) -> None:
    folder = root_of(stopped.home) / "many"
    folder.mkdir()
    for number in range(3000):
        (folder / f"{number:05}").touch()
    listed = alice.sftp(stopped.code, "ls -1 many").output.decode().split()
    assert sum(name.startswith("many/") for name in listed) == 3000
