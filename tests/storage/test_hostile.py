"""What a tenant's program puts in the platform's way, at every place where the platform opens or makes something."""

import io
import os
import signal
import socket
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest
from django.core.files.base import ContentFile

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.envs.ssh import writing as sftp
from apps.envs.ssh.namespace import Place, Spot
from apps.storage import (
    copying,
    listing,
    notebooks,
    rebuilding,
    services,
    texts,
    trees,
    unpacking,
    uploads,
    usage,
    zipping,
)
from apps.storage.choices import Clash, JobStatus
from apps.storage.models import Folder, FolderKind, Job
from apps.storage.roots import Root
from apps.storage.safe_open import open_file, writing
from tests.builders import platform
from tests.storage.kit import put, work

PATIENCE_S = 60.0
SECRET = "secret of another"


class Waits(BaseException):
    """No OSError, which the tests expect."""


@contextmanager
def in_time() -> Iterator[None]:
    """Fails where something waits: the alarm's exception breaks into a blocked system call."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Waits

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, slots=True)
class Scene:
    """A volume of Alice's with something planted at `name`, and a file of somebody else's outside."""

    actor: Actor
    root: Root
    name: str
    secret: Path

    @property
    def place(self) -> Path:
        return self.root.path / self.name


def _socket(place: Path, _secret: Path) -> None:
    folder = os.getcwd()
    os.chdir(place.parent)  # a socket's path may have 107 bytes only
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place.name)
    finally:
        os.chdir(folder)


def _pipe_behind_a_link(place: Path, _secret: Path) -> None:
    os.mkfifo(place.with_name("hidden-pipe"))
    place.symlink_to("hidden-pipe")


PLANTS: dict[str, Callable[[Path, Path], None]] = {
    "pipe": lambda place, _secret: os.mkfifo(place),
    "device": lambda place, _secret: os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(5, 0)),
    "socket": _socket,
    "link": lambda place, secret: place.symlink_to(secret),
    "pipe behind a link": _pipe_behind_a_link,
    "hard link": lambda place, secret: os.link(secret, place),
    "folder": lambda place, _secret: place.mkdir(),
}


@pytest.fixture(params=sorted(PLANTS))
def scene(request: pytest.FixtureRequest, alice: Actor, root: Root, tmp_path: Path) -> Scene:
    secret = tmp_path / "outside" / "secret"
    secret.write_text(SECRET)
    found = Scene(alice, root, "zz.txt", secret)
    try:
        PLANTS[request.param](found.place, secret)
    except PermissionError:
        pytest.skip("only root makes devices")
    return found


def _write_below(scene: Scene) -> None:
    with writing(scene.root.path, scene.name) as descriptor:
        os.write(descriptor, b"mine")


def _write_text(scene: Scene) -> None:
    texts.write_text(scene.root, scene.name, "mine", etag=None)


def _upload(scene: Scene) -> None:
    upload, _offset = uploads.begin(scene.actor, scene.root, path=scene.name, size=4, clash=Clash.REPLACE)
    uploads.append(scene.actor, upload, offset=0, chunks=[b"mine"])
    uploads.finish(scene.actor, upload)


def _code(scene: Scene) -> Folder:
    """A folder of code that lies where the plant is."""
    folder = services.create_folder(scene.actor, kind=FolderKind.CODE)
    services.root_of(folder).rmdir()
    services.root_of(folder).symlink_to(scene.root.path)
    return folder


def _add_code(scene: Scene) -> None:
    services.add_file(scene.actor, folder=_code(scene), path=scene.name, content=ContentFile(b"mine"))


def _write_code(scene: Scene) -> None:
    services.write_text(scene.actor, folder=_code(scene), path=scene.name, text="mine")


def _copy_over(scene: Scene) -> None:
    put(scene.root.path, "from/new", "mine").replace(scene.root.path / "from" / "zz.txt")
    job = copying.start(scene.actor, scene.root, ["from/zz.txt"], scene.root, "", clash=Clash.REPLACE)
    work()
    if Job.objects.get(pk=job.pk).status == JobStatus.FAILED:
        raise OSError("refused")


def _rebuild(scene: Scene) -> None:
    put(scene.root.path, "tree/new", "mine").replace(scene.root.path / "tree" / "zz.txt")
    with acting(platform()):
        manifest = trees.capture(organisation_id=scene.root.organisation_id, root=scene.root.path / "tree")
        rebuilding.materialise(manifest, scene.root.path)


def _sftp(flags: int) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        spot = Spot(Place((), scene.root), (scene.name,))
        account = sftp.WriteBudget(scene.root)
        file = sftp.open_file(spot, flags, 0o644, account)
        try:
            if flags & os.O_ACCMODE != os.O_RDONLY:
                file.write(0, b"mine")
            else:
                file.read(0, 100)
        finally:
            file.close()
            account.settle()

    return act


WRITERS: dict[str, Callable[[Scene], None]] = {
    "beneath": _write_below,
    "text": _write_text,
    "upload": _upload,
    "code upload": _add_code,
    "code text": _write_code,
    "copy": _copy_over,
    "rebuild": _rebuild,
    "sftp": _sftp(os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    "sftp append": _sftp(os.O_WRONLY | os.O_APPEND),
}


@pytest.mark.parametrize("writer", sorted(WRITERS))
def test_no_writer_waits_or_writes_elsewhere(scene: Scene, writer: str) -> None:
    kind = stat.S_IFMT(scene.place.lstat().st_mode)
    with acting(scene.actor), in_time(), suppress(DomainError, OSError):
        WRITERS[writer](scene)
        assert stat.S_ISREG(scene.place.lstat().st_mode), "said to be written"
        assert scene.place.stat().st_nlink == 1
    assert scene.secret.read_text() == SECRET
    assert stat.S_IFMT(scene.place.lstat().st_mode) in (kind, stat.S_IFREG)
    assert not list(scene.root.path.rglob(".plstack-*"))


def _capture(scene: Scene) -> None:
    with acting(platform()):
        trees.capture(organisation_id=scene.root.organisation_id, root=scene.root.path)


def _copy_all(scene: Scene) -> None:
    (scene.root.path / "into").mkdir()
    copying.start(scene.actor, scene.root, [scene.name], scene.root, "into")
    work()


READERS: dict[str, Callable[[Scene], object]] = {
    "beneath": lambda scene: os.close(open_file(scene.root.path, scene.name)),
    "text": lambda scene: texts.read_text(scene.root, scene.name),
    "notebook": lambda scene: notebooks.read_notebook(scene.root, scene.name),
    "zip": lambda scene: b"".join(zipping.zip_of(scene.root.path, [""])),
    "list": lambda scene: listing.page_of(scene.root.path),
    "measure": lambda scene: usage.measure(scene.root.path),
    "capture": _capture,
    "copy": _copy_all,
    "unpack": lambda scene: unpacking.start(scene.actor, scene.root, scene.name),
    "sftp": _sftp(os.O_RDONLY),
}


@pytest.mark.parametrize("reader", sorted(READERS))
def test_no_reader_waits(scene: Scene, reader: str) -> None:
    with acting(scene.actor), in_time(), suppress(DomainError, OSError):
        READERS[reader](scene)
    assert scene.secret.read_text() == SECRET


# A program at work while the platform is: in every folder that appears, pipes and links under the names to come.
RACER = """
import os, sys
root, secret = sys.argv[1:]
print("up", flush=True)
while True:
    for folder, _names, _files in os.walk(root):
        for act in (
            lambda: os.mkfifo(f"{folder}/zz.txt"),
            lambda: os.unlink(f"{folder}/zz.txt"),
            lambda: os.symlink(secret, f"{folder}/zz.txt"),
            lambda: os.unlink(f"{folder}/zz.txt"),
            lambda: os.mkfifo(f"{folder}/zz.txt"),
        ):
            try: act()
            except OSError: pass
