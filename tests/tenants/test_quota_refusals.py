"""What a person is told when a quota is short, and which limits cannot be set."""

from collections.abc import Iterator

import pytest

from apps.audit.models import Entry
from apps.common.errors import Conflict, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Department, Organisation, Quota, User
from apps.tenants.services.members import Place, add_member, change_member
from apps.tenants.services.roles import create_role
from tests.builders import actor_of, make_member, make_organisation, platform

TWO_GIB, THREE_GIB = 2048, 3072
AN_ADMIN = "An administrator of your organisation can raise it; ending other runs frees it."
THE_PLATFORM = "The platform's administrators can raise it; ending other runs frees it."


@pytest.fixture
def organisation(db: None) -> Iterator[Organisation]:
    with acting(platform()):
        yield make_organisation(balance_fen=0)


@pytest.fixture
def bob(organisation: Organisation) -> User:
    return make_member(organisation, "bob")


@pytest.mark.parametrize(
    ("level", "whose", "hint"),
    [
        ("person", "Your", AN_ADMIN),
        ("department", "Your department's", AN_ADMIN),
        ("above", "The department Research's", AN_ADMIN),
        ("whole", "Your organisation's", THE_PLATFORM),
    ],
)
def test_a_refusal_says_whose_limit_by_how_much_and_who_raises_it(
    organisation: Organisation, bob: User, level: str, whose: str, hint: str
) -> None:
    above = Department.objects.create(organisation=organisation, name="Research")
    own = Department.objects.create(organisation=organisation, name="Vision", parent=above)
    levels: dict[str, dict[str, object]] = {
        "person": {"user_id": bob.pk},
        "department": {"department_id": own.pk},
        "above": {"department_id": above.pk},
        "whole": {},
    }
    limit(organisation, Resource.MEMORY_MIB, THREE_GIB, **levels[level])
    asked = {"organisation_id": organisation.pk, "department_id": own.pk, "user_id": bob.pk}
    quotas.reserve(**asked, amounts={Resource.MEMORY_MIB: TWO_GIB})  # type: ignore[arg-type]
    with pytest.raises(QuotaExceeded) as refusal:
        quotas.reserve(**asked, amounts={Resource.MEMORY_MIB: TWO_GIB})  # type: ignore[arg-type]
    told = (f"{whose} quota for Memory is short by 1 GiB: limit 3 GiB, in use 2 GiB.", hint)
    assert (str(refusal.value), str(refusal.value.hint)) == told
    quoted = quotas.shortfall(**asked, amounts={Resource.MEMORY_MIB: TWO_GIB})  # type: ignore[arg-type]
    assert quoted is not None
    assert (str(quoted), str(quoted.hint)) == told


def test_a_limit_may_be_filled_to_the_brim(organisation: Organisation, bob: User) -> None:
    limit(organisation, Resource.RUNS, 2)
    asked = {"organisation_id": organisation.pk, "department_id": None, "user_id": bob.pk}
    assert quotas.shortfall(**asked, amounts={Resource.RUNS: 2}) is None  # type: ignore[arg-type]
    assert quotas.shortfall(**asked, amounts={Resource.RUNS: 3}) is not None  # type: ignore[arg-type]


