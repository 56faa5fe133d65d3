"""Images of uploaded archives: what real tools write comes as it is, and each thing that is wrong has its word."""

import gzip
import io
import json
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus as Status
from apps.registry.models import ImageManifest
from apps.registry.transfers import arriving, services
from apps.registry.transfers.words import problem_words
from apps.storage.models import Folder, FolderKind
from tests.builders import actor_of, make_member, platform
from tests.drivers.registries import ARCHITECTURE, digest_of, layer
from tests.registry import serving
from tests.registry.serving import Site, login, oci_layout
from tests.registry.test_registry_tokens import Person
from tests.registry.transfers.archived import (
    actions_on_uploads,
    begin,
    docker_archive,
    look,
    nothing_is_left,
    saved_by_docker,
    send,
    special,
    tar,
    tar_of,
    uploaded,
)
from tests.registry.transfers.kit import again, tags_of, work
from tests.registry.transfers.test_pulling import both_architectures, same_bytes

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]
MB = 1000 * 1000


def test_an_oci_archive_comes_as_it_is(site: Site, alice: Person, tmp_path: Path) -> None:
    digest = oci_layout(tmp_path / "image", [layer(("a", b"a" * 1000)), layer(("b", b"b" * 1000))])
    asked = begin(alice, tag="2.9")
    assert (asked.status, asked.title) == (Status.UPLOADING, f"{alice.mine}/torch:2.9")
    data = tar_of(tmp_path / "image")
    assert send(alice, asked, data, until=5000) == 5000
    look()
    assert again(asked).status == Status.UPLOADING
    with acting(actor_of(alice.user, alice.organisation)):
        assert arriving.unfinished(again(asked)) == [("image.tar", 100 * 5000 // len(data))]
    send(alice, asked, data)
    look()
    assert (again(asked).status, again(asked).source) == (Status.QUEUED, "image.tar")
    transfer = work(asked)
    assert (transfer.status, problem_words(transfer)) == (Status.SUCCEEDED, "")
    assert (transfer.digest, transfer.layers, transfer.layers_done) == (digest, 2, 3)
    assert transfer.done_bytes == transfer.total_bytes > 0
    assert tags_of(transfer) == {"2.9": digest}
    back = site.pull(f"{alice.mine}/torch:2.9", tmp_path / "back", login(alice))
    assert back.returncode == 0, back.stderr
    assert same_bytes(tmp_path / "image", tmp_path / "back")
    assert actions_on_uploads() == ["image.upload_asked", "image.uploaded"]
    look()
    with acting(platform()):
        assert not Folder.objects.filter(kind=FolderKind.ARCHIVE).exists()


@pytest.mark.parametrize("packed", ["", "gzip", "zstd"])
def test_what_docker_saves_is_taken_with_and_without_compression(
    site: Site, alice: Person, tmp_path: Path, packed: str
) -> None:
    oci_layout(tmp_path / "image", [layer(("greeting", b"hello\n"))])
    data = saved_by_docker(tmp_path / "image", "team/torch:1", tmp_path / "saved.tar")
    if packed == "gzip":
        data = gzip.compress(data)
    elif packed == "zstd":
        if not shutil.which("zstd"):
            pytest.skip("needs zstd")
        subprocess.run(["zstd", "-q", str(tmp_path / "saved.tar")], check=True)
        data = (tmp_path / "saved.tar.zst").read_bytes()
    transfer = uploaded(alice, data, tag="1")
    assert (transfer.status, problem_words(transfer)) == (Status.SUCCEEDED, "")
    back = site.pull(f"{alice.mine}/torch:1", tmp_path / "back", login(alice))
    assert back.returncode == 0, back.stderr
    with acting(platform()):
        assert ImageManifest.objects.get(digest=tags_of(transfer)["1"]).platform == f"linux/{ARCHITECTURE}"


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_with_links_to_its_layers(site: Site, alice: Person, tmp_path: Path, packed: bool) -> None:
    data = docker_archive([("team/a:1", gzip.decompress(layer(("a", b"a"))))], packed=packed)
    transfer = uploaded(alice, data, tag="1")
    assert (transfer.status, problem_words(transfer)) == (Status.SUCCEEDED, "")
    assert site.pull(f"{alice.mine}/torch:1", tmp_path / "back", login(alice)).returncode == 0


def test_of_several_images_somebody_chooses_one(alice: Person) -> None:
    data = docker_archive([("team/a:1", gzip.decompress(layer(("a", b"a")))), ("team/b:2", b"\0" * 10240)])
    transfer = uploaded(alice, data)
    assert (transfer.status, transfer.offered) == (Status.CHOOSING, ["team/a:1", "team/b:2"])
    actor = actor_of(alice.user, alice.organisation)
    with acting(platform()):
        bob = Person(make_member(alice.organisation, "bob"), alice.organisation, "")
    with acting(actor_of(bob.user, bob.organisation)), pytest.raises(NotFound):
        services.choose(actor_of(bob.user, bob.organisation), transfer.pk, "team/b:2")
    with acting(actor):
        with pytest.raises(Invalid):
            services.choose(actor, transfer.pk, "team/c:3")
        assert services.choose(actor, transfer.pk, "team/b:2").status == Status.QUEUED
        with pytest.raises(Conflict):
            services.choose(actor, transfer.pk, "team/a:1")
    found = work(again(transfer))
    assert (found.status, found.image, found.layers) == (Status.SUCCEEDED, "team/b:2", 1)
    assert actions_on_uploads() == ["image.upload_asked", "image.upload_chosen", "image.uploaded"]


def test_an_index_comes_whole_or_for_one_architecture(alice: Person, tmp_path: Path) -> None:
    both_architectures(tmp_path / "image")
    data = tar_of(tmp_path / "image")
    whole, one = uploaded(alice, data, "both"), uploaded(alice, data, "one", platform="linux/arm64")
    assert (whole.status, one.status) == (Status.SUCCEEDED, Status.SUCCEEDED)
    with acting(platform()):
        index = ImageManifest.objects.get(digest=tags_of(whole)["latest"])
        assert tags_of(one)["latest"] == index.children[1]
    oci_layout(tmp_path / "single")
    other = "linux/arm64" if ARCHITECTURE == "amd64" else "linux/amd64"
    wrong = uploaded(alice, tar_of(tmp_path / "single"), "wrong", platform=other)
    assert wrong.problem == "other_architecture"
    assert f"linux/{ARCHITECTURE}" in problem_words(wrong)


def an_image(tmp_path: Path) -> dict[str, bytes]:
    oci_layout(tmp_path / "image", [layer(("a", b"a" * 2000))])
    root = tmp_path / "image"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def largest(files: dict[str, bytes]) -> str:
    return max((name for name in files if name.startswith("blobs/")), key=lambda name: len(files[name]))


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (("../../etc/passwd", b"x"), "hostile"),
        (("/etc/passwd", b"x"), "hostile"),
        (("a/b", special(tarfile.SYMTYPE, "../../../etc/passwd")), "hostile"),
        (("a", special(tarfile.SYMTYPE, "/etc/passwd")), "hostile"),
        (("a", special(tarfile.LNKTYPE, "../x")), "hostile"),
        (("dev/sda", special(tarfile.BLKTYPE)), "hostile"),
        (("tty", special(tarfile.CHRTYPE)), "hostile"),
        (("pipe", special(tarfile.FIFOTYPE)), "hostile"),
        (("blobs/sha256/" + "0" * 64, b"another"), "wrong_digest"),
    ],
)
def test_what_no_image_has_is_refused(
    alice: Person, tmp_path: Path, member: tuple[str, bytes | tarfile.TarInfo], problem: str
) -> None:
    files = an_image(tmp_path)
    transfer = uploaded(alice, tar(*files.items(), member))
    assert (transfer.status, transfer.problem) == (Status.FAILED, problem)
    assert problem_words(transfer)
    assert nothing_is_left(transfer)
    assert actions_on_uploads() == ["image.upload_asked", "image.upload_failed"]


