"""Services in the pages: made, updated, given a key and stopped; and what the API says of them."""

from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.serving.choices import DeploymentStatus as S
from apps.serving.models import Service, ServiceKey
from tests.builders import World, platform
from tests.serving.kit import DOUBLE, advance, of, put_ready

pytestmark = pytest.mark.django_db
API = "/api/v1/services/"


def form(world: World, **changes: Any) -> dict[str, Any]:
    plain = {
        "name": "digits",
        "runtime": "script",
        "script": DOUBLE,
        "image": str(world.image.pk),
        "package": str(world.package.pk),
        "members": "2",
        "at_a_time": "1",
        "timeout_s": "60",
        "body_limit_mib": "16",
        "repeatable": "on",
        "key": "one",
    }
    return {**plain, **changes}


def the_service() -> Service:
    with acting(platform()):
        return Service.objects.get()


def test_from_the_form_to_an_update_a_key_and_the_stop(world: World, alice: Client) -> None:
    page = alice.post("/services/new/", form(world, script="x = 1"))
    assert page.status_code == 422
    assert "The script has no function predict(model, inputs)." in page.content.decode()
    with acting(platform()):
        assert not Service.objects.exists()

    answer = alice.post("/services/new/", form(world))
    service = the_service()
    home = f"/services/{service.pk}/"
    assert answer["Location"] == home
    first = of(service, S.PREPARING)
    assert first is not None
    put_ready(first, 2)
    advance()
    assert "2 of 2 ready" in alice.get(home).content.decode()

    assert "def predict" in alice.get(f"{home}update/").content.decode(), "it begins with what serves"
    alice.post(f"{home}update/", form(world, name="other", script="predict = max", key="two", version_note="larger"))
    coming = of(service, S.PREPARING)
    assert coming is not None
    with acting(platform()):
        assert (coming.version.number, coming.version.note, the_service().name) == (2, "larger", "digits")
    assert "Version 2 gets ready" in alice.get(home).content.decode()

    made = alice.post(f"{home}keys/new/", {"name": "app", "lifetime": "90", "per_minute": "60"})
    assert made["Cache-Control"] == "no-store"
    with acting(platform()):
        key = ServiceKey.objects.get()
    assert key.prefix in made.content.decode()
    listed = alice.get(f"{home}keys/").content.decode()
    assert f"{key.prefix}…" in listed
    assert alice.get(f"{API}{service.pk}/").json()["status"] == "running"
    assert alice.get(f"{API}{service.pk}/").json()["coming_version"] == 2

    alice.post(f"{home}stop/")
    assert "Stopping" in alice.get("/services/").content.decode()
    assert [each["status"] for each in alice.get(f"{API}{service.pk}/deployments/").json()["results"]] == [
        *("ended", "draining")
    ]


def test_a_service_is_made_and_started_again_over_the_api(world: World, alice: Client, bob: Client) -> None:
    asked = {"name": "digits", "runtime": "script", "script": DOUBLE, "image": str(world.image.pk)}
    asked |= {"package": world.package.pk, "replicas": 1}
    made = alice.post(API, asked, content_type="application/json")
    assert made.status_code == 201, made.content
    where = f"{API}{made.json()['id']}/"
    assert bob.get(where).status_code == 404
    assert alice.post(f"{where}stop/").json()["status"] == "stopped"
    again = alice.post(f"{where}start/", {}, content_type="application/json")
    assert (again.status_code, again.json()["coming_version"]) == (202, 1)
    refused = alice.post(f"{where}versions/", {**asked, "script": "x"}, content_type="application/json")
    assert refused.status_code in (400, 409)


def test_it_follows_its_load_and_is_fixed_again_by_page_and_api(world: World, alice: Client) -> None:
    alice.post("/services/new/", form(world))
    service = the_service()
    home, api = f"/services/{service.pk}/", f"{API}{service.pk}/scaling/"
    first = of(service, S.PREPARING)
    assert first is not None
    put_ready(first, 2)
    advance()
    assert "A fixed number of replicas" in alice.get(home).content.decode()
    assert alice.get(api).status_code == 404

    asked = {"least": "2", "most": "1", "target": "8", "patience_min": "5"}
    page = alice.post(f"{home}scaling/", asked)
    assert page.status_code == 422
    assert "Not less than the least number." in page.content.decode()
    assert alice.post(f"{home}scaling/", {**asked, "most": "4"})["Location"] == home
    shown = alice.get(home).content.decode()
    assert "From 2 to 4 replicas, by load: one for each 8 requests in flight." in shown
    assert f"{home}scale/" not in shown, "not by hand meanwhile"
    told = {"least": 2, "most": 4, "target": 8, "patience_min": 5, "held": "", "in_flight": 0.0}
    assert alice.get(api).json() == told
    assert "takes over with as many as serve" in alice.get(f"{home}update/").content.decode()
    refused = alice.post(f"{API}{service.pk}/scale/", {"replicas": 3}, content_type="application/json")
    assert refused.status_code == 409

    changed = alice.put(api, {"most": 3, "target": 1}, content_type="application/json").json()
    assert (changed["least"], changed["most"], changed["patience_min"]) == (1, 3, 5)
    alice.post(f"{home}scaling/end/")
    assert alice.get(api).status_code == 404
    assert alice.delete(api).status_code == 409
