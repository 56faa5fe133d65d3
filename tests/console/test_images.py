"""Images in the console: seen, added, changed and withdrawn by who manages them, and by nobody else."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import gettext, override, pgettext

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.console.work.images.forms import ImageForm
from apps.registry import selectors, services
from apps.registry.models import Image
from apps.workloads.references import Reference
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of
from tests.envs import kit as envs
from tests.training import kit as training

ROOT = "/api/v1/console/images/"
CONTAINER = f"registry.lab:5000/team/torch@sha256:{'0' * 64}"


def form(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "Audio",
        "description_en": "Sound, in and out",
        "description_zh": "声音",
        "requirements": "soundfile==0.13.1\n\n numpy==2.3.5 ",
        "active": "on",
        "audience": "everybody",
        "allowed": "",
        "sort": "40",
    }
    return {**data, **changes}


@pytest.fixture
def personal(world: World) -> Image:
    with acting(world.actor):
        return services.create_personal_image(
            world.actor, name="my-stack", base=world.image, added=["six==1.17.0"], shared=True
        )


def send(client: Client, method: str, path: str = "", body: object = None) -> Any:
    data = b"" if body is None else json.dumps(body).encode()
    return client.generic(method, f"{ROOT}{path}", data, content_type="application/json")


def test_an_image_is_added_and_changed_with_its_words_in_the_log(ops: Client, world: World) -> None:
    response = post(ops, page("image_new"), follow=True, **form())
    assert messages_of(response) == ["Audio was added."]
    image = Image.objects.get(name="Audio")
    assert image.requirements == ["soundfile==0.13.1", "numpy==2.3.5"]
    assert last_entry("image.created").target_id == str(image.pk)
    url = page("image_edit", image.pk)
    assert "soundfile==0.13.1" in text_of(ops.get(url))
    post(ops, url, **form(active=None, audience="listed", allowed=world.organisation.name))
    image.refresh_from_db()
    with acting(platform()):
        assert (image.active, image.restricted, image.allowed.get()) == (False, True, world.organisation)
    entry = last_entry("image.changed")
    assert entry.before == {"active": True, "restricted": False, "allowed": []}
    assert entry.after == {"active": False, "restricted": True, "allowed": [world.organisation.slug]}
    assert world.organisation.name in text_of(ops.get(page("image", image.pk)))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"requirements": "numpy"}, "requirements"),
        ({"audience": "listed", "allowed": "no such organisation"}, "allowed"),
        ({"audience": "listed", "allowed": ""}, "allowed"),
        ({"sort": "99999"}, "sort"),
        ({"reference": "registry.lab:5000/team/torch:latest", "requirements": ""}, "reference"),
        ({"reference": "torch", "requirements": ""}, "reference"),
        ({"reference": CONTAINER}, "requirements"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(ops: Client, changes: dict[str, Any], field: str) -> None:
    response = post(ops, page("image_new"), **form(**changes))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not Image.objects.filter(name="Audio").exists()
    assert count_entries("image.created") == 0


def test_a_container_image_is_for_training_and_not_for_environments(ops: Client, world: World) -> None:
    post(ops, page("image_new"), **form(reference=f" {CONTAINER} ", requirements=""))
    image = Image.objects.get(name="Audio")
    assert (image.reference, image.requirements) == (CONTAINER, [])
    assert CONTAINER in text_of(ops.get(page("image", image.pk)))
    assert CONTAINER in text_of(ops.get(page("image_edit", image.pk)))
    assert last_entry("image.created").after["reference"] == CONTAINER
    with acting(world.actor):
        assert image not in selectors.images(world.actor)
        assert image in selectors.images(world.actor, containers=True)
        run = training.submit(world, image_id=image.pk)
        assert run.workload.frozen_spec.image == Reference.parse(CONTAINER)
        with pytest.raises(Invalid):
            selectors.choosable_image(world.actor, image.pk)


def names(client: Client, **query: str) -> set[str]:
    return {row.record.name for row in client.get(page("images"), query).context["table"].page.object_list}


def test_the_list_is_searched_filtered_and_paged(ops: Client, world: World, personal: Image) -> None:
    assert names(ops) == {"python", "my-stack"}
    assert names(ops, kind="platform") == {"python"}
    assert names(ops, kind="personal", organisation=world.organisation.slug) == {"my-stack"}
    assert names(ops, q="six") == {"my-stack"}
    assert names(ops, active="false") == set()
    for number in range(25):
        Image.objects.create(key=f"more-{number}", name=f"more {number}")
    assert len(names(ops, page="2")) == 2


def test_it_shows_who_uses_each(ops: Client, world: World) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
    envs.make(world)
    envs.make(world, actor_of(bob, world.organisation), name="other")
    training.submit(world)
    row = ops.get(page("images")).context["table"].page.object_list[0].record
    assert (row.environments, row.runs) == (2, 1)
    (use,) = ops.get(page("image", world.image.pk)).context["table"].data
    assert (use.organisation, use.people, use.environments, use.runs) == (world.organisation, 2, 2, 1)


def test_a_personal_image_is_withdrawn_not_edited(ops: Client, personal: Image) -> None:
    assert ops.get(page("image_edit", personal.pk)).status_code == 404
    assert "my-stack" in text_of(ops.get(page("image_withdraw", personal.pk)))
    post(ops, page("image_withdraw", personal.pk))
    personal.refresh_from_db()
    assert not personal.active
    assert last_entry("image.withdrawn").organisation_id == personal.organisation_id


def test_an_image_of_the_platform_is_not_withdrawn_as_a_personal_one(ops: Client, world: World) -> None:
    assert post(ops, page("image_withdraw", world.image.pk)).status_code == 404


def test_nobody_else_sees_or_changes_them(finance: Client, alice: Client, world: World, personal: Image) -> None:
    for client in (finance, alice):
        assert client.get(page("images")).status_code in (403, 404)
        assert post(client, page("image_edit", world.image.pk), **form()).status_code in (403, 404)
        assert post(client, page("image_withdraw", personal.pk)).status_code in (403, 404)
        assert send(client, "GET").status_code in (403, 404)
    personal.refresh_from_db()
    assert personal.active


def test_the_pickers_offer_only_what_one_may_use(ops: Client, alice: Client, world: World) -> None:
    with acting(platform()):
        elsewhere = make_organisation()
    post(ops, page("image_new"), **form(audience="listed", allowed=elsewhere.slug))
    for url in ("/training/new/", "/environments/new/", "/images/"):
        response = alice.get(url)
        assert response.status_code == 200
        assert "Audio" not in text_of(response)
    post(ops, page("image_edit", Image.objects.get(name="Audio").pk), **form())
    assert "Audio" in text_of(alice.get("/training/new/"))


def test_the_api_does_the_same(ops: Client, world: World, personal: Image) -> None:
    body = {"name": "Audio", "description_en": "Sound", "description_zh": "声音", "requirements": ["six==1.17.0"]}
    made = send(ops, "POST", body=body)
    assert made.status_code == 201
    path = f"{made.json()['id']}/"
    changed = send(ops, "PUT", path, {**body, "allowed": [str(world.organisation.pk)]})
    assert [row["name"] for row in changed.json()["allowed"]] == [world.organisation.name]
    assert send(ops, "PUT", path, {**body, "requirements": ["six"]}).status_code == 400
    listed = send(ops, "GET", "?kind=personal").json()["results"]
    assert [(row["name"], row["owner"]["username"]) for row in listed] == [("my-stack", world.alice.username)]
    assert send(ops, "POST", f"{personal.pk}/withdraw/").json()["active"] is False
    assert send(ops, "POST", f"{personal.pk}/withdraw/").status_code == 409
    assert send(ops, "GET", path).json()["uses"] == []


def test_the_form_of_an_image_speaks_of_software_and_of_containers(root: Client) -> None:
    """Packages of the price list are another word in Chinese: the two share no message."""
    assert "or a container image" in text_of(root.get(page("image_new")))
    with override("zh-hans"):
        label = str(ImageForm().fields["requirements"].label)
        assert label == pgettext("software", "Packages") != gettext("Packages")
