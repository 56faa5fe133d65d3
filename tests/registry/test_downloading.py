"""Images downloaded as a file: what real tools read in it, who may, and what is refused."""

import asyncio
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client as Browser

from apps.audit.models import Entry
from apps.common.errors import NotFound
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import downloading, selectors
from apps.registry.distribution.client import Client, RegistryAway
from apps.registry.models import ImageRepository, ImageTag
from tests.builders import actor_of, make_member, make_organisation, platform, signed_in
from tests.drivers.registries import ARCHITECTURE, digest_of
from tests.registry import serving
from tests.registry.pushing import FIRST, SECOND, Image, Pusher, index
from tests.registry.serving import SKOPEO, Site
from tests.registry.test_registry_tokens import Person
from tests.registry.transfers.archived import docker_archive, uploaded

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]


def skopeo(*words: str) -> Any:
    argv = [str(SKOPEO), "--insecure-policy", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)


def content(answer: Any) -> bytes:
    async def collected() -> bytes:
        return b"".join([part async for part in answer.parts])

    return asyncio.run(collected())


def tag_url(tag: ImageTag) -> str:
    return f"/images/tags/{tag.pk}/download/"


def tag_of(name: str) -> ImageTag:
    with acting(platform()):
        return ImageTag.objects.select_related("manifest").get(name=name)


def files_of(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {each.name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        return {name: file.read() for name, file in found.items() if file is not None}


def test_a_single_image_is_read_by_both_kinds_of_tools(
    site: Site, alice: Person, repository: ImageRepository, tmp_path: Path
) -> None:
    client = signed_in(alice.user)
    tag = tag_of("1")
    assert tag_url(tag) in client.get(f"/images/repositories/{repository.pk}/").content.decode()
    answer = client.get(tag_url(tag))
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'attachment; filename="torch-1.tar"'
    data = content(answer)
    assert int(answer["Content-Length"]) == len(data)
    by_api = client.get(f"/api/v1/images/repositories/{repository.pk}/tags/1/file/")
    assert content(by_api) == data
    (tmp_path / "image.tar").write_bytes(data)
    for kind in ("oci-archive", "docker-archive"):
        seen = skopeo("inspect", "--config", f"{kind}:{tmp_path / 'image.tar'}")
        assert seen.returncode == 0, seen.stderr
        assert json.loads(seen.stdout)["architecture"] == ARCHITECTURE
        copied = skopeo("copy", f"{kind}:{tmp_path / 'image.tar'}", f"oci:{tmp_path / kind}")
        assert copied.returncode == 0, copied.stderr
    about = json.loads(files_of(data)["manifest.json"])[0]
    assert about["RepoTags"] == [f"{site.host}/{repository.name}:1"]
    with acting(platform()):
        assert Entry.objects.filter(action="image.downloaded").count() == 2


def test_what_was_downloaded_can_be_uploaded_again(alice: Person, repository: ImageRepository) -> None:
    data = content(signed_in(alice.user).get(tag_url(tag_of("1"))))
    again = uploaded(alice, data, "again")
    assert (again.status, again.digest) == ("succeeded", FIRST.digest)


def test_of_docker_s_own_format_too(alice: Person, tmp_path: Path) -> None:
    uploaded(alice, docker_archive([("a:1", b"\0" * 10240)]), tag="1")
    (tmp_path / "image.tar").write_bytes(content(signed_in(alice.user).get(tag_url(tag_of("1")))))
    for kind in ("oci-archive", "docker-archive"):
        seen = skopeo("copy", f"{kind}:{tmp_path / 'image.tar'}", f"oci:{tmp_path / kind}")
        assert seen.returncode == 0, (kind, seen.stderr)


def for_two(*images: Image) -> Image:
    about = json.loads(index(*images).manifest)
    for entry, machine in zip(about["manifests"], ("amd64", "arm64"), strict=True):
        entry["platform"]["architecture"] = machine
    return Image(json.dumps(about).encode(), children=images)


def test_of_several_platforms_one_or_all(alice: Person, pusher: Pusher, tmp_path: Path) -> None:
    both = for_two(FIRST, SECOND)
    pusher.push(both, "both")
    tasks.read()
    client, tag = signed_in(alice.user), tag_of("both")
    page = client.get(f"/images/repositories/{tag.repository_id}/").content.decode()
    assert f"{tag_url(tag)}?platform=linux%2Farm64" in page
    whole = files_of(content(client.get(tag_url(tag))))
    assert "manifest.json" not in whole
    assert {name for name in whole if name.startswith("blobs/")} == {
        f"blobs/{digest_of(body).replace(':', '/')}"
        for body in (both.manifest, *(part for each in (FIRST, SECOND) for part in (each.manifest, *each.blobs)))
    }
    one = client.get(f"{tag_url(tag)}?platform=linux/arm64")
    assert "torch-both-linux-arm64.tar" in one["Content-Disposition"]
    (tmp_path / "one.tar").write_bytes(content(one))
    seen = skopeo("inspect", "--raw", f"docker-archive:{tmp_path / 'one.tar'}")
    assert seen.returncode == 0, seen.stderr
    api = f"/api/v1/images/repositories/{tag.repository_id}/tags/both/file/"
    refused = client.get(f"{api}?platform=plan9/vax")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["platform"])
    assert client.get(api.replace("/both/", "/nothing/")).status_code == 404


def test_who_may_not_pull_may_not_download(alice: Person, repository: ImageRepository) -> None:
    tag = tag_of("1")
    with acting(platform()):
        bob = make_member(alice.organisation, "bob")
        charlie = make_member(make_organisation(), "charlie")
    for person in (bob, charlie):
        client: Browser = signed_in(person)
        assert client.get(tag_url(tag)).status_code == 404
        assert client.get(f"/api/v1/images/repositories/{repository.pk}/tags/1/file/").status_code == 404
    with acting(platform()):
        ImageRepository.objects.update(shared=True)
    assert signed_in(bob).get(tag_url(tag)).status_code == 200
    assert signed_in(charlie).get(tag_url(tag)).status_code == 404


def test_the_right_that_ends_and_a_registry_that_goes_away_break_it_off(
    site: Site, alice: Person, repository: ImageRepository
) -> None:
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        made = downloading.download(actor, tag_of("1"))
        assert selectors.repository_of(actor, repository.pk)
    next(made.parts)
    site.server.kill()
    site.server.wait()
    with pytest.raises(RegistryAway):
        b"".join(made.parts)
    assert signed_in(alice.user).get(tag_url(tag_of("1"))).status_code == 503


def test_a_layer_of_another_size_breaks_it_off(alice: Person, repository: ImageRepository) -> None:
    digest = digest_of(FIRST.blobs[0])
    with Client() as client:
        assert b"".join(client.blob(repository.name, digest, len(FIRST.blobs[0]))) == FIRST.blobs[0]
        with pytest.raises(RegistryAway):
            b"".join(client.blob(repository.name, digest, 1))
        with pytest.raises(RegistryAway):
            b"".join(client.blob(repository.name, digest_of(b"none"), 1))
    with acting(platform()), pytest.raises(NotFound):
        downloading.tag_to_pull(platform(), repository.pk)
