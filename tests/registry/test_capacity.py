"""What an organisation may keep in the registry: the setting's, or what an operator gave it."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus
from apps.registry.distribution.capacity import GIB, capacities, capacity_of
from apps.registry.models import ImageManifest, ImageRepository, ImageTransfer, ManifestBlob, RegistryCapacity
from apps.registry.transfers import states
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation
from tests.builders import make_member, make_organisation, make_staff, platform, signed_in
from tests.registry import serving
from tests.registry.pushing import FIRST, Pusher
from tests.registry.serving import Site, login, oci_layout
from tests.registry.test_registry_tokens import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(db: None, tmp_path: Path, settings: LazySettings) -> Organisation:
    settings.PLSTACK_HOME, settings.REGISTRY_ORGANISATION_BYTES = str(tmp_path), 10 * GIB
    with acting(platform()):
        return make_organisation()


def keep(organisation: Organisation, *sizes: int) -> None:
    """Two images with the same layers."""
    for name in ("a", "b"):
        of = {"organisation": organisation}
        row = ImageRepository.objects.create(**of, name=f"{organisation.slug}/{name}")
        manifest = ImageManifest.objects.create(**of, repository=row, digest=f"sha256:{'0' * 64}", size=sum(sizes))
        for place, size in enumerate(sizes):
            ManifestBlob.objects.create(
                **of, manifest=manifest, position=place, digest=f"sha256:{place:064d}", size=size
            )


def page(organisation: Organisation, rest: str) -> str:
    return f"/console/organisations/{organisation.pk}/{rest}"


def api(organisation: Organisation) -> str:
    return f"/api/v1/console/organisations/{organisation.pk}/registry-capacity/"


def test_layers_count_once_in_an_organisation_and_in_each_of_them(lab: Organisation) -> None:
    with acting(platform()):
        other = make_organisation()
        keep(lab, 3 * GIB, GIB)
        keep(other, 2 * GIB)
        found = capacities([lab.pk, other.pk])
    assert (found[lab.pk].used, found[lab.pk].limit, found[lab.pk].left) == (4 * GIB, 10 * GIB, 6 * GIB)
    assert found[other.pk].used == 2 * GIB


def test_an_operator_sets_it_on_the_organisations_page(lab: Organisation) -> None:
    staff = make_staff()
    client = signed_in(staff)
    with acting(platform()):
        keep(lab, 3 * GIB)
    assert "3.0\xa0GB of 10.0\xa0GB" in client.get(page(lab, "quotas/")).content.decode()
    assert client.post(page(lab, "registry/"), {"capacity_gib": "2"}).status_code == 302
    with acting(platform()):
        found = capacity_of(lab.pk)
        assert (found.limit, found.own, found.left) == (2 * GIB, True, 0)
        entry = Entry.objects.get(action="registry.capacity_set")
        assert (entry.actor_id, entry.organisation_id, entry.after) == (staff.pk, lab.pk, {"bytes": 2 * GIB})
    assert client.post(page(lab, "registry/"), {"capacity_gib": "2"}).status_code == 302
    assert client.post(page(lab, "registry/"), {"capacity_gib": ""}).status_code == 302
    with acting(platform()):
        assert capacity_of(lab.pk).limit == 10 * GIB
        assert not RegistryCapacity.objects.exists()
        assert Entry.objects.filter(action="registry.capacity_set").count() == 2


@pytest.mark.parametrize("given", ["-1", "1.5", "much", "1048577"])
def test_what_is_no_capacity_is_refused_beside_the_field(lab: Organisation, given: str) -> None:
    client = signed_in(make_staff())
    answer = client.post(page(lab, "registry/"), {"capacity_gib": given})
    assert answer.status_code == 422
    assert answer.context["registry"].errors["capacity_gib"]
    assert client.put(api(lab), {"capacity_gib": given}, content_type="application/json").status_code == 400
    with acting(platform()):
        assert not RegistryCapacity.objects.exists()


def test_the_api_reads_and_sets_it_for_who_may(lab: Organisation) -> None:
    client, kind = signed_in(make_staff()), "application/json"
    assert client.get(api(lab)).json() == {"used": 0, "limit": 10 * GIB, "own": False}
    assert client.put(api(lab), {"capacity_gib": 0}, content_type=kind).json() == {"used": 0, "limit": 0, "own": True}
    assert client.put(api(lab), {"capacity_gib": None}, content_type=kind).json()["limit"] == 10 * GIB
    assert client.put(api(lab), {}, content_type=kind).status_code == 400
    finance = signed_in(make_staff(PlatformRole.FINANCE, "finn"))
    assert finance.put(api(lab), {"capacity_gib": 1}, content_type=kind).status_code == 403
    assert finance.post(page(lab, "registry/"), {"capacity_gib": "1"}).status_code == 403
    with acting(platform()):
        alice = signed_in(make_member(lab, "alice"))
    assert alice.put(api(lab), {"capacity_gib": 1}, content_type=kind).status_code == 403
    assert alice.get("/api/v1/images/capacity/").json() == {"used": 0, "reserved": 0, "limit": 10 * GIB}
    with acting(platform()):
        assert not RegistryCapacity.objects.exists()


def test_the_registrys_page_lists_who_keeps_how_much(lab: Organisation) -> None:
    client = signed_in(make_staff())
    assert "Nobody has pushed anything yet." in client.get("/console/registry/").content.decode()
    with acting(platform()):
        other = make_organisation()
        keep(lab, GIB)
        keep(other, 2 * GIB)
    client.put(api(lab), {"capacity_gib": 5}, content_type="application/json")
    shown = client.get("/console/registry/")
    rows = [row.record for row in shown.context["capacities"].page.object_list]
    assert [(row.organisation.pk, row.used, row.limit) for row in rows] == [
        (other.pk, 2 * GIB, 10 * GIB),
        (lab.pk, GIB, 5 * GIB),
    ]


@pytest.mark.programs
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo")
def test_a_push_beyond_it_is_refused_in_words_and_goes_through_once_it_is_raised(
    site: Site, alice: Person, pusher: Pusher, tmp_path: Path
) -> None:
    oci_layout(tmp_path / "image")
    client, path = signed_in(make_staff()), api(alice.organisation)
    client.put(path, {"capacity_gib": 0}, content_type="application/json")
    refused = site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice))
    assert refused.returncode
    assert "nothing more can be pushed" in refused.stderr
    assert "administrators" in refused.stderr
    assert b"nothing more can be pushed" in pusher.ask("POST", "blobs/uploads/")[2]
    status, _place, body = pusher.send("PUT", f"/v2/{pusher.name}/manifests/1", FIRST.manifest, "application/json")
    assert (status, b"nothing more can be pushed" in body) == (403, True)
    with acting(platform()):
        RegistryCapacity.objects.update(limit=100)
    body = pusher.send("PUT", f"/v2/{pusher.name}/manifests/1", FIRST.manifest, "application/json")[2]
    assert b"This image adds" in body
    client.put(path, {"capacity_gib": 1}, content_type="application/json")
    pushed = site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice))
    assert pushed.returncode == 0, pushed.stderr


@pytest.mark.programs
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo")
def test_a_push_leaves_the_room_that_images_on_their_way_have_reserved(
    site: Site, alice: Person, pusher: Pusher, tmp_path: Path
) -> None:
    oci_layout(tmp_path / "image")
    coming = {"organisation": alice.organisation, "owner": alice.user, "source": "hub.lab/a:1", "tag": "1"}
    with acting(platform()):
        row = ImageTransfer.objects.create(
            **coming, repository_name=f"{alice.mine}/a", status=TransferStatus.RUNNING, added_bytes=GIB - 100
        )
    signed_in(make_staff()).put(api(alice.organisation), {"capacity_gib": 1}, content_type="application/json")
    refused = site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice))
    assert refused.returncode
    assert "used or reserved" in refused.stderr
    assert "on their way" in refused.stderr
    with acting(platform()):
        assert capacity_of(alice.organisation.pk).left == 100
        assert capacity_of(alice.organisation.pk, besides=[row.pk]).left == GIB
        ImageTransfer.objects.update(added_bytes=GIB)
    assert b"used or reserved" in pusher.ask("POST", "blobs/uploads/")[2]
    client = signed_in(alice.user)
    assert client.get("/api/v1/images/capacity/").json()["reserved"] == GIB
    assert "reserved for images on their way" in client.get("/images/repositories/").content.decode()
    with acting(platform()):
        states.stop(row)
    pushed = site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice))
    assert pushed.returncode == 0, pushed.stderr
