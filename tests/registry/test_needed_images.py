"""What needs an image keeps it, and says so: work, passports, environments, offers; also while one is just deleted."""

import threading
from uuid import uuid4

import pytest
from django.db import connection, transaction

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.envs.services.create import Request, create
from apps.registry import ruling, tasks
from apps.registry.distribution import deleting, holding
from apps.registry.distribution.deleting import InUse
from apps.registry.models import DeletedManifest, Image, ImageRepository
from apps.registry.ruling import ImageSpec
from apps.training import deletion
from apps.workloads import services as workloads
from apps.workloads.models import Workload
from apps.workloads.spec import Stage
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    platform,
    signed_in,
    staff_actor,
    submit_workload,
)
from tests.registry import serving
from tests.registry.pushing import FIRST, SECOND, Pusher, api_url, index
from tests.registry.test_registry_tokens import Person
from tests.training import kit

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not serving.PROGRAM, reason="needs docker-registry"),
]


def chosen(world: World, tag: str) -> Image:
    with acting(world.actor):
        return Image.objects.get(name__endswith=f":{tag}", active=True)


def test_whatever_needs_a_version_is_named_and_keeps_it(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    run = kit.submit(world, image_id=chosen(world, "1").pk, name="digits")
    client = signed_in(world.alice)
    for path in (f"versions/{FIRST.digest}/", ""):
        answer = client.delete(api_url(repository, path))
        assert (answer.status_code, answer.json()["code"]) == (409, "image_in_use")
        assert "digits" in answer.json()["detail"]
    with acting(world.actor):
        workloads.stop(world.actor, Workload.objects.get(pk=run.workload_id))
    (use,) = client.get(api_url(repository, "uses/")).json()
    assert (use["kind"], use["name"], use["digest"]) == ("Passport of a run", "digits", FIRST.digest)
    assert use["url"] == f"/training/{run.pk}/passport/"
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 409
    page = client.get(f"/images/repositories/{repository.pk}/").content.decode()
    assert f"versions/{FIRST.digest}/delete/" not in page
    assert f"versions/{SECOND.digest}/delete/" in page
    assert "Delete the repository" not in page
    assert client.delete(api_url(repository, f"versions/{SECOND.digest}/")).status_code == 204
    for tag in ("1", "latest"):
        assert client.delete(api_url(repository, f"tags/{tag}/")).status_code == 204
    assert not pusher.is_whole("1")
    assert pusher.is_whole(FIRST.digest)
    with acting(world.actor):
        run.workload.refresh_from_db()
        deletion.delete(world.actor, run)
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 204, "nobody promises it now"


def test_an_environment_keeps_its_image_until_it_is_gone(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    with acting(world.actor):
        image_id, package_id = chosen(world, "1").pk, world.package.pk
        asked = Request(name="lab", image_id=image_id, package_id=package_id, key=uuid4().hex, start=False)
        environment = create(world.actor, asked)
    client = signed_in(world.alice)
    answer = client.delete(api_url(repository, f"versions/{FIRST.digest}/"))
    assert answer.status_code == 409
    assert "Environment lab" in answer.json()["detail"]
    with acting(platform()):
        type(environment).objects.filter(pk=environment.pk).delete()
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 204


def test_what_the_platform_offers_and_what_others_run_keeps_an_image_without_a_name(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    staff = staff_actor(make_staff())
    with acting(staff):
        spec = ImageSpec("For all", "x", "x", reference=pusher.reference().name)
        offered = ruling.create(staff, spec)
    with acting(platform()):
        lab = make_organisation()
        charlie = actor_of(make_member(lab, "charlie"), lab)
        theirs = World(lab, world.alice, charlie, world.node, world.package, world.image)
    kit.submit(theirs, image_id=offered.pk, name="hush")
    client = signed_in(world.alice)
    told = client.delete(api_url(repository, f"versions/{FIRST.digest}/")).json()["detail"]
    assert "Image of the platform For all" in told
    assert "Work of another organisation" in told
    assert "hush" not in told
    assert "hush" not in client.get(api_url(repository, "uses/")).content.decode()


def test_who_pins_an_index_keeps_its_images(world: World, alice: Person, pusher: Pusher) -> None:
    both = index(FIRST, SECOND)
    pusher.push(both, "both")
    tasks.read()
    with acting(world.actor):
        submit_workload(world, image=pusher.reference(both))
    assert pusher.delete(FIRST.digest) == 409
    with acting(platform()):
        repository = ImageRepository.objects.get()
    client = signed_in(alice.user)
    assert client.delete(api_url(repository, "tags/both/")).status_code == 204
    assert pusher.is_whole(both.digest)
    assert client.delete(api_url(repository, f"versions/{FIRST.digest}/")).status_code == 409


def test_a_stage_of_work_keeps_its_image(world: World, pusher: Pusher, repository: ImageRepository) -> None:
    with acting(world.actor):
        spec = {"image": pusher.reference(SECOND), "stages": (Stage(pusher.reference(), ("true",)),)}
        work = submit_workload(world, **spec)
    client = signed_in(world.alice)
    assert pusher.delete(FIRST.digest) == 409
    (use,) = [each for each in client.get(api_url(repository, "uses/")).json() if each["digest"] == FIRST.digest]
    assert use["name"] == "run"
    with acting(world.actor):
        workloads.stop(world.actor, work)
    assert pusher.delete(FIRST.digest) == 202
    with acting(world.actor), pytest.raises(Invalid, match="just been deleted"):
        submit_workload(world, **spec)


def test_what_was_deleted_is_not_started_until_it_is_pushed_again(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    assert pusher.delete(FIRST.digest) == 202
    with acting(world.actor):
        with pytest.raises(Invalid, match="just been deleted"):
            submit_workload(world, image=pusher.reference())
        assert not Workload.objects.exists()
    pusher.push(FIRST, "1")
    tasks.read()
    with acting(world.actor):
        submit_workload(world, image=pusher.reference())


def test_a_start_and_a_deletion_at_once_never_both_succeed(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    """The deletion waits for the start that has begun, then sees it."""
    refused: list[Exception] = []

    def delete() -> None:
        try:
            with acting(world.actor):
                deleting.delete_version(world.actor, repository.pk, FIRST.digest)
        except InUse as error:
            refused.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=delete)
    with acting(world.actor), transaction.atomic():
        submit_workload(world, image=pusher.reference())
        thread.start()
        thread.join(1.5)
        assert thread.is_alive()
    thread.join(60)
    assert len(refused) == 1
    assert pusher.is_whole("1")


def test_a_start_during_a_deletion_waits_and_is_refused(
    world: World, pusher: Pusher, repository: ImageRepository
) -> None:
    refused: list[Exception] = []

    def start() -> None:
        try:
            with acting(world.actor):
                submit_workload(world, image=pusher.reference())
        except Invalid as error:
            refused.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=start)
    with acting(platform()), transaction.atomic():
        holding.lock_for_deletion(pusher.name)
        thread.start()
        thread.join(1.5)
        assert thread.is_alive()
        organisation_id = repository.organisation_id
        DeletedManifest.objects.create(
            organisation_id=organisation_id, repository_name=pusher.name, digest=FIRST.digest
        )
    thread.join(60)
    assert len(refused) == 1
    with acting(platform()):
        assert not Workload.objects.exists()
