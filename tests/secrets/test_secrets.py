"""What is kept of a secret, who reaches it, and what is written down about it."""

import json
from typing import Any

import pytest
from django.core import serializers

from apps.audit.models import Entry
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.idempotency import identify
from apps.common.scoping import acting
from apps.common.sealing import Unreadable
from apps.secrets import selectors, services
from apps.secrets.choices import Scope
from apps.secrets.models import Secret
from apps.secrets.services import NewSecret
from apps.secrets.values import LARGEST, opened
from apps.tenants.choices import Role
from apps.tenants.models import Department, Membership
from apps.tenants.services import departments
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.secrets.making import VALUE, make_secret, make_shared

pytestmark = pytest.mark.django_db


def stored(secret: Secret) -> Secret:
    with acting(platform()):
        return Secret.objects.get(pk=secret.pk)


def test_the_row_holds_the_value_sealed_and_no_digest_of_it(world: World) -> None:
    row = stored(make_secret(world))
    assert opened(row) == VALUE.encode()
    assert VALUE not in serializers.serialize("json", [row])
    assert {field.attname for field in Secret._meta.concrete_fields} == {
        *("id", "organisation_id", "owner_id", "department_id", "name", "description", "sealed"),
        *("created_by_id", "created_at", "rotated_at", "last_used_at"),
    }


def test_a_value_moved_to_another_row_does_not_open(world: World) -> None:
    first, second = stored(make_secret(world)), stored(make_secret(world, name="OTHER"))
    second.sealed = first.sealed
    with pytest.raises(Unreadable):
        opened(second)


def test_the_value_is_in_no_representation_of_a_request() -> None:
    assert VALUE not in repr(NewSecret(Scope.PERSONAL, "HF_TOKEN", VALUE))


def test_every_act_leaves_an_audit_row_without_the_value(world: World) -> None:
    secret = make_secret(world, description="for the hub")
    with acting(world.actor):
        services.rotate(world.actor, secret.pk, f"{VALUE}-2")
        services.describe(world.actor, secret.pk, description="for the mirror", department_id=None)
        services.delete(world.actor, secret.pk)
    with acting(platform()):
        rows = list(Entry.objects.filter(target_type="secret").order_by("pk").values())
    assert [row["action"] for row in rows] == ["secret.created", "secret.rotated", "secret.changed", "secret.deleted"]
    told = json.dumps(rows, default=str)
    assert VALUE not in told
    assert rows[2]["before"]["description"] == "for the hub"
    assert rows[1]["before"] == rows[1]["after"] == {}


