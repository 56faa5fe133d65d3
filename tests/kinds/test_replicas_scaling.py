"""Another number of replicas: who may, who goes, what it takes, and what ends all of them."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from apps.audit.models import Entry
from apps.billing import policy
from apps.billing.models import Hold, MeterSession, Package, SpendingCap
from apps.billing.prices.packages.selectors import current_price
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, InsufficientFunds, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Role
from apps.tenants.models import Membership, Quota
from apps.workloads import services as workloads
from apps.workloads.choices import Desired, Reason, Status
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.replicas import converge
from apps.workloads.replicas import selectors as sets
from apps.workloads.replicas import services as replicas
from tests.builders import World, actor_of, make_member, make_organisation, platform, reload
from tests.kinds.replicated import PACKAGE, all_serve, kill, live, newest, no_pause, serve, summed, until_set
from tests.kinds.toy.kind import LINE

pytestmark = [pytest.mark.programs, pytest.mark.django_db, pytest.mark.usefixtures("serving_toy", "three_machines")]


def test_more_are_spread_and_queue_where_there_is_no_room(world: World) -> None:
    found = serve(world, 2)
    until_set(found, all_serve(found))
    replicas.scale(world.actor, found.pk, 4)
    seen = until_set(found, lambda seen: seen.serving == 3)
    assert (seen.wanted, seen.waiting, seen.words) == (4, 1, "3 of 4 serve")
    assert len({newest(row).node_id for row in live(found).values() if row.status == Status.RUNNING}) == 3
    entry = Entry.objects.get(action="replica_set.scaled")
    assert (entry.before, entry.after, entry.actor_label) == ({"wanted": 2}, {"wanted": 4}, world.actor.label)


def test_fewer_stop_what_waits_before_what_serves_and_the_youngest_first(world: World, band: ReplicaSet) -> None:
    first, second, third = (live(band)[index] for index in range(3))
    Workload.objects.filter(pk=second.pk).update(status_since=db_now() + timedelta(minutes=1))
    replicas.scale(world.actor, band.pk, 4)
    replicas.scale(world.actor, band.pk, 2)
    assert (reload(second).status, second.reason) == (Status.STOPPING, Reason.SCALED)
    assert {row.pk for row in converge.wanted_replicas(band)} == {first.pk, third.pk}
    until_set(band, all_serve(band))
    assert reload(second).status == Status.STOPPED
    waited = Workload.objects.get(replica_set=band, replica_index=3)
    assert (waited.status, waited.attempt_number) == (Status.STOPPED, 0)
    assert not Hold.objects.filter(workload_id=waited.pk, end__isnull=True).exists()


def test_up_again_takes_the_lowest_free_number_and_none_that_is_still_leaving(world: World, band: ReplicaSet) -> None:
    younger = [live(band)[index].pk for index in (1, 2)]
    Workload.objects.filter(pk__in=younger).update(status_since=db_now() + timedelta(minutes=1))
    replicas.scale(world.actor, band.pk, 1)
    replicas.scale(world.actor, band.pk, 3)
    numbers = sorted(row.replica_index or 0 for row in converge.wanted_replicas(band))
    assert numbers == [0, 3, 4]
    until_set(band, all_serve(band))
    replicas.scale(world.actor, band.pk, 4)
    assert sorted(row.replica_index or 0 for row in converge.wanted_replicas(band)) == [0, 1, 3, 4]


def test_two_of_one_number_are_refused_by_the_database(world: World, band: ReplicaSet) -> None:
    row = live(band)[0]
    with pytest.raises(IntegrityError, match="one_live_replica_of_an_index"), transaction.atomic():
        Workload.objects.create(
            **{
                field: getattr(row, field)
                for field in ("organisation_id", "owner_id", "kind", "name", "spec", "package_id", "price_version_id")
            },
            submit_key="another",
            replica_set=band,
            replica_index=0,
        )


def refused_by_the_database(update: Callable[[], object], why: str) -> None:
    with pytest.raises(IntegrityError, match=why), transaction.atomic():
        update()


def test_the_database_keeps_what_was_submitted(world: World, band: ReplicaSet) -> None:
    rows, members = ReplicaSet.objects.filter(pk=band.pk), Workload.objects.filter(replica_set=band)
    refused_by_the_database(lambda: rows.update(spec={}), "cannot change")
    refused_by_the_database(lambda: rows.update(kind="envs"), "cannot change")
    refused_by_the_database(lambda: rows.update(wanted=0), "replica_set_wants_some")
    refused_by_the_database(lambda: rows.update(ended_at=db_now()), "replica_set_ended_was_asked")
    refused_by_the_database(lambda: members.update(replica_index=None, replica_set=None), "stays what it is")
    replicas.stop(world.actor, band.pk)
    refused_by_the_database(lambda: rows.update(desired=Desired.RUNNING), "not wanted again")


def test_scaling_up_without_money_or_quota_changes_nothing(world: World, band: ReplicaSet) -> None:
    quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=LINE, limit=4)
    with pytest.raises(QuotaExceeded):
        replicas.scale(world.actor, band.pk, 5)
    quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=LINE, limit=None)
    serve(world, 64)
    with pytest.raises(InsufficientFunds):
        replicas.scale(world.actor, band.pk, 64)
    band.refresh_from_db()
    assert band.wanted == Workload.objects.filter(replica_set=band).count() == 3


@pytest.mark.parametrize("wanted", [-1, 0, 65])
def test_a_number_out_of_range_is_refused(world: World, band: ReplicaSet, wanted: int) -> None:
    with pytest.raises(Invalid) as refused:
        replicas.scale(world.actor, band.pk, wanted)
    assert "replicas" in refused.value.fields


def test_stopping_one_is_scaling_down_by_it(world: World, band: ReplicaSet) -> None:
    workloads.stop(world.actor, live(band)[1])
    converge.sweep(platform())
    band.refresh_from_db()
    assert (band.wanted, band.desired) == (2, Desired.RUNNING)
    until_set(band, all_serve(band))
    assert sorted(live(band)) == [0, 2]


def test_the_set_ends_with_its_last_for_its_reason(world: World, band: ReplicaSet) -> None:
    for row in live(band).values():
        workloads.stop(world.actor, row)
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    assert (band.reason, band.reason_data) == (Reason.BY_PERSON, {"by": world.actor.label})


def test_stopping_the_set_leaves_nothing(world: World, band: ReplicaSet) -> None:
    replicas.scale(world.actor, band.pk, 5)
    replicas.stop(world.actor, band.pk)
    assert summed(band).words == "Stopping"
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    rows = Workload.objects.filter(replica_set=band)
    assert {row.status for row in rows} == {Status.STOPPED}
    assert band.ended_at == max(row.ended_at for row in rows if row.ended_at)
    assert not Attempt.objects.filter(workload__in=rows, ended_at__isnull=True).exists()
    assert not MeterSession.objects.filter(set_id=band.pk, closed_at__isnull=True).exists()
    assert not Hold.objects.filter(workload_id__in=rows.values("pk"), end__isnull=True, reason="running").exists()
    assert not Quota.objects.filter(organisation=world.organisation, used__gt=0).exists()
    assert live(band) == {}
    with pytest.raises(Conflict):
        replicas.stop(world.actor, band.pk)
    with pytest.raises(Conflict):
        replicas.scale(world.actor, band.pk, 2)


def test_a_stop_that_meets_a_death_stays_a_stop(world: World, band: ReplicaSet) -> None:
    """It died and was asked to end before anybody looked: it is not started again."""
    row = live(band)[0]
    kill(row)
    replicas.stop(world.actor, band.pk)
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    assert reload(row).attempt_number == 1


def test_want_of_money_ends_all(world: World, band: ReplicaSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads.billing_reads, "suspended_organisation_ids", lambda: {world.organisation.pk})
    assert workloads.enforce_arrears(platform()) == 3
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    assert band.reason == Reason.ARREARS


def test_a_lost_right_ends_all_at_the_next_start(world: World, band: ReplicaSet) -> None:
    Membership.objects.filter(organisation=world.organisation, user=world.alice).delete()
    kill(live(band)[0])
    until_set(band, lambda seen: seen.waiting == 1)
    no_pause()
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    assert band.reason == Reason.UNAUTHORISED


def test_one_cap_is_on_all_of_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lasts three replicas for an hour, and one of them for three."""
    rate = offer_of(PACKAGE)
    found = serve(world, 3, cap_fen=int(3 * rate))
    until_set(found, all_serve(found))
    assert workloads.enforce_caps(platform()) == 0
    monkeypatch.setattr(policy, "CAP_AHEAD", timedelta(minutes=90))
    SpendingCap.objects.update(look_at=db_now())
    replicas.scale(world.actor, found.pk, 1)
    until_set(found, all_serve(found))
    assert workloads.enforce_caps(platform()) == 0
    replicas.scale(world.actor, found.pk, 3)
    until_set(found, all_serve(found))
    assert SpendingCap.objects.get(pk=found.pk).look_at <= db_now() + timedelta(seconds=30), "it may grow at any time"
    SpendingCap.objects.update(look_at=db_now())
    assert workloads.enforce_caps(platform()) == 1
    assert workloads.enforce_caps(platform()) == 0
    until_set(found, lambda seen: seen.status == Status.STOPPED)
    assert found.reason == Reason.CAP
    assert SpendingCap.objects.get(pk=found.pk).closed_at is not None