def test_what_takes_nothing_is_never_short(organisation: Organisation, bob: User) -> None:
    asked = {"organisation_id": organisation.pk, "department_id": None, "user_id": bob.pk}
    quotas.reserve(**asked, amounts={Resource.RUNS: 2})  # type: ignore[arg-type]
    limit(organisation, Resource.RUNS, 1)
    assert quotas.shortfall(**asked, amounts={Resource.RUNS: 0}) is None  # type: ignore[arg-type]
    assert quotas.shortfall(**asked, amounts={Resource.RUNS: -1}) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        (Resource.MEMORY_MIB, 16 * 1024, "16 GiB"),
        (Resource.STORAGE_MIB, 512, "0.5 GiB"),
        (Resource.CPU_MILLI, 4000, "4"),
        (Resource.GPU_MILLI, 500, "0.5"),
        (Resource.RUNS, 3, "3"),
    ],
)
def test_amounts_are_told_in_the_units_that_people_use(resource: Resource, amount: int, text: str) -> None:
    assert quotas.amount_text(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amount", "model", "field", "words"),
    [
        (Resource.RUNS, -1, "", "limit", "A limit cannot be negative."),
        (Resource.RUNS, quotas.LIMIT_MAX + 1, "", "limit", "This is more than any platform has."),
        (Resource.CPU_MILLI, 1, "A100", "model", "Only GPU cards are limited by model."),
        (Resource.GPU_MILLI, 1, "A" * 61, "model", "The name of a model has at most 60 characters."),
    ],
)
def test_a_senseless_limit_is_refused_beside_its_field(
    organisation: Organisation, resource: Resource, amount: int, model: str, field: str, words: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        limit(organisation, resource, amount, model=model)
    assert str(refusal.value).startswith(words)
    assert {name: str(message) for name, message in refusal.value.fields.items()} == {field: str(refusal.value)}
    assert not Quota.objects.filter(organisation=organisation).exists()


@pytest.mark.parametrize(
    ("resource", "amount", "model"),
    [
        (Resource.RUNS, 0, ""),
        (Resource.RUNS, quotas.LIMIT_MAX, ""),
        (Resource.GPU_MILLI, 1, "A" * 60),
        (Resource.GPU_MILLI, None, ""),
    ],
)
def test_limits_reach_from_nothing_to_the_largest(
    organisation: Organisation, resource: Resource, amount: int | None, model: str
) -> None:
    limit(organisation, resource, amount, model=model)
    assert Quota.objects.get(organisation=organisation, resource=resource, model=model).limit == amount


def test_a_limit_is_for_a_department_or_a_person_of_this_organisation(organisation: Organisation, bob: User) -> None:
    vision = Department.objects.create(organisation=organisation, name="Vision")
    with pytest.raises(Invalid, match="not both"):
        limit(organisation, Resource.RUNS, 1, department_id=vision.pk, user_id=bob.pk)
    elsewhere = make_organisation(balance_fen=0)
    theirs = Department.objects.create(organisation=elsewhere, name="Vision")
    for strange in ({"department_id": theirs.pk}, {"user_id": make_member(elsewhere, "charlie").pk}):
        with pytest.raises(NotFound):
            limit(organisation, Resource.RUNS, 1, **strange)
    assert not Quota.objects.filter(organisation=organisation).exists()


def test_a_limit_for_one_model_is_logged_under_its_name(organisation: Organisation) -> None:
    limit(organisation, Resource.GPU_MILLI, 1000, model="A100")
    limit(organisation, Resource.GPU_MILLI, None, model="A100")
    row = Quota.objects.get(organisation=organisation)
    entry = Entry.objects.filter(action="quota.limited").latest("pk")
    assert (entry.organisation_id, entry.target_type, entry.target_id, entry.target_label) == (
        organisation.pk,
        "quota",
        str(row.pk),
        "GPU cards (A100)",
    )
    assert (entry.before, entry.after) == ({"limit": 1000}, {"limit": None})


def test_ranks_are_those_of_this_organisation(organisation: Organisation) -> None:
    """Carol manages quotas; Dave is a member here, as she is, and an administrator elsewhere."""
    admin = actor_of(make_member(organisation, role=Role.ADMIN))
    role = create_role(admin, name="Quotas", permissions=["quotas.view", "quotas.manage"])
    carol, dave = make_member(organisation, "carol"), make_member(organisation, "dave")
    elsewhere = make_organisation(balance_fen=0)
    add_member(platform(), organisation_id=elsewhere.pk, user=dave, role=Role.ADMIN)
    change_member(admin, user_id=carol.pk, place=Place(role=Role.FINANCE, own_role_id=role.pk))
    carols = actor_of(carol)
    quotas.set_limit(carols, organisation_id=organisation.pk, resource=Resource.RUNS, limit=1, user_id=dave.pk)
    with pytest.raises(Conflict, match=r"You can limit only people of a lower rank than your own\."):
        quotas.set_limit(carols, organisation_id=organisation.pk, resource=Resource.RUNS, limit=1, user_id=carol.pk)


def limit(organisation: Organisation, resource: Resource, amount: int | None, **level: object) -> None:
    one = {"organisation_id": organisation.pk, "resource": resource, "limit": amount, **level}
    quotas.set_limit(platform(), **one)  # type: ignore[arg-type]
