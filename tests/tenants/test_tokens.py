"""API tokens: made once, hashed, never more than their person, ended at once by whatever ends them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from apps.audit.models import Entry
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.tenants import services, tokens
from apps.tenants.actors import personal_actor
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import ApiToken, Membership, Organisation, PlatformAssignment, User
from apps.tenants.tokens import Lifetime, TokenDraft
from tests.builders import make_member, make_organisation, make_staff, platform, signed_in

pytestmark = pytest.mark.django_db

ME = "/api/v1/me/"
RUNS = "/api/v1/training/runs/"
TOKENS = "/api/v1/me/tokens/"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> User:
    with acting(platform()):
        return make_member(lab, "alice")


def make(user: User, organisation: Organisation | None, *permissions: P, **options: Any) -> tuple[ApiToken, str]:
    actor = personal_actor(user)
    chosen = frozenset(permissions or {P.TRAINING_VIEW})
    draft = TokenDraft(
        options.get("name", "laptop"),
        organisation.pk if organisation else None,
        chosen,
        options.get("lifetime", Lifetime.QUARTER),
    )
    with acting(actor):
        return tokens.create(actor, draft=draft)


def with_token(secret: str) -> Client:
    return Client(headers={"authorization": f"Bearer {secret}"})


def test_the_secret_is_in_the_answer_and_only_its_hash_in_the_database(alice: User, lab: Organisation) -> None:
    token, secret = make(alice, lab)
    assert secret.startswith("pls_")
    assert len(secret) >= 47
    assert token.prefix == secret[:12]
    stored = ApiToken.objects.values_list().get()
    assert secret[12:] not in str(stored)
    assert token.digest == tokens.digest_of(secret)


def test_a_token_does_what_it_may_and_nothing_else(alice: User, lab: Organisation) -> None:
    _token, secret = make(alice, lab, P.TRAINING_VIEW)
    client = with_token(secret)
    assert client.get(RUNS).status_code == 200
    refused = client.post(RUNS, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "denied")
    assert client.get("/api/v1/organisation/wallet/").status_code in (403, 404)


def test_no_csrf_token_is_needed_with_it_and_one_is_without(alice: User, lab: Organisation) -> None:
    _token, secret = make(alice, lab, P.TRAINING_SUBMIT)
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(RUNS, {}, content_type="application/json", headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 400  # let in; the empty run is what is wrong
    strict.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert strict.post(RUNS, {}, content_type="application/json").status_code == 403


def test_a_right_that_its_person_loses_is_lost_to_the_token(lab: Organisation) -> None:
    with acting(platform()):
        erin = make_member(lab, "erin", Role.ADMIN)
    _token, secret = make(erin, lab, P.BILLING_VIEW)
    assert with_token(secret).get("/api/v1/recharges/").status_code == 200
    Membership.objects.with_scopes_disabled().filter(user=erin).update(role=Role.MEMBER)
    assert with_token(secret).get("/api/v1/recharges/").status_code == 403


def test_a_token_reaches_its_organisation_whichever_its_person_looks_at(alice: User, lab: Organisation) -> None:
    with acting(platform()):
        other = make_organisation()
        services.add_member(platform(), organisation_id=other.pk, user=alice)
    User.objects.filter(pk=alice.pk).update(current_organisation=other)
    _token, secret = make(alice, lab)
    assert with_token(secret).get(ME).json()["organisation_id"] == str(lab.pk)


def disable(user: User, lab: Organisation, token: ApiToken) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def freeze(user: User, lab: Organisation, token: ApiToken) -> None:
    with acting(platform()):
        services.set_organisation_status(platform(), organisation_id=lab.pk, status=OrganisationStatus.FROZEN)


def leave(user: User, lab: Organisation, token: ApiToken) -> None:
    Membership.objects.with_scopes_disabled().filter(user=user).delete()


def expire(user: User, lab: Organisation, token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(expires_at=Now() - timedelta(seconds=1))


def revoke(user: User, lab: Organisation, token: ApiToken) -> None:
    actor = personal_actor(user)
    with acting(actor):
        tokens.revoke(actor, token_id=token.pk)


@pytest.mark.parametrize("end", [disable, freeze, leave, expire, revoke])
def test_whatever_ends_it_ends_it_at_once_and_says_so(
    alice: User, lab: Organisation, end: Callable[[User, Organisation, ApiToken], None]
) -> None:
    token, secret = make(alice, lab)
    client = with_token(secret)
    assert client.get(RUNS).status_code == 200
    end(alice, lab, token)
    refused = client.get(RUNS)
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == 'Bearer realm="PLStack", error="invalid_token"'
    assert refused["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer pls_nonsense", "bearer \x00", "Bearer a b c"])
def test_what_is_no_token_is_refused(header: str) -> None:
    assert Client(headers={"authorization": header}).get(RUNS).status_code == 401


def test_without_anything_the_answer_names_the_way_in() -> None:
    refused = Client().get(RUNS)
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, 'Bearer realm="PLStack"')


def test_the_use_is_noted_at_most_once_a_minute(alice: User, lab: Organisation) -> None:
    token, secret = make(alice, lab)
    with_token(secret).get(RUNS)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    with_token(secret).get(RUNS)
    token.refresh_from_db()
    assert token.last_used_at == first
    ApiToken.objects.update(last_used_at=Now() - timedelta(seconds=61))
    with_token(secret).get(RUNS)
    token.refresh_from_db()
    assert token.last_used_at > first - timedelta(seconds=5)


@pytest.mark.parametrize(
    ("method", "path"),
    [("get", TOKENS), ("post", TOKENS), ("patch", ME), ("post", "/api/v1/me/ssh-keys/")],
)
def test_a_token_changes_nothing_of_the_account(alice: User, lab: Organisation, method: str, path: str) -> None:
    _token, secret = make(alice, lab)
    refused = getattr(with_token(secret), method)(path, {"name": "x"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "in_person_only")


def test_it_cannot_hold_more_than_its_person(alice: User, lab: Organisation) -> None:
    for permission in (P.BILLING_VIEW, P.PLATFORM_OVERVIEW):
        with pytest.raises(Invalid):
            make(alice, lab, permission)
    with acting(platform()):
        other = make_organisation()
    with pytest.raises(Invalid):
        make(alice, other, P.TRAINING_VIEW)
    with pytest.raises(Invalid):
        make(alice, None, P.PLATFORM_OVERVIEW)
    assert ApiToken.objects.count() == 0


def test_a_token_for_the_console_reaches_the_console_and_no_organisation() -> None:
    with acting(platform()):
        staff = make_staff(PlatformRole.OPS)
    _token, secret = make(staff, None, P.PLATFORM_NODES_VIEW)
    client = with_token(secret)
    assert client.get("/api/v1/console/nodes/").status_code == 200
    assert client.get("/api/v1/console/organisations/").status_code == 403
    assert client.get(RUNS).status_code == 403
    PlatformAssignment.objects.all().delete()
    assert client.get("/api/v1/console/nodes/").status_code == 401


def test_there_is_an_end_to_how_many(alice: User, lab: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS", 1)
    make(alice, lab)
    with pytest.raises(Conflict):
        make(alice, lab)


def test_making_and_revoking_are_in_the_log_without_the_secret(alice: User, lab: Organisation) -> None:
    token, secret = make(alice, lab)
    revoke(alice, lab, token)
    with acting(platform()):
        rows = list(Entry.objects.filter(target_type="api_token").order_by("pk"))
    assert [row.action for row in rows] == ["api_token.created", "api_token.revoked"]
    assert all(row.organisation_id == lab.pk for row in rows)
    assert secret not in str([(row.before, row.after) for row in rows])


def test_nobody_revokes_anothers(alice: User, lab: Organisation) -> None:
    token, secret = make(alice, lab)
    with acting(platform()):
        bob = make_member(lab, "bob", Role.ADMIN)
    actor = personal_actor(bob)
    with acting(actor), pytest.raises(NotFound):
        tokens.revoke(actor, token_id=token.pk)
    assert signed_in(bob).delete(f"{TOKENS}{token.pk}/").status_code == 404
    assert with_token(secret).get(RUNS).status_code == 200


def test_the_api_makes_lists_and_revokes(alice: User, lab: Organisation) -> None:
    client = signed_in(alice)
    asked = {"name": "ci", "organisation_id": str(lab.pk), "permissions": ["training.view"], "lifetime": "30"}
    made = client.post(TOKENS, asked, content_type="application/json")
    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    assert with_token(made.json()["token"]).get(RUNS).status_code == 200
    listed = client.get(TOKENS).json()["results"]
    assert [row["name"] for row in listed] == ["ci"]
    assert not {"token", "digest"} & set(listed[0])
    assert client.delete(f"{TOKENS}{made.json()['id']}/").status_code == 204
    assert with_token(made.json()["token"]).get(RUNS).status_code == 401


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"permissions": []}, {"permissions": ["fly"]}, {"lifetime": "31"}, {"organisation_id": "x"}]
)
def test_the_api_refuses_in_words(alice: User, lab: Organisation, wrong: dict[str, Any]) -> None:
    asked = {"name": "ci", "organisation_id": str(lab.pk), "permissions": ["training.view"], "lifetime": "30", **wrong}
    refused = signed_in(alice).post(TOKENS, asked, content_type="application/json")
    assert refused.status_code == 400
    assert set(wrong) <= set(refused.json()["fields"])
    assert ApiToken.objects.count() == 0


def test_the_pages_make_show_once_and_revoke(alice: User, lab: Organisation) -> None:
    client = signed_in(alice)
    assert "No API token yet" in client.get("/account/tokens/").content.decode()
    asked = {"name": "ci", "place": str(lab.pk), "permissions": ["training.view"], "lifetime": "90"}
    made = client.post("/account/tokens/new/", asked)
    token = ApiToken.objects.get()
    assert made["Cache-Control"] == "no-store"
    assert token.prefix in made.content.decode()
    listed = client.get("/account/tokens/").content.decode()
    assert f"{token.prefix}…" in listed
    assert listed.count(token.prefix) == listed.count(f"{token.prefix}…")
    client.post(f"/account/tokens/{token.pk}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "Revoked" in client.get("/account/tokens/").content.decode()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "Give the token a name"),
        ({"permissions": []}, "Choose at least one thing"),
        ({"permissions": ["billing.view"]}, "billing.view"),
        ({"place": "console"}, "console"),
    ],
)
def test_the_page_keeps_what_was_typed_and_says_what_is_wrong(
    alice: User, lab: Organisation, wrong: dict[str, Any], words: str
) -> None:
    asked = {"name": "my ci", "place": str(lab.pk), "permissions": ["training.view"], "lifetime": "90", **wrong}
    refused = signed_in(alice).post("/account/tokens/new/", asked)
    assert refused.status_code == 422
    assert words in refused.content.decode()
    assert "name" in wrong or "my ci" in refused.content.decode()
    assert ApiToken.objects.count() == 0


def test_the_choices_follow_the_place(lab: Organisation) -> None:
    with acting(platform()):
        staff = make_staff()
        services.add_member(platform(), organisation_id=lab.pk, user=staff)
    client = signed_in(staff)
    assert "platform.overview" not in client.get("/account/tokens/new/").content.decode()
    assert "platform.overview" in client.get("/account/tokens/new/?place=console").content.decode()
