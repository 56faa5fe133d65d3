"""Archives of images, as real tools write them and as nobody should, and their upload in parts."""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry.distribution.client import Client as RegistryClient
from apps.registry.models import ImageTransfer
from apps.registry.transfers import copying, services, working
from apps.registry.transfers.services import NewArchive
from apps.storage import uploads
from apps.storage.choices import RootKind
from apps.storage.models import Folder, FolderKind, Upload
from apps.storage.roots import resolve
from tests.builders import actor_of, platform
from tests.registry.serving import SKOPEO
from tests.registry.test_registry_tokens import Person
from tests.registry.transfers.kit import again, work

PART = 8 * 1024 * 1024


def tar_of(folder: Path) -> bytes:
    """An OCI layout as one file."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.add(path, str(path.relative_to(folder)), recursive=False)
    return made.getvalue()


def saved_by_docker(layout: Path, name: str, target: Path) -> bytes:
    """As `docker save` writes it, by skopeo."""
    argv = [str(SKOPEO), "--insecure-policy", "copy", f"oci:{layout}", f"docker-archive:{target}:{name}"]
    subprocess.run(argv, check=True, capture_output=True, timeout=120)
    return target.read_bytes()


def tar(*members: tuple[str, bytes | tarfile.TarInfo]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, what in members:
            if isinstance(what, tarfile.TarInfo):
                what.name = name
                archive.addfile(what)
            else:
                about = tarfile.TarInfo(name)
                about.size = len(what)
                archive.addfile(about, io.BytesIO(what))
    return made.getvalue()


def special(kind: bytes, leads_to: str = "") -> tarfile.TarInfo:
    about = tarfile.TarInfo()
    about.type, about.linkname = kind, leads_to
    return about


def docker_archive(images: Sequence[tuple[str, bytes]], *, packed: bool = False, config: Any = None) -> bytes:
    """The older format, with one layer an image: its name and the layer's bytes."""
    members: list[tuple[str, bytes | tarfile.TarInfo]] = []
    manifest = []
    for number, (name, layer) in enumerate(images):
        ids = [f"sha256:{_hex(layer)}"]
        about = {"os": "linux", "architecture": "amd64", "rootfs": {"type": "layers", "diff_ids": ids}}
        body = json.dumps({**about, "config": {"Labels": {"name": name}}, **(config or {})}).encode()
        members += [(f"{_hex(body)}.json", body), (f"{number}/real.tar", gzip.compress(layer) if packed else layer)]
        members.append((f"{number}/layer.tar", special(tarfile.SYMTYPE, f"../{number}/real.tar")))
        manifest.append({"Config": f"{_hex(body)}.json", "RepoTags": [name], "Layers": [f"{number}/layer.tar"]})
    return tar(*members, ("manifest.json", json.dumps(manifest).encode()))


def _hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def begin(whose: Person, name: str = "torch", **more: Any) -> ImageTransfer:
    actor = actor_of(whose.user, whose.organisation)
    with acting(actor):
        return services.upload(actor, NewArchive(name, **more))


def send(whose: Person, transfer: ImageTransfer, data: bytes, name: str = "image.tar", until: int | None = None) -> int:
    """Upload it in parts, from where it is on; to `until` alone where that is given. How much has come."""
    actor = actor_of(whose.user, whose.organisation)
    with acting(actor):
        root = resolve(actor, RootKind.FOLDER, transfer.archive_id, write=True)
        upload, at = uploads.begin(actor, root, path=name, size=len(data), fingerprint=name)
        end = len(data) if until is None else until
        while at < end:
            at = uploads.append(actor, upload, offset=at, chunks=[data[at : min(end, at + PART)]])
        if at == len(data):
            uploads.finish(actor, upload)
    return at


def look() -> None:
    """As the files process does every other second."""
    with acting(platform()):
        list(working.due())


def uploaded(whose: Person, data: bytes, name: str = "torch", **more: Any) -> ImageTransfer:
    """Uploaded, found and worked on."""
    transfer = begin(whose, name, **more)
    send(whose, transfer, data)
    look()
    return work(again(transfer))


def actions_on_uploads() -> list[str]:
    with acting(platform()):
        rows = Entry.objects.filter(action__startswith="image.upload").order_by("pk")
        return list(rows.values_list("action", flat=True))


def nothing_is_left(transfer: ImageTransfer) -> bool:
    """Neither on the disk nor in the registry."""
    look()
    with acting(platform()):
        folders = Folder.objects.filter(kind=FolderKind.ARCHIVE).exists() or Upload.objects.exists()
    with RegistryClient() as client:
        tags = client.tags(transfer.repository_name)
    found = again(transfer)
    held = (found.archive_id, found.added_bytes, found.offered)
    return not (folders or tags or copying.folder_of(transfer.pk).exists()) and held == (None, 0, [])
