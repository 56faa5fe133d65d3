"""The pages and the API of webhooks: for who manages them, in words, with the secret shown once."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.notifications import hook_outbox
from apps.notifications.models import Webhook, WebhookDelivery
from apps.notifications.services import notify_user
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.builders import make_member, make_organisation, platform, signed_in
from tests.notifications.servers import Receiver

pytestmark = pytest.mark.django_db

PAGE, API = "/webhooks/", "/api/v1/webhooks/"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


@pytest.fixture
def admin(alice: User) -> Client:
    return signed_in(alice)


def text_of(response: Any) -> str:
    return str(response.content.decode()).replace("&#x27;", "'")


def make(client: Client, receiver: Receiver, **data: Any) -> Any:
    return client.post(f"{PAGE}new/", {"name": "ci", "url": receiver.url, "which": "all", **data})


def hook() -> Webhook:
    with acting(platform()):
        found: Webhook = Webhook.objects.get()
        return found


def send() -> None:
    with acting(platform()):
        hook_outbox.send_due()


def test_an_empty_list_says_what_webhooks_are_for(admin: Client) -> None:
    assert "No webhook yet" in text_of(admin.get(PAGE))


def test_a_new_one_shows_its_secret_once(admin: Client, receiver: Receiver) -> None:
    made = make(admin, receiver)
    assert SECRET.search(text_of(made))
    assert made.headers["Cache-Control"] == "no-store"
    for url in (PAGE, f"{PAGE}{hook().pk}/", f"{PAGE}{hook().pk}/edit/"):
        page = text_of(admin.get(url))
        assert "ci" in page
        assert not SECRET.search(page)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": " "}, "This field is required."),
        ({"url": "http://10.0.0.1/"}, "This address is not a public one."),
        ({"url": "ftp://example.org/"}, "This is not a web address."),
        ({"which": "some"}, "Choose at least one of the events."),
    ],
)
def test_bad_input_is_said_beside_the_field(
    admin: Client, receiver: Receiver, change: dict[str, str], words: str
) -> None:
    answer = make(admin, receiver, **change)
    assert answer.status_code == 422
    assert words in text_of(answer)
    with acting(platform()):
        assert not Webhook.objects.exists()


def test_the_log_shows_attempts_and_sends_again(
    lab: Organisation, alice: User, admin: Client, receiver: Receiver
) -> None:
    make(admin, receiver)
    receiver.status, receiver.body = 500, b"internal secrets of the receiver"
    notify_user(organisation_id=lab.pk, user_id=alice.pk, kind="run.failed", data={"name": "digits"})
    send()
    page = text_of(admin.get(f"{PAGE}{hook().pk}/"))
    assert "Run failed" in page
    assert "500" in page
    assert "internal secrets" not in page
    assert "The receiver does not accept messages" in page
    with acting(platform()):
        delivery = WebhookDelivery.objects.get()
    receiver.status = 200
    admin.post(f"{PAGE}deliveries/{delivery.pk}/redeliver/")
    send()
    assert "2 attempts" in text_of(admin.get(f"{PAGE}{hook().pk}/"))


def test_everything_can_be_done_from_its_page(admin: Client, receiver: Receiver) -> None:
    make(admin, receiver)
    url = f"{PAGE}{hook().pk}/"
    assert "A test is on its way" in text_of(admin.post(f"{url}test/", follow=True))
    assert "A test is on its way already." in text_of(admin.post(f"{url}test/", follow=True))
    assert SECRET.search(text_of(admin.post(f"{url}secret/")))
    assert "The webhook is off." in text_of(admin.post(f"{url}switch/", follow=True))
    assert "Switch it on first." in text_of(admin.post(f"{url}test/", follow=True))
    assert "The webhook is on." in text_of(admin.post(f"{url}switch/", {"on": "1"}, follow=True))
    changed = {"name": "build", "url": receiver.url, "which": "some", "kinds": ["run.failed", "billing.low"]}
    assert "The webhook has been saved." in text_of(admin.post(f"{url}edit/", changed, follow=True))
    assert hook().kinds == ["run.failed", "billing.low"]
    assert "has been deleted" in text_of(admin.post(f"{url}delete/", follow=True))
    assert admin.get(url).status_code == 404


def test_members_are_refused_and_strangers_find_nothing(
    lab: Organisation, admin: Client, bob: User, receiver: Receiver
) -> None:
    make(admin, receiver)
    with acting(platform()):
        charlie = make_member(make_organisation(balance_fen=0), "charlie", Role.ADMIN)
    urls = [f"{PAGE}{hook().pk}/", f"{API}{hook().pk}/", f"{API}{hook().pk}/deliveries/"]
    for url in urls:
        assert signed_in(bob).get(url).status_code == 403
        assert signed_in(charlie).get(url).status_code == 404
    for path in ("test/", "secret/", "delete/", "switch/", "edit/"):
        assert signed_in(charlie).post(f"{PAGE}{hook().pk}/{path}").status_code == 404
    assert hook().active


def test_the_api_does_what_the_pages_do(admin: Client, receiver: Receiver) -> None:
    asked = {"name": "ci", "url": receiver.url, "kinds": ["run.finished"]}
    made = admin.post(API, asked, content_type="application/json")
    assert made.status_code == 201
    assert SECRET.fullmatch(made.json()["secret"])
    url = f"{API}{made.json()['id']}/"
    assert "secret" not in admin.get(url).json()
    assert [row["name"] for row in admin.get(API).json()["results"]] == ["ci"]
    changed = admin.patch(url, {"name": "build", "active": False}, content_type="application/json").json()
    assert (changed["name"], changed["active"], changed["kinds"]) == ("build", False, ["run.finished"])
    assert admin.post(f"{url}test/").status_code == 409
    admin.patch(url, {"active": True}, content_type="application/json")
    assert admin.post(f"{url}test/").status_code == 202
    send()
    delivery = admin.get(f"{url}deliveries/").json()["results"][0]
    assert (delivery["kind"], delivery["state"], delivery["attempts"][0]["status"]) == ("test", "sent", 200)
    assert admin.post(f"{API}deliveries/{delivery['id']}/redeliver/").status_code == 202
    rotated = admin.post(f"{url}secret/").json()
    assert rotated["secret"] != made.json()["secret"]
    assert rotated["old_secret_until"]
    assert admin.delete(url).status_code == 204
    assert admin.get(url).status_code == 404


def test_the_api_says_what_is_wrong(admin: Client, receiver: Receiver) -> None:
    for change, field in (({"url": "http://127.0.0.1/"}, "url"), ({"kinds": ["x"]}, "kinds"), ({"name": ""}, "name")):
        asked = {"name": "ci", "url": receiver.url, **change}
        answer = admin.post(API, asked, content_type="application/json")
        assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])
