"""Environments that are saved as images in the registry: the dialog, its answers, the page, and the API."""

from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.registry.models import Image, ImageSaving
from apps.workloads import reach
from apps.workloads.models import Attempt
from tests.builders import World, platform
from tests.envs import kit

pytestmark = pytest.mark.django_db
REFERENCE = f"registry.lab:5000/team/torch@sha256:{'a' * 64}"


@pytest.fixture
def made(world: World, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """One that runs in a container image, on a machine that saves, where there is a registry."""
    settings.REGISTRY_HOST, settings.REGISTRY_SOCKET = "registry.test", "/nowhere"
    monkeypatch.setattr(reach, "can_save_image", lambda _workload: True)
    with acting(platform()):
        box = Image.objects.create(
            key="box", name="Box", description_en="A box", description_zh="盒子", reference=REFERENCE
        )
    environment = kit.running(kit.make(world, image_id=box.pk, name="My Lab"))
    with acting(platform()):
        Attempt.objects.create(
            organisation=world.organisation, workload=environment.workload, number=1, node=world.node
        )
    return environment


def dialog(client: Client, environment: Environment) -> str:
    return kit.text(client.get(f"/environments/{environment.pk}/ask/image/"))


def post(client: Client, environment: Environment, **changes: str) -> tuple[int, str, str]:
    """Status, where it leads, and what it says."""
    form = {"name": "lab", "key": uuid4().hex, **changes}
    answer = client.post(f"/environments/{environment.pk}/image/", form, headers={"HX-Request": "true"})
    return answer.status_code, answer.headers.get("HX-Redirect", ""), kit.text(answer)


def asked() -> list[ImageSaving]:
    with acting(platform()):
        return list(ImageSaving.objects.order_by("created_at"))


def test_the_dialog_offers_a_name_and_leads_to_the_page_that_shows_it(alice: Client, made: Environment) -> None:
    shown = dialog(alice, made)
    assert 'value="my-lab"' in shown
    assert "The organisation:" not in shown, "she manages no images of the organisation"
    status, page, _text = post(alice, made, note="as of today")
    assert (status, page) == (204, f"/environments/{made.pk}/")
    [saving] = asked()
    assert (saving.tag, saving.note, saving.workload_id) == ("1", "as of today", made.workload_id)
    told = kit.text(alice.get(page))
    assert str(saving) in told
    assert "as of today" in told
    assert f"/images/savings/{saving.pk}/cancel/" in told
    assert 'value="lab"' in dialog(alice, made), "the repository of the last time"


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(alice: Client, made: Environment) -> None:
    for field, typed in (("name", "a..b"), ("tag", "no spaces")):
        status, _page, text = post(alice, made, **{field: typed, "note": "my words"})
        assert status == 422
        assert f'id="id_{field}_error"' in text
        assert typed in text
        assert "my words" in text
    assert not asked()


def test_two_clicks_ask_once_and_a_second_tab_is_told(alice: Client, made: Environment) -> None:
    key = uuid4().hex
    assert post(alice, made, key=key)[0] == post(alice, made, key=key)[0] == 204
    status, _page, text = post(alice, made, name="other")
    assert (status, len(asked())) == (422, 1)
    assert "already" in text


def test_a_full_registry_is_said_before_and_when_asked(
    alice: Client, made: Environment, settings: LazySettings
) -> None:
    settings.REGISTRY_ORGANISATION_BYTES = 0
    assert "is full" in dialog(alice, made)
    assert post(alice, made)[0] == 422
    assert not asked()


def test_it_is_nobody_elses_to_save(bob: Client, charlie: Client, dora: Client, made: Environment) -> None:
    for client in (bob, charlie):
        assert post(client, made)[0] == 404
    assert post(dora, made)[0] in (403, 404, 422)
    assert not asked()


def test_only_while_it_runs(alice: Client, made: Environment) -> None:
    kit.stopped(made)
    assert 'name="name"' not in dialog(alice, made)
    status, _page, text = post(alice, made)
    assert status == 422
    assert "only while it runs" in text


def test_the_list_shows_finds_and_cancels(alice: Client, bob: Client, made: Environment) -> None:
    assert "Nothing saved as an image yet" in kit.text(alice.get("/images/savings/"))
    post(alice, made)
    [saving] = asked()
    assert str(saving) in kit.text(alice.get("/images/savings/?q=my+lab"))
    assert str(saving) not in kit.text(alice.get("/images/savings/?q=nothing"))
    assert str(saving) not in kit.text(alice.get("/images/savings/?status=failed"))
    assert str(saving) not in kit.text(bob.get("/images/savings/"))
    assert bob.post(f"/images/savings/{saving.pk}/cancel/").status_code == 302
    assert asked()[0].cancelled_by_id is None
    back = alice.post(f"/images/savings/{saving.pk}/cancel/", {"next": f"/environments/{made.pk}/"})
    assert back.headers["Location"] == f"/environments/{made.pk}/"
    elsewhere = alice.post(f"/images/savings/{saving.pk}/cancel/", {"next": "//elsewhere.lab/"})
    assert elsewhere.headers["Location"] == "/images/savings/"
    assert asked()[0].cancelled_by_id is not None
    assert "It is being cancelled." in kit.text(alice.get(f"/environments/{made.pk}/"))


def test_one_more_on_the_card_costs_no_statement_more(alice: Client, made: Environment) -> None:
    post(alice, made)
    with CaptureQueriesContext(connection) as one:
        alice.get(f"/environments/{made.pk}/")
    with acting(platform()):
        ImageSaving.objects.update(status="stopped", ended_at=made.created_at)
    post(alice, made, name="second")
    with CaptureQueriesContext(connection) as two:
        alice.get(f"/environments/{made.pk}/")
    assert len(two) == len(one)


class TestApi:
    def test_it_is_asked_for_watched_and_cancelled(self, alice: Client, bob: Client, made: Environment) -> None:
        where = f"/api/v1/environments/{made.pk}/image/"
        answer = alice.post(where, {"name": "lab", "tag": "v1"}, content_type="application/json")
        assert answer.status_code == 202
        told = answer.json()
        assert (told["status"], told["tag"], told["digest"]) == ("queued", "v1", "")
        one = f"/api/v1/images/savings/{told['id']}/"
        assert alice.get(one).json()["repository"] == told["repository"]
        assert [each["id"] for each in alice.get("/api/v1/images/savings/").json()["results"]] == [told["id"]]
        assert bob.get(one).status_code == 404
        assert bob.post(f"{one}cancel/").status_code == 404
        assert alice.post(f"{one}cancel/").json()["progress_text"]

    def test_what_does_not_belong_is_refused(self, alice: Client, world: World, made: Environment) -> None:
        where = f"/api/v1/environments/{made.pk}/image/"
        shared = alice.post(where, {"name": "lab", "shared": True}, content_type="application/json")
        assert (shared.status_code, list(shared.json()["fields"])) == (400, ["shared"])
        runtime = kit.running(kit.make(world))
        where = f"/api/v1/environments/{runtime.pk}/image/"
        tagged = alice.post(where, {"name": "lab", "tag": "v1"}, content_type="application/json")
        assert (tagged.status_code, list(tagged.json()["fields"])) == (400, ["tag"])
        assert not asked()


def test_without_a_registry_it_stays_on_its_machine_and_the_dialog_says_so(
    alice: Client, made: Environment, settings: LazySettings
) -> None:
    settings.REGISTRY_SOCKET = ""
    assert "the image stays on this machine" in dialog(alice, made)
    assert post(alice, made)[0] == 422
