"""Arrays: many runs from one form, started as far as quota and balance let, stopped and tried again together."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from apps.billing.models import Package
from apps.common.errors import Conflict, Invalid, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import OrganisationStatus, Resource
from apps.tenants.models import Membership, Organisation
from apps.training import deletion, services
from apps.training.arrays import selectors, starting
from apps.training.arrays import services as arrays
from apps.training.arrays.quote import quote_of
from apps.training.models import ArrayLine, RunArray
from apps.workloads.choices import Status
from tests.builders import World, platform
from tests.training import kit
from tests.training.array_kit import advance, lines_of, put, runs, start

pytestmark = pytest.mark.django_db


def limit_runs(world: World, most: int | None) -> None:
    with acting(platform()):
        quotas.set_limit(
            platform(), organisation_id=world.organisation.pk, resource=Resource.RUNS, limit=most, model=""
        )


def test_the_first_starts_at_once_and_the_loop_starts_the_others_as_versions(world: World) -> None:
    array = start(world)
    assert [run.arguments for run in runs()] == [[["--lr", "0.1"]]]
    assert advance() == 2
    found = runs()
    assert [run.arguments for run in found] == [[["--lr", f"0.{n}"]] for n in (1, 2, 3)]
    assert [run.version for run in found] == [1, 2, 3]
    assert len({run.family for run in found}) == len({run.code_id for run in found}) == 1
    assert len({run.output_id for run in found}) == 3
    assert advance() == 0
    assert [line.run.pk for line in lines_of(array) if line.run] == [run.pk for run in found]


def test_the_same_key_makes_one_array(world: World) -> None:
    assert start(world, key="once").pk == start(world, key="once").pk
    advance()
    assert len(runs()) == 3


def test_a_refusal_of_the_first_leaves_nothing(world: World) -> None:
    limit_runs(world, 0)
    with pytest.raises(QuotaExceeded):
        start(world)
    assert kit.counts()[:2] == (0, 0)
    with acting(platform()):
        assert not RunArray.objects.exists()
        assert not ArrayLine.objects.exists()


def test_quota_lets_some_start_and_the_others_follow_as_these_end(world: World) -> None:
    limit_runs(world, 2)
    array = start(world)
    assert advance() == 1
    assert advance() == 0
    assert "2" in _again(array).waits
    with acting(world.actor):
        services.stop(world.actor, runs()[0])
    assert advance() == 1
    assert _again(array).waits == ""
    assert selectors.progress_of(lines_of(array)).waiting == 0


def _again(array: RunArray) -> RunArray:
    with acting(platform()):
        return RunArray.objects.get(pk=array.pk)


def test_no_more_than_asked_for_live_at_a_time(world: World) -> None:
    start(world, at_once=1)
    assert advance() == 0
    put(runs()[0], Status.SUCCEEDED)
    assert advance() == 1
    assert advance() == 0


@pytest.mark.parametrize("at_once", [0, 201, -1])
def test_a_limit_that_is_none_is_refused(world: World, at_once: int) -> None:
    with pytest.raises(Invalid) as refused:
        start(world, at_once=at_once)
    assert "at_once" in refused.value.fields


def test_an_owner_who_may_not_start_any_more_starts_nothing_and_the_lines_say_so(world: World) -> None:
    array = start(world)
    with acting(platform()):
        Membership.objects.filter(user=world.alice).delete()
    assert advance() == 0
    assert len(runs()) == 1
    assert all(line.row.refused for line in lines_of(array)[1:])


def test_while_the_organisation_is_frozen_the_lines_wait(world: World) -> None:
    array = start(world)
    with acting(platform()):
        rows = Organisation.objects.filter(pk=world.organisation.pk)
        rows.update(status=OrganisationStatus.FROZEN)
    assert advance() == 0
    assert "frozen" in _again(array).waits
    assert not any(line.row.refused for line in lines_of(array))
    with acting(platform()):
        rows.update(status=OrganisationStatus.ACTIVE)
    assert advance() == 2


def test_a_line_whose_package_is_gone_says_so_and_can_be_tried_again(world: World) -> None:
    array = start(world)
    with acting(platform()):
        Package.objects.filter(pk=world.package.pk).update(active=False)
    assert advance() == 0
    assert [bool(line.row.refused) for line in lines_of(array)] == [False, True, True]
    with acting(platform()):
        Package.objects.filter(pk=world.package.pk).update(active=True)
    with acting(world.actor):
        assert arrays.rerun_failed(world.actor, array) == 2
    assert advance() == 2


def test_failed_lines_are_run_again_with_their_arguments_and_the_others_are_not(world: World) -> None:
    array = start(world)
    advance()
    first, second, third = runs()
    put(first, Status.SUCCEEDED)
    put(second, Status.FAILED)
    with acting(world.actor):
        assert arrays.rerun_failed(world.actor, array) == 1
        with pytest.raises(Conflict):
            arrays.rerun_failed(world.actor, array)
    assert advance() == 1
    again = runs()[-1]
    assert (again.arguments, again.parent_id, again.version) == (second.arguments, second.pk, 4)
    states = lines_of(array)
    assert (states[1].run, states[1].tries) == (again, 2)
    assert states[2].run == third


def test_stopping_stops_what_lives_and_what_waits(world: World) -> None:
    array = start(world, at_once=2)
    assert advance() == 1
    with acting(world.actor):
        assert arrays.stop(world.actor, array) == 3
    assert advance() == 0
    assert {run.workload.status for run in runs()} == {Status.STOPPED}
    with acting(world.actor), pytest.raises(Conflict):
        arrays.stop(world.actor, array)


def test_the_run_that_others_are_made_of_is_kept_until_they_have_started(world: World) -> None:
    start(world, at_once=1)
    run = runs()[0]
    put(run, Status.SUCCEEDED)
    with acting(world.actor), pytest.raises(Conflict):
        deletion.delete(world.actor, runs()[0])
    advance()
    put(runs()[1], Status.SUCCEEDED)
    advance()
    with acting(world.actor):
        deletion.delete(world.actor, runs()[0])


@pytest.mark.django_db(transaction=True)
def test_two_loops_start_each_line_once(world: World) -> None:
    start(world, "\n".join(f"--n {n}" for n in range(8)))
    with acting(platform()):
        RunArray.objects.update(next_try_at=timezone.now())

    def loop() -> None:
        try:
            with acting(platform()):
                starting.start_due()
        finally:
            connection.close()

    both = [threading.Thread(target=loop) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    advance()
    assert [run.arguments for run in runs()] == [[["--n", str(n)]] for n in range(8)]


def test_the_quote_counts_what_quota_and_balance_let(world: World) -> None:
    with acting(world.actor):
        found = quote_of(world.actor, world.package, 40)
        assert (found.count, found.by_quota, found.together) == (40, 40, 40)
        assert found.all_for_an_hour == 40 * found.rate_fen_per_hour
    limit_runs(world, 3)
    with acting(world.actor):
        found = quote_of(world.actor, world.package, 40)
        assert (found.by_quota, found.together, found.whole_rate) == (3, 3, 3 * found.rate_fen_per_hour)
        assert quote_of(world.actor, world.package, 40, at_once=2).together == 2