def test_rotating_replaces_the_value(world: World) -> None:
    secret = make_secret(world)
    with acting(world.actor):
        services.rotate(world.actor, secret.pk, "another value")
    row = stored(secret)
    assert opened(row) == b"another value"
    assert row.rotated_at is not None


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("hf_token", "name"),
        ("1TOKEN", "name"),
        ("A-B", "name"),
        ("", "name"),
        ("A" * 101, "name"),
        ("PLSTACK_X", "name"),
    ],
)
def test_bad_names_are_refused(world: World, name: str, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_secret(world, name=name)
    assert field in refusal.value.fields


@pytest.mark.parametrize("value", ["", "a\0b", "\ud800", "x" * (LARGEST + 1), "é" * (LARGEST // 2 + 1)])
def test_values_that_no_program_can_be_given_are_refused(world: World, value: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_secret(world, value=value)
    assert "value" in refusal.value.fields


def test_the_largest_value_fits_to_the_byte(world: World) -> None:
    assert opened(stored(make_secret(world, value="x" * LARGEST))) == b"x" * LARGEST


def test_a_name_is_taken_once_in_each_scope(world: World) -> None:
    make_secret(world)
    make_shared(world, "HF_TOKEN")
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
    make_secret(world, bob)
    with pytest.raises(Invalid) as refusal:
        make_secret(world)
    assert "name" in refusal.value.fields


def test_a_person_has_a_hundred_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST", 2)
    make_secret(world, name="A")
    make_secret(world, name="B")
    with pytest.raises(Conflict):
        make_secret(world, name="C")
    make_shared(world)  # the organisation's are counted apart


def test_nobody_else_sees_a_personal_secret(world: World) -> None:
    secret = make_secret(world)
    with acting(platform()):
        colleagues = [make_member(world.organisation, "bob"), make_member(world.organisation, "dora", Role.ADMIN)]
    for user in colleagues:
        with acting(actor_of(user, world.organisation)) as actor:
            for act in (
                lambda actor=actor: selectors.get(actor, secret.pk),
                lambda actor=actor: services.rotate(actor, secret.pk, "x"),
                lambda actor=actor: services.delete(actor, secret.pk),
                lambda actor=actor: services.describe(actor, secret.pk, description="", department_id=None),
            ):
                with pytest.raises(NotFound):
                    act()
            assert not selectors.visible(actor).exists()
            assert not selectors.usable(actor).exists()


def test_one_person_in_two_organisations_has_secrets_in_each(world: World) -> None:
    secret = make_secret(world)
    with acting(platform()):
        other = make_organisation()
        Membership.objects.create(organisation=other, user=world.alice)
    with acting(actor_of(world.alice, other)) as actor, pytest.raises(NotFound):
        selectors.get(actor, secret.pk)


def test_members_use_the_organisations_and_only_managers_change_it(world: World) -> None:
    secret = make_shared(world)
    with acting(world.actor):
        assert selectors.get(world.actor, secret.pk) == secret
        assert secret in selectors.usable(world.actor)
        with pytest.raises(Denied):
            services.rotate(world.actor, secret.pk, "x")
        with pytest.raises(Denied):
            services.delete(world.actor, secret.pk)
        with pytest.raises(Denied):
            services.create(world.actor, NewSecret(Scope.ORGANISATION, "NEW", "x"))
    with acting(platform()):
        dora = make_member(world.organisation, "dora", Role.ADMIN)
    with acting(actor_of(dora, world.organisation)) as actor:
        services.rotate(actor, secret.pk, "another")
    assert opened(stored(secret)) == b"another"


def in_departments(world: World) -> dict[str, Any]:
    """Vision below Research, and Finance beside it."""
    with acting(platform()):
        research = Department.objects.create(organisation=world.organisation, name="Research")
        vision = Department.objects.create(organisation=world.organisation, name="Vision", parent=research)
        finance = Department.objects.create(organisation=world.organisation, name="Finance")
    return {"research": research, "vision": vision, "finance": finance}


@pytest.mark.parametrize(("where", "sees"), [("research", True), ("vision", True), ("finance", False), (None, False)])
def test_a_departments_secret_is_used_in_it_and_below(world: World, where: str | None, sees: bool) -> None:
    found = in_departments(world)
    secret = make_shared(world, department_id=found["research"].pk)
    with acting(platform()):
        department = found[where] if where else None
        Membership.objects.filter(user=world.alice).update(department=department)
    with acting(actor_of(world.alice, world.organisation)) as actor:
        assert (secret in selectors.usable(actor)) is sees


def test_a_department_that_a_secret_is_limited_to_is_not_deleted(world: World) -> None:
    found = in_departments(world)
    make_shared(world, department_id=found["finance"].pk)
    with acting(platform()) as actor, pytest.raises(Conflict):
        departments.delete_department(actor, department_id=found["finance"].pk, organisation_id=world.organisation.pk)


def test_a_foreign_department_is_refused(world: World) -> None:
    with acting(platform()):
        foreign = Department.objects.create(organisation=make_organisation(), name="Elsewhere")
    with pytest.raises(Invalid) as refusal:
        make_shared(world, department_id=foreign.pk)
    assert "department" in refusal.value.fields


def test_the_digest_of_a_repeated_request_is_worth_nothing_without_the_installations_key(
    world: World, rf: Any, settings: Any
) -> None:
    request = rf.post("/api/v1/secrets/", {"value": VALUE}, content_type="application/json")
    kept = identify(request, world.actor, "k", keyed=True).request
    assert kept != identify(request, world.actor, "k").request
    assert kept == identify(request, world.actor, "k", keyed=True).request
    settings.SECRET_KEY = "another" * 8
    assert kept != identify(request, world.actor, "k", keyed=True).request
