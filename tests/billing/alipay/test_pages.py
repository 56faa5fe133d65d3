"""The way of a payment through the pages: amount, payment page, notice, wallet; and the settings behind it."""

import re
from urllib.parse import parse_qsl

import pytest
from django.test import Client
from django.urls import reverse

from apps.billing.choices import TopUpStatus
from apps.billing.models import TopUpOrder
from apps.billing.payments.alipay import keys, payment_notices
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, User
from tests.billing.alipay.gateway import ALIPAY, APP, OURS, SELLER, STRANGER, Gateway, form
from tests.billing.builders import PLATFORM, balance, make_member
from tests.builders import make_staff, signed_in

NOTIFY = reverse("billing:alipay_notify")


def client_of(actor: Actor) -> Client:
    return signed_in(User.objects.get(pk=actor.person()))


@pytest.fixture
def browser(gateway: Gateway, treasurer: Actor) -> Client:
    return client_of(treasurer)


def ordered(browser: Client) -> tuple[TopUpOrder, str]:
    """An order, and the address of its payment page."""
    page = browser.post(reverse("billing:top_up"), {"amount": "12.34"}, follow=True)
    order = TopUpOrder.objects.latest("pk")
    found = re.search(r'href="([^"]*gateway\.do[^"]*)"', page.content.decode())
    assert found is not None
    return order, found[1].replace("&amp;", "&")


def send(body: bytes) -> tuple[int, str]:
    """As the gateway does: no cookie, no token."""
    answer = Client(enforce_csrf_checks=True).post(NOTIFY, body, content_type="application/x-www-form-urlencoded")
    return answer.status_code, answer.content.decode()


def test_from_the_amount_to_the_wallet(browser: Client, gateway: Gateway, lab: Organisation) -> None:
    order, url = ordered(browser)
    asked = dict(parse_qsl(url.partition("?")[2]))
    assert asked["notify_url"] == f"http://testserver{NOTIFY}"
    gateway.open(url)
    gateway.pay(order.out_trade_no)
    assert send(form(gateway.notice(order.out_trade_no))) == (200, "success")
    assert send(form(gateway.notice(order.out_trade_no))) == (200, "success")
    assert balance(lab) == 1234
    page = browser.get(reverse("billing:top_up_order", args=[order.out_trade_no])).content.decode()
    assert "The money is in the wallet" in page
    assert payment_notices.notify_due() == 1
    assert Notice.objects.filter(kind="billing.topped_up").exists()
    assert order.out_trade_no in browser.get(reverse("billing:top_up")).content.decode()


def test_an_open_payment_stands_in_the_wallet(browser: Client) -> None:
    assert "Payments by Alipay" not in browser.get(reverse("billing:wallet")).content.decode()
    order, _url = ordered(browser)
    shown = browser.get(reverse("billing:wallet")).content.decode()
    assert "Payments by Alipay" in shown
    assert order.out_trade_no in shown


def test_coming_back_credits_only_what_the_gateway_confirms(
    browser: Client, gateway: Gateway, lab: Organisation
) -> None:
    order, url = ordered(browser)
    gateway.open(url)
    lie = {"out_trade_no": order.out_trade_no, "trade_status": "TRADE_SUCCESS", "total_amount": "12.34"}
    browser.get(reverse("billing:top_up_back"), lie)
    assert balance(lab) == 0
    gateway.pay(order.out_trade_no)
    browser.get(reverse("billing:top_up_back"), {"out_trade_no": order.out_trade_no})
    assert balance(lab) == 1234


def test_forged_and_strange_notices_are_not_taken(browser: Client, gateway: Gateway, lab: Organisation) -> None:
    order, url = ordered(browser)
    gateway.open(url)
    gateway.pay(order.out_trade_no)
    number = order.out_trade_no
    assert send(form(gateway.notice(number), key=STRANGER)) == (400, "failure")
    assert send(form(gateway.notice(number, total_amount="99.00"))) == (200, "failure")
    assert send(form(gateway.notice(number, app_id="1"))) == (400, "failure")
    assert send(form({**gateway.notice(number), "out_trade_no": "PL-nobody"})) == (200, "failure")
    assert send(b"") == (400, "failure")
    assert Client().get(NOTIFY).status_code == 405
    assert balance(lab) == 0