def test_archives_that_are_none_or_not_whole(alice: Person, tmp_path: Path) -> None:
    files = an_image(tmp_path)
    whole = tar(*files.items())
    missing = {name: data for name, data in files.items() if name != largest(files)}
    layer_a = gzip.decompress(layer(("a", b"a")))
    other_ids = {"rootfs": {"diff_ids": [digest_of(b"other")]}}
    cases = {
        b"": "not_an_archive",
        b"no archive at all" * 100: "not_an_archive",
        b"\xfd7zXZ\x00" + b"x" * 2000: "not_an_archive",
        b"\x1f\x8b" + b"x" * 2000: "truncated",
        gzip.compress(whole)[:-600]: "truncated",
        whole[: len(whole) // 10]: "truncated",
        tar(*missing.items()): "incomplete",
        tar(("readme", b"hello")): "no_image",
        tar(("index.json", b'{"schemaVersion": 2, "manifests": []}')): "no_image",
        tar(("index.json", b"{")): "unreadable",
        tar(("index.json", b'{"manifests": [1]}')): "unreadable",
        tar(("manifest.json", b"[1]")): "unreadable",
        tar(("manifest.json", b"nothing")): "unreadable",
        tar(("manifest.json", b'[{"Config": "a.json", "Layers": []}]')): "incomplete",
        tar(("index.json", b" " * (5 * 1024 * 1024))): "unreadable",
        docker_archive([("a:1", layer_a)], config=other_ids): "wrong_digest",
        docker_archive([("a:1", layer_a)], packed=True, config=other_ids): "wrong_digest",
        docker_archive([("a:1", layer_a)], config={"rootfs": {"diff_ids": []}}): "unreadable",
        docker_archive([(f"a:{number}", str(number).encode()) for number in range(70)]): "too_many_images",
    }
    for number, (data, problem) in enumerate(cases.items()):
        transfer = uploaded(alice, data, f"a{number}")
        assert (transfer.status, transfer.problem) == (Status.FAILED, problem), (number, problem_words(transfer))
        assert problem_words(transfer)
        assert nothing_is_left(transfer)


def test_bombs_end_at_the_limit(alice: Person, settings: LazySettings) -> None:
    zeros = b"\0" * (3 * MB)
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, most_mib=2)
    outer = uploaded(alice, gzip.compress(tar(("zeros", zeros))), "outer")
    inner = uploaded(alice, docker_archive([("a:1", zeros)], packed=True), "inner")
    assert (outer.problem, inner.problem) == ("bomb", "bomb")
    many = tar(*((f"{number}", b"") for number in range(50_001)))
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, most_mib=2000)
    assert uploaded(alice, gzip.compress(many), "many").problem == "hostile"
    header = io.BytesIO()
    with tarfile.open(fileobj=header, mode="w", format=tarfile.PAX_FORMAT) as archive:
        about = tarfile.TarInfo("a")
        about.pax_headers = {"comment": "x" * (2 * MB)}
        archive.addfile(about)
    assert uploaded(alice, header.getvalue(), "header").problem == "hostile"
    assert nothing_is_left(inner)


def test_manifests_that_only_stand_beside_images_are_no_images(alice: Person, tmp_path: Path) -> None:
    files = an_image(tmp_path)
    index = json.loads(files["index.json"])
    entry = index["manifests"][0]
    beside = {**entry, "digest": digest_of(b"{}"), "platform": {"os": "unknown", "architecture": "unknown"}}
    again_tagged = {**entry, "annotations": {"org.opencontainers.image.ref.name": "latest"}}
    files["index.json"] = json.dumps({**index, "manifests": [entry, beside, again_tagged]}).encode()
    assert uploaded(alice, tar(*files.items())).status == Status.SUCCEEDED
