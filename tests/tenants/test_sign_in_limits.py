"""Guessing is slowed whoever does it from wherever; who knows the password in their own browser always gets in."""

import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.core.internal.ratelimit import get_rates
from django.core import mail
from django.db import connection, connections, transaction
from django.test import Client
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.common.scoping import acting
from apps.tenants import sign_in_limits as limits
from apps.tenants.models import KnownDevice, Organisation, SignInFailures, User
from apps.tenants.services import accounts
from apps.tenants.sign_in_limits import Caller, TooManyTries, account_of, begin, network_of, succeeded
from plstack.settings import base
from tests.builders import PASSWORD, make_member, make_organisation, platform
from tests.searching import run_machine

LOGIN = "/accounts/login/"
OFFICE, ELSEWHERE = "203.0.113.9", "198.51.100.7"
# Guesses that an attacker with any number of addresses has for one account in an hour.
MOST_AN_HOUR = 20


@pytest.fixture
def lab(db: None) -> Organisation:
    with acting(platform()):
        return make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "alice")


@pytest.fixture
def bob(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "bob")


def sign_in(login: str, password: str = PASSWORD, *, client: Client | None = None, address: str = OFFICE) -> Any:
    """An answer; 302 for who got in."""
    return (client or Client()).post(LOGIN, {"login": login, "password": password}, REMOTE_ADDR=address)


def own_browser(user: User, address: str = OFFICE) -> Client:
    """In which the person has signed in, and out again."""
    client = Client()
    assert sign_in(user.username, client=client, address=address).status_code == 302
    assert client.cookies[limits.COOKIE]["httponly"]
    del client.cookies["plstack_session"]
    return client


def fail(login: str, times: int, address: str = OFFICE) -> list[int]:
    return [sign_in(login, f"wrong-{n}", address=address).status_code for n in range(times)]


def test_no_limit_of_the_library_counts_an_address() -> None:
    """Its defaults stay where a setting is left out: 30 sign-ins a minute from an address, 10 failures."""
    assert get_rates(app="allauth.account", action="login") == []
    assert get_rates(app="allauth.account", action="login_failed") == []
    assert (base.ACCOUNT_RATE_LIMITS["login"], base.ACCOUNT_RATE_LIMITS["login_failed"]) == (None, None)


def test_an_attacker_in_an_office_locks_nobody_out_of_it(alice: User, bob: User) -> None:
    own = own_browser(alice)
    assert fail(alice.username, 12)[-1] == 429
    assert sign_in(bob.username).status_code == 302
    assert sign_in(alice.username, client=own).status_code == 302


def test_the_page_says_when_to_try_again(alice: User) -> None:
    fail(alice.username, 5)
    answer = sign_in(alice.username)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 30
    assert "Try again in 1 minute." in answer.content.decode()
    answer = Client(headers={"Accept-Language": "zh-CN"}).get(LOGIN)
    assert answer.status_code == 200


def test_many_addresses_have_the_tries_of_one(alice: User) -> None:
    own = own_browser(alice)
    answers = [fail(alice.username, 1, f"198.51.100.{n}")[0] for n in range(40)]
    assert answers.count(200) == limits.STRANGERS_PACE.free
    assert sign_in(alice.username, client=own, address=ELSEWHERE).status_code == 302


