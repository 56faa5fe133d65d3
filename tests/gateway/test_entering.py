"""The way in: who gets a code, what a code is good for, what the cookie opens."""

import time
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client

from apps.common.clock import db_now
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import Membership, Organisation
from apps.workloads.gateway import passes
from apps.workloads.gateway.hosts import Address
from apps.workloads.models import EntryCode, GatewaySession, Workload
from tests.architecture import endings
from tests.architecture.endings import Ending, Holder
from tests.builders import World, make_member, make_organisation, make_staff, signed_in
from tests.gateway.kit import COOKIE, Site, Visit, alice, code_of, enter, knock, submit_server

WAITING = 503  # let in, to the page that says that nothing runs yet


def exchange(site: Site, place: str, address: Address | str = "") -> int:
    url = urlsplit(place)
    return site.ask("GET", address or url.netloc, f"{url.path}?{url.query}").status


def test_the_owner_is_let_in_and_lands_on_the_path_that_was_asked_for(site: Site, world: World, lab: Workload) -> None:
    status, place = knock(alice(world), lab, path="/lab?reset=1")
    url = urlsplit(place)
    answer = site.ask("GET", url.netloc, f"{url.path}?{url.query}")

    assert (status, answer.status, answer.header("location")) == (303, 303, "/lab?reset=1")
    cookie = answer.header("set-cookie") or ""
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Domain" not in cookie
    assert "Secure" not in cookie
    assert answer.header("referrer-policy") == "no-referrer"


def test_over_tls_the_cookie_is_bound_to_host_and_scheme(
    site: Site, world: World, queued: Workload, settings: LazySettings
) -> None:
    settings.GATEWAY_ORIGIN = "https://apps.example.org"
    place = knock(alice(world), queued)[1]
    url = urlsplit(place)
    answer = site.ask("GET", url.netloc, f"{url.path}?{url.query}")
    assert place.startswith(f"https://{queued.pk.hex}.apps.example.org/.plstack/enter?")
    assert (answer.header("set-cookie") or "").startswith("__Host-plstack_app=")
    assert "; Secure" in (answer.header("set-cookie") or "")


def test_the_page_inside_is_reached(visit: Visit) -> None:
    assert visit.get("/").body == b"hello from inside"


def test_a_code_works_once(site: Site, world: World, queued: Workload) -> None:
    place = knock(alice(world), queued)[1]
    assert [exchange(site, place), exchange(site, place)] == [303, 403]


def test_a_code_works_for_a_minute(site: Site, world: World, queued: Workload) -> None:
    place = knock(alice(world), queued)[1]
    assert EntryCode.objects.get().expires_at - db_now() <= timedelta(seconds=60)
    EntryCode.objects.update(expires_at=db_now() - timedelta(seconds=1))
    assert exchange(site, place) == 403


def test_a_code_is_for_one_workload_and_one_port(site: Site, world: World, queued: Workload) -> None:
    other = submit_server(world)
    client = alice(world)
    assert exchange(site, knock(client, queued)[1], Address(other.pk)) == 403
    assert exchange(site, knock(client, queued)[1], Address(queued.pk, "other")) == 403
    assert exchange(site, knock(client, queued, "other")[1], Address(queued.pk)) == 403


def test_a_code_is_kept_only_as_its_digest(world: World, queued: Workload) -> None:
    code = code_of(knock(alice(world), queued)[1])
    assert code not in str(list(EntryCode.objects.values()))


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "https://evil.example/", "/a\r\nX: y", "/.plstack/enter"]
)
def test_the_path_afterwards_stays_on_this_host(site: Site, world: World, queued: Workload, path: str) -> None:
    url = urlsplit(knock(alice(world), queued, path=path)[1])
    assert site.ask("GET", url.netloc, f"{url.path}?{url.query}").header("location") == "/"


def test_nobody_else_gets_a_code(world: World, queued: Workload) -> None:
    stranger = make_member(make_organisation(), "charlie")
    colleague = make_member(world.organisation, "bob")
    staff = make_staff()
    assert knock(Client(), queued)[0] == 302
    assert knock(signed_in(stranger), queued)[0] == 404
    assert knock(signed_in(colleague), queued)[0] == 404
    assert knock(signed_in(staff), queued)[0] in {403, 404}
    assert not EntryCode.objects.exists()