"""


@pytest.fixture
def racer(root: Root, tmp_path: Path) -> Iterator[Path]:
    secret = tmp_path / "outside" / "secret"
    secret.write_text(SECRET)
    command = [sys.executable, "-c", RACER, str(root.path), str(secret)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        (process.stdout or io.BytesIO()).readline()
        try:
            yield secret
        finally:
            process.kill()


def zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "mine")
    return packed.getvalue()


def test_a_zip_comes_out_whole_while_a_program_plants_pipes(root: Root, alice: Actor, racer: Path) -> None:
    """The program wins every race to a folder that it sees; what is put together out of its sight it cannot touch."""
    put(root.path, "a.zip", zipped(*(f"{number:03}.txt" for number in range(200)), "zz.txt"))
    with acting(alice), in_time():
        job = unpacking.start(alice, root, "a.zip")
        work()
        done = Job.objects.get(pk=job.pk)
    assert done.status == JobStatus.SUCCEEDED, done.error
    assert len([path for path in (root.path / "a").iterdir() if path.name != "zz.txt"]) == 200
    assert racer.read_text() == SECRET


@pytest.mark.parametrize("writer", sorted(set(WRITERS) - {"code upload", "code text"}))
def test_no_writer_loses_a_race(root: Root, alice: Actor, racer: Path, writer: str) -> None:
    scene = Scene(alice, root, "zz.txt", racer)
    with acting(alice), in_time():
        for _round in range(8):
            with suppress(DomainError, OSError):
                WRITERS[writer](scene)
    assert racer.read_text() == SECRET
