"""The page of notices and its API: one's own, unread first."""

import pytest
from django.core import mail
from django.test import Client

from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications import outbox, services
from apps.notifications.choices import Channel
from apps.notifications.models import Notice
from apps.tenants import services as tenants
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, User
from tests.builders import make_member, make_organisation, make_staff, make_user, platform, signed_in

pytestmark = pytest.mark.django_db

PAGE, API = "/notifications/", "/api/v1/notices/"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation(balance_fen=0)


@pytest.fixture
def alice(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "alice", Role.ADMIN)


def tell(organisation: Organisation, user: User, kind: str = "billing.low", funds_fen: int = 51_200) -> Notice:
    with acting(platform()):
        services.notify_user(
            organisation_id=organisation.pk,
            user_id=user.pk,
            kind=kind,
            data={"funds_fen": funds_fen, "burn_fen_per_hour": "3120"},
        )
        return Notice.objects.filter(user=user).latest("pk")


def unread(user: User) -> int:
    with acting(platform()):
        return Notice.objects.filter(user=user, read_at__isnull=True).count()


def test_without_notices_the_page_says_what_it_is_for(alice: User) -> None:
    page = signed_in(alice).get(PAGE).content.decode()
    assert "No notices yet" in page
    assert "Mark all as read" not in page


def test_unread_ones_come_first_and_the_bell_counts_them(lab: Organisation, alice: User) -> None:
    first = tell(lab, alice, funds_fen=100)
    tell(lab, alice, funds_fen=200)
    client = signed_in(alice)
    client.post(f"{PAGE}{first.pk}/read/")
    tell(lab, alice, funds_fen=300)
    page = client.get(PAGE).content.decode()
    assert page.index("¥3.00") < page.index("¥2.00") < page.index("¥1.00")
    assert "Notifications, 2 unread" in page
    assert "¥1.00" not in client.get(PAGE, {"show": "unread"}).content.decode()


def test_all_are_marked_at_once_and_it_says_how_many(lab: Organisation, alice: User) -> None:
    for _each in range(3):
        tell(lab, alice)
    page = signed_in(alice).post(f"{PAGE}read/", follow=True).content.decode()
    assert "3 notices marked as read." in page
    assert unread(alice) == 0


def test_nobody_reads_or_marks_what_is_not_theirs(lab: Organisation, alice: User) -> None:
    with acting(platform()):
        bob, charlie = make_member(lab, "bob"), make_user("charlie")
    notice = tell(lab, alice)
    for person in (bob, charlie):
        client = signed_in(person)
        assert "¥512.00" not in client.get(PAGE).content.decode()
        assert client.post(f"{PAGE}{notice.pk}/read/").status_code == 404
        client.post(f"{PAGE}read/")
        client.post(f"{API}read/", {"ids": [notice.pk]}, content_type="application/json")
    assert unread(alice) == 1


def test_notices_of_another_organisation_wait_until_one_works_there(lab: Organisation, alice: User) -> None:
    with acting(platform()) as staff:
        other = make_organisation(balance_fen=0)
        tenants.add_member(staff, organisation_id=other.pk, user=alice)
    tell(other, alice)
    client = signed_in(alice)
    client.post("/organisation/", {"organisation": str(lab.pk)})
    assert "No notices yet" in client.get(PAGE).content.decode()
    client.post("/organisation/", {"organisation": str(other.pk)})
    assert "¥512.00" in client.get(PAGE).content.decode()


def test_marking_takes_a_post(lab: Organisation, alice: User) -> None:
    notice, client = tell(lab, alice), signed_in(alice)
    for url in (f"{PAGE}read/", f"{PAGE}{notice.pk}/read/", f"{API}read/"):
        assert client.get(url).status_code == 405
    assert unread(alice) == 1


def test_long_lists_have_pages(lab: Organisation, alice: User) -> None:
    for _each in range(27):
        tell(lab, alice)
    client = signed_in(alice)
    assert client.get(PAGE).content.decode().count("they last") == 25
    assert client.get(PAGE, {"page": "2"}).content.decode().count("they last") == 2


def test_the_api_gives_data_and_words(lab: Organisation, alice: User) -> None:
    tell(lab, alice)
    found = signed_in(alice).get(API).json()["results"][0]
    assert (found["kind"], found["data"]["funds_fen"], found["read_at"]) == ("billing.low", 51_200, None)
    assert found["title"] == "The balance is running low"


def test_the_api_marks_some_or_all(lab: Organisation, alice: User) -> None:
    notices = [tell(lab, alice) for _each in range(3)]
    client = signed_in(alice)
    some = client.post(f"{API}read/", {"ids": [notices[0].pk]}, content_type="application/json")
    assert some.json() == {"marked": 1}
    assert client.post(f"{API}read/", {}, content_type="application/json").json() == {"marked": 2}
    bad = client.post(f"{API}read/", {"ids": ["x"]}, content_type="application/json")
    assert bad.status_code == 400
    assert "ids" in bad.json()["fields"]


def test_strangers_are_asked_to_sign_in(client: Client) -> None:
    assert client.get(PAGE).status_code == 302
    assert client.get(API).status_code in (401, 403)


def test_staff_find_the_platforms_notices_in_the_console(alice: User) -> None:
    with acting(platform()):
        ops = make_staff(PlatformRole.OPS, "ops")
        finance = make_staff(PlatformRole.FINANCE, "finance")
    data = {"name": "gpu-7", "workloads": 2}
    services.notify_platform(permission=Permission.PLATFORM_NODES_MANAGE, kind="node.down", data=data)
    page = signed_in(ops).get("/console/notices/").content.decode()
    assert "The node gpu-7 is silent" in page
    assert "Notifications, 1 unread" in page
    assert "gpu-7" not in signed_in(finance).get("/console/notices/").content.decode()
    assert signed_in(alice).get("/console/notices/").status_code == 403
    signed_in(ops).post("/console/notices/read/")
    assert unread(ops) == 0


def test_the_bell_alone_can_be_asked_for(lab: Organisation, alice: User) -> None:
    tell(lab, alice)
    bell = signed_in(alice).get(f"{PAGE}bell/").content.decode()
    assert "Notifications, 1 unread" in bell
    assert f'data-live="user.{alice.pk}"' in bell
    assert "<html" not in bell


def test_somebody_without_an_organisation_is_told_by_mail() -> None:
    with acting(platform()):
        loner = make_user("loner")
        services.notify_person(user=loner, kind="security.password_reset", data={"by": "Root"})
        outbox.send_due(Channel.EMAIL)
    assert mail.outbox[0].to == [loner.email]
    assert "Root has set a new password" in mail.outbox[0].body