def test_who_manages_the_organisations_environments_opens_none(world: World, queued: Workload) -> None:
    admin = make_member(world.organisation, "dora", Role.ADMIN)
    assert knock(signed_in(admin), queued)[0] == 404
    assert not EntryCode.objects.exists()


def test_without_a_cookie_there_is_a_page_with_a_way_back_and_nothing_else(site: Site, queued: Workload) -> None:
    answer = site.ask("GET", Address(queued.pk), "/lab?x=1", headers={"Accept": "text/html", "Accept-Language": "en"})
    assert answer.status == 401
    assert f"/open/{queued.pk}/?next=%2Flab%3Fx%3D1" in answer.body.decode()
    assert b"hello" not in answer.body
    assert site.ask("POST", Address(queued.pk), "/", b"x").status == 401


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "\u00e9"])
def test_a_made_up_cookie_opens_nothing(site: Site, queued: Workload, token: str) -> None:
    assert site.ask("GET", Address(queued.pk), "/", headers={"Cookie": f"{COOKIE}={token}"}).status == 401


def test_a_cookie_opens_no_other_host(site: Site, world: World, visitor: Visit) -> None:
    other = submit_server(world)
    for address in (Address(other.pk), Address(visitor.address.workload_id, "other")):
        assert site.ask("GET", address, "/", headers=visitor.headers()).status == 401


def test_a_neighbours_cookie_of_the_same_name_does_not_lock_one_out(visitor: Visit) -> None:
    cookie = f"{COOKIE}=tossed; {COOKIE}={visitor.token}"
    assert visitor.site.ask("GET", visitor.address, "/", headers={"Cookie": cookie}).status == WAITING


def test_signing_out_of_the_portal_ends_what_was_opened_from_it(site: Site, world: World, queued: Workload) -> None:
    client = alice(world)
    visitor = enter(site, client, queued)
    assert visitor.get("/").status == WAITING
    Session.objects.filter(session_key=client.session.session_key).delete()
    wait_until_refused(visitor)


def test_an_ex_member_is_out(visitor: Visit, world: World) -> None:
    assert visitor.get("/").status == WAITING
    Membership.objects.filter(user=world.alice).delete()
    wait_until_refused(visitor)


def test_a_frozen_organisations_work_is_closed(visitor: Visit, world: World) -> None:
    assert visitor.get("/").status == WAITING
    Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
    wait_until_refused(visitor)


def test_a_session_ends_a_quarter_of_an_hour_after_its_last_use(visitor: Visit) -> None:
    GatewaySession.objects.update(expires_at=db_now() + timedelta(minutes=5))
    assert visitor.get("/").status == WAITING
    assert GatewaySession.objects.get().expires_at - db_now() > timedelta(minutes=14)
    GatewaySession.objects.update(expires_at=db_now() - timedelta(seconds=1))
    wait_until_refused(visitor)


def wait_until_refused(visit: Visit) -> None:
    """The tests' gateway believes an answer for a fifth of a second."""
    end = time.monotonic() + 60
    while visit.get("/").status != 401:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "evil.example",
        "apps.localhost",
        "x.apps.localhost",
        "{hex}.apps.localhost:1",
        "{hex}.evil.example",
    ],
)
def test_foreign_host_names_reach_nothing(site: Site, queued: Workload, host: str) -> None:
    assert site.ask("GET", host.format(hex=queued.pk.hex), "/").status == 421


def test_while_the_database_is_away_the_page_says_so_and_looks_again(
    visitor: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(passes, "admit", away)
    monkeypatch.setattr(passes, "exchange", away)
    answer = visitor.get("/", Accept="text/html", Accept_Language="en")
    assert (answer.status, answer.header("refresh")) == (503, "3")
    assert b"PLStack cannot be asked now" in answer.body
    assert visitor.get("/.plstack/enter?code=x").status == 503


@pytest.mark.parametrize("end", [*endings.OF_A_SESSION, endings.frozen])
def test_every_end_of_the_right_closes_the_door(visitor: Visit, world: World, end: Ending) -> None:
    """A code that is still unused opens nothing either."""
    row = GatewaySession.objects.get()
    portal = "http://localhost:8600"
    code = passes.issue(world.actor, row.workload, row.port, portal_session=row.portal_session, portal=portal)
    assert passes.admit(row.digest, visitor.address) is not None
    end(Holder(world.alice, world.organisation, row.portal_session))
    assert passes.admit(row.digest, visitor.address) is None
    assert passes.exchange(code, visitor.address) is None