def offer_of(package: str) -> Decimal:
    price = current_price(Package.objects.get(name_en=package).pk)
    assert price is not None
    return price.rate_fen_per_hour


def test_the_cap_of_one_replica_ends_that_one(world: World, band: ReplicaSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "CAP_AHEAD", timedelta(hours=9))
    row = live(band)[1]
    workloads.set_cap(world.actor, row, 3 * int(row.price_version.rate_fen_per_hour))
    assert workloads.enforce_caps(platform()) == 1
    until_set(band, lambda seen: seen.wanted == 2 and not seen.leaving)
    assert sorted(live(band)) == [0, 2]


def test_who_may_scale_and_see(world: World, band: ReplicaSet) -> None:
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    dora = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
    frank = actor_of(make_member(world.organisation, "frank", Role.FINANCE), world.organisation)
    other = make_organisation()
    charlie = actor_of(make_member(other, "charlie"), other)
    for stranger in (bob, charlie):
        with acting(stranger):
            with pytest.raises(NotFound):
                replicas.scale(stranger, band.pk, 2)
            with pytest.raises(NotFound):
                sets.get(stranger, band.pk)
    with acting(frank), pytest.raises((Denied, NotFound)):
        replicas.stop(frank, band.pk)
    with acting(dora):
        assert sets.get(dora, band.pk) == band
        replicas.scale(dora, band.pk, 4)
    added = Workload.objects.get(replica_set=band, replica_index=3)
    assert added.owner_id == world.alice.pk
    assert Entry.objects.get(action="replica_set.scaled").actor_label == dora.label
    with acting(platform()):
        replicas.scale(platform(), band.pk, 5)
    assert Workload.objects.get(replica_set=band, replica_index=4).owner_id == world.alice.pk


def test_the_same_key_makes_one_set(world: World) -> None:
    first = serve(world, 2, key="once")
    again = serve(world, 2, key="once")
    assert again.pk == first.pk
    assert Workload.objects.filter(replica_set=first).count() == 2
    assert ReplicaSet.objects.count() == 1


@pytest.mark.parametrize(("field", "changes"), [("members", {"members": 2}), ("replicas", {"wanted": 0})])
def test_nonsense_is_refused_before_anything_is_made(world: World, field: str, changes: dict[str, int]) -> None:
    with pytest.raises(Invalid) as refused:
        serve(world, **changes)  # type: ignore[arg-type]
    assert field in refused.value.fields
    assert not ReplicaSet.objects.exists()
    assert not Workload.objects.exists()


def test_a_withdrawn_package_keeps_its_replicas_and_gets_no_more(world: World, band: ReplicaSet) -> None:
    Package.objects.filter(name_en=PACKAGE).update(active=False)
    kill(live(band)[0])
    until_set(band, lambda seen: seen.waiting == 1)
    no_pause()
    until_set(band, all_serve(band))
    with pytest.raises(Conflict):
        replicas.scale(world.actor, band.pk, 4)