def test_a_name_and_an_address_are_one_account(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    fail(alice.username, 3)
    fail("ALICE@example.org", 2)
    assert fail(alice.username, 1) == [429]


def test_a_name_that_nobody_has_is_limited_alike(db: None) -> None:
    assert fail("nobody", 6) == [200] * 5 + [429]


def test_an_address_that_tries_many_accounts_is_refused_but_for_people_known_there(alice: User, bob: User) -> None:
    own_browser(alice)
    for number in range(limits.CROWD):
        fail(f"guess-{number}", 1)
    assert sign_in(bob.username).status_code == 429
    assert sign_in(alice.username).status_code == 302, "she has signed in from there before"
    assert sign_in(bob.username, address=ELSEWHERE).status_code == 302


def test_a_device_is_held_up_by_its_own_failures(alice: User) -> None:
    own = own_browser(alice)
    for number in range(limits.OWN_PACE.free):
        assert sign_in(alice.username, f"typo-{number}", client=own).status_code == 200
    assert sign_in(alice.username, client=own).status_code == 429


def test_a_secret_that_somebody_planted_is_not_what_is_known(alice: User) -> None:
    browser = Client()
    browser.cookies[limits.COOKIE] = "planted"
    assert sign_in(alice.username, client=browser).status_code == 302
    assert browser.cookies[limits.COOKIE].value != "planted"
    attacker = Client()
    attacker.cookies[limits.COOKIE] = "planted"
    fail(alice.username, 5, ELSEWHERE)
    assert sign_in(alice.username, client=attacker, address=ELSEWHERE).status_code == 429


def test_two_people_share_a_browser(alice: User, bob: User) -> None:
    client = own_browser(alice)
    assert sign_in(bob.username, client=client).status_code == 302
    assert KnownDevice.objects.values("digest").distinct().count() == 1
    fail(alice.username, 10)
    del client.cookies["plstack_session"]
    assert sign_in(alice.username, client=client).status_code == 302


def test_a_new_password_begins_afresh(alice: User) -> None:
    own_browser(alice)
    fail(alice.username, 6)
    with acting(platform()):
        password = accounts.reset_password(platform(), user_id=alice.pk)
    assert not KnownDevice.objects.filter(user=alice).exists()
    assert sign_in(alice.username, password).status_code == 302


def test_a_reset_by_mail_begins_afresh(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    fail(alice.username, 6)
    client = Client()
    client.post("/accounts/password/reset/", {"email": "alice@example.org"})
    link = next(word for word in str(mail.outbox[-1].body).split() if "/password/reset/key/" in word)
    page = client.get(link[link.index("/accounts") :], follow=True)
    client.post(page.request["PATH_INFO"], {"password1": "another-horse-7", "password2": "another-horse-7"})
    assert sign_in(alice.username, "another-horse-7").status_code == 302


def test_what_is_old_is_forgotten(alice: User) -> None:
    own_browser(alice)
    fail(alice.username, 3)
    SignInFailures.objects.update(last_at=datetime(2026, 1, 1, tzinfo=UTC))
    KnownDevice.objects.update(seen_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert limits.forget_old() == 3
    assert not SignInFailures.objects.exists()


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", ""),
        (None, ""),
        ("unix:", ""),
    ],
)
def test_a_place_is_an_address_or_a_site(address: str | None, place: str) -> None:
    assert network_of(address) == place


@pytest.mark.django_db(transaction=True)
def test_tries_at_the_same_time_count_one_after_the_other() -> None:
    with acting(platform()):
        alice = make_member(make_organisation(), "alice")
    admitted: list[bool] = []

    def guess(number: int) -> None:
        try:
            begin(Caller(f"198.51.100.{number}", ""), account_of(alice.username))
            admitted.append(True)
        except TooManyTries:
            admitted.append(False)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(admitted), sum(admitted)) == (24, limits.STRANGERS_PACE.free)


class Guessing(RuleBasedStateMachine):
    """An attacker with eight addresses, one of them the office's, against somebody who signs in now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.savepoint = transaction.atomic()
        self.savepoint.__enter__()
        self.patch = pytest.MonkeyPatch()
        self.now = datetime(2026, 11, 20, 9, tzinfo=UTC)
        self.patch.setattr(limits, "db_now", lambda: self.now)
        self.user = User.objects.create(username="victim")
        KnownDevice.objects.create(user=self.user, digest="own", place=OFFICE)
        self.guesses: list[datetime] = []
        self.typos = 0

    def teardown(self) -> None:
        self.patch.undo()
        connection.set_rollback(True)
        self.savepoint.__exit__(None, None, None)

    @rule(address=st.integers(0, 7), times=st.integers(1, 30))
    def guess(self, address: int, times: int) -> None:
        for _time in range(times):
            try:
                begin(Caller(OFFICE if address == 0 else f"198.51.100.{address}", ""), account_of("victim"))
            except TooManyTries:
                return
            self.guesses.append(self.now)

    @rule(number=st.integers(0, 99), times=st.integers(1, 3))
    def guess_at_others(self, number: int, times: int) -> None:
        for each in range(times):
            try:
                begin(Caller(OFFICE, ""), account_of(f"other-{number + each}"))
            except TooManyTries:
                return

    @rule(seconds=st.integers(1, 4000))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def mistype(self) -> None:
        if self.typos < limits.OWN_PACE.free - 1:
            begin(Caller(OFFICE, "own"), account_of("victim"))
            self.typos += 1

    @rule(place=st.sampled_from([OFFICE, ELSEWHERE]))
    def sign_in(self, place: str) -> None:
        succeeded(begin(Caller(place, "own"), account_of("victim")))
        self.typos = 0

    @rule()
    def sign_in_in_another_browser(self) -> None:
        """May have to wait: nothing tells them from the attacker. It gives nobody a guess."""
        with suppress(TooManyTries):
            succeeded(begin(Caller(ELSEWHERE, ""), account_of("victim")))

    @invariant()
    def the_attacker_is_slow(self) -> None:
        recent = [each for each in self.guesses if each > self.now - timedelta(hours=1)]
        assert len(recent) <= MOST_AN_HOUR


@pytest.mark.hypothesis
def test_whatever_happens_the_honest_get_in_and_the_attacker_is_slow(db: None) -> None:
    run_machine(Guessing, count=60, steps=30)
