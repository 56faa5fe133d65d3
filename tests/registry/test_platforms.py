"""What a container image is for is asked of its registry; a registry that is silent is asked again."""

from collections.abc import Iterator

import pytest
from django.test import override_settings

from apps.common.scoping import acting
from apps.registry import platforms
from apps.registry.models import Image
from apps.workloads.drivers.local.oci import registry
from apps.workloads.references import Reference
from tests.builders import platform
from tests.drivers.registries import INDEX, MANIFEST, Registry, layer, plain_registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registry, "PAUSE_S", 0.0)
    with plain_registry() as found, override_settings(IMAGE_PULL_RULES=found.rules):
        yield found


def image_of(reference: Reference, **values: object) -> Image:
    return Image.objects.create(key=f"c-{reference.digest[-8:]}", name="torch", reference=reference.name, **values)


def read() -> int:
    with acting(platform()) as actor:
        return platforms.read_platforms(actor)


def test_an_index_and_a_single_image_say_what_they_are_for(server: Registry) -> None:
    arm, amd = (server.image(layer((name, b"")), architecture=name) for name in ("arm64", "amd64"))
    entries = [
        {"digest": each.digest, "size": 1, "mediaType": MANIFEST, "platform": {"os": system, "architecture": name}}
        for each, system, name in (
            (arm, "linux", "arm64"), (amd, "linux", "amd64"), (amd, "windows", "amd64"), (amd, "unknown", "unknown"),
        )
    ]  # fmt: skip
    both, single = image_of(server.document({"manifests": entries}, INDEX)), image_of(arm, architectures=["x86_64"])
    assert read() == 2
    both.refresh_from_db()
    single.refresh_from_db()
    assert both.architectures == ["aarch64", "x86_64"]
    assert single.architectures == ["aarch64"]  # what it says itself wins over what it was said to be for
    assert read() == 0  # known now: nobody is asked again


def test_a_registry_that_does_not_answer_leaves_what_was_said_and_is_asked_again(server: Registry) -> None:
    missing = image_of(Reference(f"{server.host}/team/box", f"sha256:{'0' * 64}"), architectures=["aarch64"])
    assert read() == 0
    missing.refresh_from_db()
    assert (missing.architectures, missing.platforms_read_at) == (["aarch64"], None)


def test_an_image_that_names_no_architecture_keeps_what_it_was_said_to_be_for(server: Registry) -> None:
    odd = image_of(server.image(layer(("a", b"")), architecture="A B"), architectures=["aarch64"])
    assert read() == 1
    odd.refresh_from_db()
    assert odd.architectures == ["aarch64"]
