"""Asking for a build, by service, page and API: what it becomes, and what is refused with nothing left behind."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from apps.billing.models import Hold
from apps.builds.kind import BUILD
from apps.builds.models import Build
from apps.common.errors import Conflict, Denied, Invalid, QuotaExceeded
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.registry import services as registry
from apps.registry.models import Image
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.tenants import quotas
from apps.tenants.choices import Role
from apps.tenants.models import Holding
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.builds.kit import build

pytestmark = pytest.mark.django_db
TEXT = "FROM debian\nRUN apt-get update\n"


def counts() -> tuple[int, ...]:
    with acting(platform()):
        rows: tuple[Any, ...] = (Build, Workload, Folder, Holding, Hold)
        return tuple(each.objects.count() for each in rows)


def refused(world: World, text: str, **changes: Any) -> str:
    """The words, after a look that nothing is left of it."""
    before = counts()
    with pytest.raises(Invalid) as refusal:
        build(world, text, **changes)
    assert counts() == before
    return str(refusal.value.message)


class TestBecoming:
    def test_it_is_a_workload_in_its_base_under_the_limits_of_any(self, world: World, debian: Image) -> None:
        made = build(world, TEXT)
        spec = made.workload.frozen_spec
        assert (made.title, made.base, made.workload.kind) == ("tools:1", debian, "image_build")
        assert getattr(spec.image, "name", "") == debian.reference
        assert spec.argv[0] == MACHINE_PYTHON
        assert (spec.builds, spec.egress, spec.network) == (True, True, False)
        assert (spec.cpu_milli, spec.memory_mib) == (world.package.cpu_milli, world.package.memory_mib)
        assert [(mount.target.rpartition("/")[2], mount.read_only) for mount in spec.mounts] == [
            ("program", True), ("plan", True), ("files", True), ("answers", False), ("cached", True), ("0", False)
        ]  # fmt: skip
        assert made.workload.longest_s == 3600
        with acting(platform()):
            assert Hold.objects.filter(workload_id=made.workload_id).exists()

    def test_the_next_of_the_same_name_is_the_next_version(self, world: World, debian: Image) -> None:
        assert [build(world, TEXT).title, build(world, TEXT).title] == ["tools:1", "tools:2"]
        assert build(world, TEXT, name="other").title == "other:1"

    def test_the_same_key_builds_once(self, world: World, debian: Image) -> None:
        key = uuid4().hex
        assert build(world, TEXT, key=key) == build(world, TEXT, key=key)

    @pytest.mark.parametrize("name", ["debian", "Debian-12", "registry.lab:5000/team/debian@sha256:" + "a" * 64])
    def test_the_base_goes_by_name_key_and_reference(self, world: World, debian: Image, name: str) -> None:
        with acting(platform()):
            Image.objects.filter(pk=debian.pk).update(name="Debian-12")
        assert build(world, f"FROM {name}\nRUN true\n").base == debian

    def test_a_tag_of_the_registry_is_a_base_under_its_full_name(self, world: World, settings: Any) -> None:
        settings.REGISTRY_HOST = "hub.lab"
        with acting(platform()):
            Image.objects.create(
                key="pushed-1", name="alice/torch:2", description_en="x", description_zh="x", owner=world.alice,
                organisation=world.organisation, reference=f"hub.lab/org/alice/torch@sha256:{'c' * 64}",
            )  # fmt: skip
        assert build(world, "FROM hub.lab/org/alice/torch:2\nRUN true\n").base.key == "pushed-1"
        assert "no container image" in refused(world, "FROM hub.lab/other/alice/torch:2\nRUN true\n")


class TestRefusing:
    def test_a_base_that_is_not_there(self, world: World, debian: Image) -> None:
        assert refused(world, "\nFROM absent:1\nRUN x\n").startswith("Line 2: there is no container image “absent:1”")

    def test_a_runtime_is_no_base(self, world: World, debian: Image) -> None:
        assert "no container image" in refused(world, f"FROM {world.image.key}\nRUN x\n")

    def test_another_organisations_image_looks_like_none(self, world: World, debian: Image) -> None:
        with acting(platform()):
            other = make_organisation()
            charlie = make_member(other, "charlie", Role.ADMIN)
            theirs: Image = Image.objects.create(
                key="own-theirs", name="theirs", description_en="x", description_zh="x", owner=charlie, shared=True,
                organisation=other, reference=f"hub.lab/other/torch@sha256:{'b' * 64}",
            )  # fmt: skip
        words = [refused(world, f"FROM {name}\nRUN x\n") for name in (theirs.reference, "theirs", "own-theirs")]
        assert all("no container image" in each for each in words)

    def test_a_colleagues_image_that_is_not_shared(self, world: World, debian: Image) -> None:
        with acting(platform()):
            bob = make_member(world.organisation, "bob")
            row = {"description_en": "x", "description_zh": "x", "owner": bob, "organisation": world.organisation}
            Image.objects.create(key="own-bobs", name="bobs", reference=f"hub.lab/a/b@sha256:{'d' * 64}", **row)
        assert "no container image" in refused(world, "FROM bobs\nRUN x\n")

    def test_files_that_were_not_uploaded(self, world: World, debian: Image) -> None:
        assert "Line 2: a.txt is not among" in refused(world, "FROM debian\nCOPY a.txt /x\n")

    def test_files_of_a_colleague(self, world: World, debian: Image) -> None:
        with acting(platform()):
            bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        with acting(bob):
            folder = storage.add_code(bob, None, [ContentFile(b"x", name="a.txt")])
        before = counts()
        with pytest.raises(Exception, match="does not exist"):
            build(world, "FROM debian\nCOPY a.txt /x\n", files=folder.pk)
        assert counts() == before

    def test_what_is_fetched_from_inside(self, world: World, debian: Image) -> None:
        assert "address inside" in refused(world, "FROM debian\nADD http://169.254.169.254/x /x\n")

    def test_more_than_the_quota(self, world: World, debian: Image) -> None:
        with acting(platform()):
            quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=BUILD.quota_line, limit=1)
        build(world, TEXT)
        with pytest.raises(QuotaExceeded):
            build(world, TEXT)

    def test_more_images_than_one_may_keep(self, world: World, debian: Image, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "MOST_CONTAINERS", 0)
        before = counts()
        with pytest.raises(Conflict, match="already"):
            build(world, TEXT)
        assert counts() == before

    def test_somebody_without_the_right(self, world: World, debian: Image) -> None:
        with acting(platform()):
            frank = actor_of(make_member(world.organisation, "frank", Role.FINANCE), world.organisation)
        with pytest.raises(Denied):
            build(world, TEXT, actor=frank)


class TestPages:
    def form(self, world: World, debian: Image, **changes: Any) -> dict[str, Any]:
        asked = {"name": "tools", "source": "form", "base": str(debian.pk), "apt": "git", "key": uuid4().hex,
                 "package": str(world.package.pk)}  # fmt: skip
        return {**asked, **changes}

    def test_the_form_makes_one(self, world: World, debian: Image, alice: Client) -> None:
        assert alice.get("/builds/new/").status_code == 200
        answer = alice.post("/builds/new/", self.form(world, debian, pip="numpy==2.3.5\n", commands="echo a\necho b"))
        assert answer.status_code == 302, answer.content.decode()
        page = alice.get(answer["Location"]).content.decode()
        assert f"FROM {debian.reference}" in page
        assert "apt-get install -y --no-install-recommends git" in page
        assert "RUN echo b" in page
        assert "tools:1" in alice.get("/builds/").content.decode()

    def test_a_containerfile_with_uploaded_files_makes_one(self, world: World, debian: Image, alice: Client) -> None:
        box = alice.post("/builds/files/", {"uploads": [ContentFile(b"x", name="a.txt")]}).content.decode()
        folder = box.partition('name="folder" value="')[2].partition('"')[0]
        text = "FROM debian\nCOPY a.txt /a.txt\n"
        form = self.form(world, debian, source="containerfile", containerfile=text, folder=folder)
        answer = alice.post("/builds/new/", form)
        assert answer.status_code == 302, answer.content.decode()
        again = alice.get(f"/builds/new/?from={answer['Location'].rstrip('/').rpartition('/')[2]}").content.decode()
        assert "COPY a.txt /a.txt" in again
        assert folder in again

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"apt": "", "pip": ""}, "Nothing is asked for"),
            ({"apt": "git;x"}, "is not the name of a Debian package"),
            ({"base": ""}, "Choose one of the images"),
            ({"base": "not-an-id"}, "is not a valid UUID"),
            ({"name": ""}, "Give the image a name"),
            ({"source": "containerfile", "containerfile": "FROM x\nRUNN y"}, "Line 2"),
            ({"source": "containerfile", "containerfile": ""}, "The Containerfile is empty"),
            ({"package": "0"}, "Choose one of the packages"),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field(
        self, world: World, debian: Image, alice: Client, changes: dict[str, str], words: str
    ) -> None:
        before = counts()
        answer = alice.post("/builds/new/", self.form(world, debian, **changes))
        assert answer.status_code == 422
        assert words in answer.content.decode()
        assert counts() == before

    def test_the_quote_follows(self, world: World, debian: Image, alice: Client) -> None:
        answer = alice.post("/builds/quote/", self.form(world, debian))
        assert answer.status_code == 200
        assert "Build the image" in answer.content.decode()

    def test_it_can_be_taken_out_of_the_queue_and_nothing_is_held(
        self, world: World, debian: Image, alice: Client
    ) -> None:
        made = build(world, TEXT)
        assert "Stop building" in alice.get(f"/builds/{made.pk}/stop/").content.decode()
        alice.post(f"/builds/{made.pk}/stop/")
        with acting(platform()):
            made.workload.refresh_from_db()
            assert made.workload.status == "stopped"
            assert not Holding.objects.filter(holder_id=made.workload_id).exists()
        assert alice.get(f"/builds/{made.pk}/").status_code == 200

    def test_only_its_owner_and_who_manages_images_see_it(
        self, world: World, debian: Image, alice: Client, bob: Client, dora: Client, charlie: Client
    ) -> None:
        made = build(world, TEXT)
        found = [each.get(f"/builds/{made.pk}/").status_code for each in (alice, bob, dora, charlie)]
        assert found == [200, 404, 200, 404]
        assert bob.post(f"/builds/{made.pk}/stop/").status_code == 404


class TestApi:
    def test_it_takes_a_form_and_a_containerfile(self, world: World, debian: Image, alice: Client) -> None:
        kind = "application/json"
        asked = {"name": "tools", "package": world.package.pk, "base": str(debian.pk), "apt": ["git"]}
        answer = alice.post("/api/v1/builds/", asked, kind)
        assert answer.status_code == 201, answer.content
        made = answer.json()
        assert (made["version"], made["status"], made["image"], made["failed_step"]) == (1, "queued", None, None)
        text = {"name": "tools", "package": world.package.pk, "containerfile": TEXT}
        assert alice.post("/api/v1/builds/", text, kind).json()["version"] == 2
        assert len(alice.get("/api/v1/builds/").json()["results"]) == 2
        assert alice.post(f"/api/v1/builds/{made['id']}/stop/").status_code == 202
        assert alice.get(f"/api/v1/builds/{made['id']}/").json()["status"] == "stopped"

    def test_what_is_wrong_names_its_line(self, world: World, debian: Image, alice: Client, bob: Client) -> None:
        asked = {"name": "tools", "package": world.package.pk, "containerfile": "FROM debian\nCOPY x /y"}
        answer = alice.post("/api/v1/builds/", asked, "application/json")
        assert answer.status_code == 400
        assert "Line 2" in answer.content.decode()
        assert bob.get(f"/api/v1/builds/{build(world, TEXT).pk}/").status_code == 404


class TestStagesAndVersions:
    TEXT = "FROM debian AS tools\nRUN one\nFROM tools\nRUN two\n"

    def test_the_target_comes_by_page_and_api_and_stays_with_the_build(
        self, world: World, debian: Image, alice: Client
    ) -> None:
        asked = {"name": "tools", "source": "containerfile", "containerfile": self.TEXT, "key": uuid4().hex}
        asked |= {"package": str(world.package.pk), "target": "tools"}
        assert alice.post("/builds/new/", asked).status_code == 302
        body = {"name": "more", "containerfile": self.TEXT, "package": world.package.pk, "target": "0"}
        told = alice.post("/api/v1/builds/", body, content_type="application/json").json()
        assert (told["target"], [step["text"] for step in told["steps"]]) == ("0", ["RUN one"])
        with acting(platform()):
            made = Build.objects.get(name="tools")
        assert (made.target, [step["text"] for step in made.steps]) == ("tools", ["RUN one"])
        assert 'value="tools"' in alice.get(f"/builds/new/?from={made.pk}").content.decode()

    def test_a_target_that_is_not_there_stands_beside_its_field(
        self, world: World, debian: Image, alice: Client
    ) -> None:
        asked = {"name": "tools", "source": "containerfile", "containerfile": self.TEXT, "key": uuid4().hex}
        answer = alice.post("/builds/new/", asked | {"package": str(world.package.pk), "target": "absent"})
        assert answer.status_code == 422
        assert "There is no stage “absent”" in answer.content.decode()

    def test_without_a_registry_versions_are_numbered(self, world: World, debian: Image, alice: Client) -> None:
        assert "no image registry" in refused(world, TEXT, tag="v1")
        assert "no image registry" in refused(world, TEXT, for_organisation=True)
        assert 'name="tag"' not in alice.get("/builds/new/").content.decode()

    def test_with_one_the_form_asks_for_the_tag(
        self, world: World, debian: Image, alice: Client, settings: Any
    ) -> None:
        settings.REGISTRY_SOCKET = "/run/registry.sock"
        page = alice.get("/builds/new/").content.decode()
        assert 'name="tag"' in page
        assert ('name="for_organisation"' in page) == world.actor.may(Permission.IMAGES_MANAGE)
        made = build(world, TEXT, tag="v2")
        assert (made.tag, made.title) == ("v2", "tools:v2")
        assert build(world, TEXT).tag == "2"
        assert "There is a version v2 already" in refused(world, TEXT, tag="v2")
