"""Top-ups and credit limits by the platform's finance staff."""

from uuid import uuid4

import pytest

from apps.audit.models import Entry
from apps.billing import selectors, services
from apps.billing.models import Transfer
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation, top_up


def pay(organisation: Organisation, fen: int = 5000, reference: str = "slip 1", note: str = "") -> Transfer:
    return services.top_up(PLATFORM, organisation_id=organisation.pk, amount_fen=fen, reference=reference, note=note)


def test_a_top_up_credits_the_wallet_and_is_logged(lab: Organisation) -> None:
    transfer = pay(lab, note="first money")
    assert balance(lab) == 5000
    assert (transfer.ref, transfer.note, transfer.actor_label) == ("slip 1", "first money", "PLStack")
    entry = Entry.objects.get(action="billing.top_up")
    assert entry.organisation_id == lab.pk
    assert entry.after["amount_fen"] == 5000


def test_the_same_slip_is_credited_once(lab: Organisation) -> None:
    assert pay(lab).pk == pay(lab, reference=" slip 1 ").pk
    assert balance(lab) == 5000
    assert Entry.objects.filter(action="billing.top_up").count() == 1


def test_the_same_slip_with_another_amount_is_a_conflict(lab: Organisation) -> None:
    pay(lab)
    with pytest.raises(Conflict):
        pay(lab, 5001)
    assert balance(lab) == 5000


def test_two_organisations_may_have_slips_of_the_same_name(lab: Organisation) -> None:
    other = make_organisation()
    pay(lab)
    pay(other)
    assert (balance(lab), balance(other)) == (5000, 5000)


@pytest.mark.parametrize(
    ("fen", "reference", "note", "field"),
    [
        (0, "x", "", "amount"),
        (-5, "x", "", "amount"),
        (100_000_001, "x", "", "amount"),
        (1, "  ", "", "reference"),
        (1, "x" * 81, "", "reference"),
        (1, "x", "n" * 301, "note"),
    ],
)
def test_a_wrong_top_up_is_told_beside_its_field(
    lab: Organisation, fen: int, reference: str, note: str, field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        pay(lab, fen, reference, note)
    assert list(refusal.value.fields) == [field]
    assert not Transfer.objects.exists()


def test_only_finance_staff_top_up(lab: Organisation, alice: Actor) -> None:
    with pytest.raises(Denied):
        services.top_up(alice, organisation_id=lab.pk, amount_fen=1, reference="x")
    with pytest.raises(Denied):
        services.set_credit_limit(alice, organisation_id=lab.pk, credit_limit_fen=1)


def test_an_unknown_organisation_does_not_exist(platform: Actor) -> None:
    with pytest.raises(NotFound):
        services.top_up(PLATFORM, organisation_id=uuid4(), amount_fen=1, reference="x")


def test_a_credit_limit_counts_as_available_and_is_logged(lab: Organisation) -> None:
    services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=700)
    assert selectors.wallet(PLATFORM, organisation_id=lab.pk).available_fen == 700
    entry = Entry.objects.get(action="billing.credit_limit")
    assert (entry.before, entry.after) == ({"credit_limit_fen": 0}, {"credit_limit_fen": 700})


@pytest.mark.parametrize("limit", [-1, 100_000_001])
def test_a_credit_limit_has_bounds(lab: Organisation, limit: int) -> None:
    with pytest.raises(Invalid):
        services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=limit)


def test_each_sees_their_own_records(lab: Organisation, alice: Actor) -> None:
    other = make_organisation()
    bob, charlie = make_member(lab), make_member(other, Role.FINANCE)
    top_up(lab, 100)
    top_up(other, 200)
    assert selectors.recharges(PLATFORM).count() == 2
    assert [each.organisation for each in selectors.wallets(PLATFORM)] == sorted([lab, other], key=lambda o: o.name)
    with acting(alice):
        assert [each.amount_fen for each in selectors.recharges(alice)] == [100]
        assert selectors.wallet(alice).balance_fen == 100
    with acting(charlie):
        assert [each.amount_fen for each in selectors.recharges(charlie)] == [200]
        assert selectors.wallet(charlie, organisation_id=lab.pk).balance_fen == 200
    with acting(bob):
        assert selectors.wallet(bob).balance_fen == 100
        with pytest.raises(Denied):
            selectors.recharges(bob)
        with pytest.raises(Denied):
            selectors.wallets(bob)
