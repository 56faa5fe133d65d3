"""The pages and the API: values go in and never come out; what one may not see does not exist."""

import json
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.scoping import acting
from apps.secrets.models import Secret
from apps.secrets.uses import Use
from apps.secrets.values import opened
from tests.builders import World, platform
from tests.secrets.making import VALUE, make_secret, make_shared

pytestmark = pytest.mark.django_db

PAGE, API = "/secrets/", "/api/v1/secrets/"
KEY = "-----BEGIN KEY-----\r\nabcdef\r\n-----END KEY-----\r\n"


def text_of(response: Any) -> str:
    return str(response.content.decode()).replace("&#x27;", "'")


def the_secret() -> Secret:
    with acting(platform()):
        return Secret.objects.get()


def used_by(secret_id: Any) -> list[Use]:
    return [Use("Environment", "notebook", "", "Alice")]


def sent(client: Client, method: str, url: str, **data: Any) -> Any:
    return getattr(client, method)(url, json.dumps(data), content_type="application/json")


@pytest.mark.parametrize(("scope", "words"), [("personal", "No secret yet"), ("organisation", "has no secret for you")])
def test_an_empty_list_says_what_secrets_are_for(alice: Client, scope: str, words: str) -> None:
    assert words in text_of(alice.get(f"{PAGE}?scope={scope}"))


def test_a_secret_is_set_and_its_value_is_on_no_page(alice: Client) -> None:
    made = alice.post(f"{PAGE}new/", {"name": "HF_TOKEN", "value": VALUE, "description": "hub"}, follow=True)
    assert made.status_code == 200
    secret = the_secret()
    assert opened(secret) == VALUE.encode()
    for url in (PAGE, f"{PAGE}{secret.pk}/", f"{API}{secret.pk}/", API):
        page = text_of(alice.get(url))
        assert "HF_TOKEN" in page
        assert VALUE not in page


def test_a_refused_form_keeps_the_name_and_drops_the_value(alice: Client) -> None:
    answer = alice.post(f"{PAGE}new/", {"name": "lower", "value": VALUE})
    assert answer.status_code == 422
    assert "lower" in text_of(answer)
    assert VALUE not in text_of(answer)


@pytest.mark.parametrize(
    ("typed", "kept"), [(KEY, KEY.replace("\r\n", "\n")), ("token\r\n", "token"), (" two words ", " two words ")]
)
def test_the_page_keeps_lines_as_programs_expect_them(alice: Client, typed: str, kept: str) -> None:
    alice.post(f"{PAGE}new/", {"name": "A", "value": typed})
    assert opened(the_secret()) == kept.encode()


def test_the_api_keeps_the_value_byte_for_byte(alice: Client) -> None:
    made = sent(alice, "post", API, name="A", value=KEY)
    assert made.status_code == 201, made.content
    assert "value" not in made.json()
    assert opened(the_secret()) == KEY.encode()


def test_replacing_and_describing_on_the_page(alice: Client, world: World) -> None:
    secret = make_secret(world)
    alice.post(f"{PAGE}{secret.pk}/rotate/", {"value": "new value"})
    alice.post(f"{PAGE}{secret.pk}/describe/", {"description": "for the hub"})
    row = the_secret()
    assert opened(row) == b"new value"
    assert row.description == "for the hub"
    refused = alice.post(f"{PAGE}{secret.pk}/rotate/", {"value": ""})
    assert refused.status_code == 422
    assert "Enter the value." in text_of(refused)


def test_deleting_what_is_used_asks_again_when_something_came_to_it(
    alice: Client, world: World, settings: LazySettings
) -> None:
    secret = make_secret(world)
    settings.SECRET_USES = [f"{__name__}.used_by"]
    page = text_of(alice.get(f"{PAGE}{secret.pk}/"))
    assert "notebook" in page
    alice.post(f"{PAGE}{secret.pk}/delete/", {"used": "0"})
    assert the_secret() == secret
    alice.post(f"{PAGE}{secret.pk}/delete/", {"used": "1"})
    with acting(platform()):
        assert not Secret.objects.exists()


def test_the_api_names_what_uses_it_before_it_deletes(alice: Client, world: World, settings: LazySettings) -> None:
    secret = make_secret(world)
    settings.SECRET_USES = [f"{__name__}.used_by"]
    refused = alice.delete(f"{API}{secret.pk}/")
    assert refused.status_code == 409
    assert "notebook" in refused.json()["detail"]
    assert alice.delete(f"{API}{secret.pk}/?although_used=true").status_code == 204


def test_the_api_rotates_and_describes(alice: Client, world: World) -> None:
    secret = make_secret(world)
    assert sent(alice, "post", f"{API}{secret.pk}/rotate/", value="other").status_code == 200
    answer = sent(alice, "patch", f"{API}{secret.pk}/", description="hub")
    assert answer.json()["description"] == "hub"
    assert answer.json()["rotated_at"]
    assert opened(the_secret()) == b"other"


def test_a_member_uses_the_organisations_but_does_not_change_it(alice: Client, dora: Client, world: World) -> None:
    secret = make_shared(world)
    page = text_of(alice.get(f"{PAGE}{secret.pk}/"))
    assert "Replace the value" not in page
    assert alice.get(f"{PAGE}new/?scope=organisation").status_code == 403
    assert sent(alice, "post", f"{API}{secret.pk}/rotate/", value="x").status_code == 403
    assert sent(dora, "post", f"{API}{secret.pk}/rotate/", value="xyz").status_code == 200
    assert "Replace the value" in text_of(dora.get(f"{PAGE}{secret.pk}/"))


@pytest.mark.parametrize("who", ["bob", "dora", "charlie", "staff", "frank"])
def test_nobody_else_finds_a_personal_secret(who: str, world: World, request: pytest.FixtureRequest) -> None:
    client: Client = request.getfixturevalue(who)
    secret = make_secret(world)
    refused = (403, 404)
    assert client.get(f"{PAGE}{secret.pk}/").status_code in refused
    assert client.get(f"{API}{secret.pk}/").status_code in refused
    assert sent(client, "post", f"{API}{secret.pk}/rotate/", value="x").status_code in refused
    assert client.delete(f"{API}{secret.pk}/").status_code in refused
    assert client.post(f"{PAGE}{secret.pk}/delete/").status_code in refused
    assert "HF_TOKEN" not in text_of(client.get(API)) + text_of(client.get(PAGE))
    assert opened(the_secret()) == VALUE.encode()


def test_another_tenants_secret_is_not_there(charlie: Client, world: World) -> None:
    secret = make_shared(world)
    for url in (f"{PAGE}{secret.pk}/", f"{API}{secret.pk}/"):
        assert charlie.get(url).status_code == 404