def test_cancelling_and_asking_by_hand(browser: Client, gateway: Gateway, lab: Organisation) -> None:
    order, url = ordered(browser)
    gateway.open(url)
    cancel = reverse("billing:top_up_cancel", args=[order.out_trade_no])
    assert "Cancel this top-up?" in browser.get(cancel).content.decode()
    browser.post(cancel)
    order.refresh_from_db()
    assert order.status == TopUpStatus.CLOSED
    gateway.pay(order.out_trade_no)  # the buyer was faster after all
    browser.post(reverse("billing:top_up_ask", args=[order.out_trade_no]))
    assert balance(lab) == 1234


@pytest.mark.parametrize(("amount", "words"), [("0.5", "From ¥1.00"), ("abc", "Give an amount"), ("", "required")])
def test_bad_amounts_get_words_beside_the_field(amount: str, words: str, browser: Client) -> None:
    page = browser.post(reverse("billing:top_up"), {"amount": amount})
    assert page.status_code == 422
    assert words in page.content.decode()
    assert not TopUpOrder.objects.exists()


def test_members_and_strangers_cannot(browser: Client, lab: Organisation) -> None:
    order, _url = ordered(browser)
    member = client_of(make_member(lab, Role.MEMBER))
    assert member.get(reverse("billing:top_up")).status_code in (403, 404)
    assert member.get(reverse("billing:top_up_order", args=[order.out_trade_no])).status_code in (403, 404)


def test_switched_off_it_says_so_and_still_credits_what_was_paid_before(
    browser: Client, gateway: Gateway, lab: Organisation
) -> None:
    order, url = ordered(browser)
    gateway.open(url)
    gateway.pay(order.out_trade_no)
    settings.put(PLATFORM, gateway.settings(enabled=False))
    assert "Paying online is not set up" in browser.get(reverse("billing:top_up")).content.decode()
    assert send(form(gateway.notice(order.out_trade_no))) == (200, "success")
    assert balance(lab) == 1234


@pytest.fixture
def admin(platform: Actor) -> Client:
    return signed_in(make_staff(PlatformRole.SUPER))


SETTINGS = reverse("console:settings_payment")


def given(server: Gateway, **changes: str) -> dict[str, str]:
    fields = {
        "enabled": "on",
        "app_id": APP,
        "seller_id": SELLER,
        "private_key": OURS.pkcs8,
        "alipay_public_key": f"-----BEGIN PUBLIC KEY-----\n{ALIPAY.public}\n-----END PUBLIC KEY-----",
        "gateway": f"{server.url}/gateway.do",
        "least_fen": "1.00",
        "most_fen": "5000.00",
        "expire_minutes": "30",
        **changes,
    }
    return {"which": "alipay", **{f"alipay-{name}": value for name, value in fields.items()}}


def test_keys_are_checked_converted_and_never_shown(admin: Client, server: Gateway) -> None:
    assert admin.post(SETTINGS, given(server)).status_code == 302
    found = settings.get(AlipaySettings)
    assert found.private_key == keys.private_key(OURS.pkcs8)
    assert found.alipay_public_key == ALIPAY.public
    page = admin.get(SETTINGS).content.decode()
    assert OURS.public in page
    assert found.private_key not in page
    assert found.private_key[:60] not in page


def test_an_empty_key_keeps_the_one_that_is_there(admin: Client, server: Gateway) -> None:
    admin.post(SETTINGS, given(server))
    assert admin.post(SETTINGS, given(server, private_key="", expire_minutes="15")).status_code == 302
    found = settings.get(AlipaySettings)
    assert (found.expire_minutes, found.private_key) == (15, keys.private_key(OURS.pkcs8))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"private_key": "not a key"}, "This is no key"),
        ({"alipay_public_key": "AAAA"}, "This is no key"),
        ({"alipay_public_key": OURS.public}, "your own public key"),
        ({"app_id": "x"}, "digits only"),
        ({"gateway": "http://pay.example.net/gateway.do"}, "by https"),
        ({"most_fen": "0.50"}, "at least the smallest"),
    ],
)
def test_settings_that_cannot_work_say_so_beside_the_field(
    changes: dict[str, str], words: str, admin: Client, server: Gateway
) -> None:
    page = admin.post(SETTINGS, given(server, **changes))
    assert page.status_code == 422
    assert words in page.content.decode()
    with acting(PLATFORM):
        assert not settings.get(AlipaySettings).enabled
