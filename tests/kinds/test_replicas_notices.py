"""What the owner of a set is told: once for the set, not for each of its replicas, and as they have chosen."""

from datetime import timedelta

import pytest
from django.utils import translation

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.choices import Channel, Topic
from apps.notifications.models import Delivery, Notice
from apps.notifications.services.preferences import set_preferences
from apps.notifications.words import words
from apps.tenants.choices import Role
from apps.workloads.choices import Desired, Reason, Status
from apps.workloads.hardware import lost, simulation
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.replicas import converge, notices
from apps.workloads.replicas import services as replicas
from apps.workloads.states import Why, stop
from tests.builders import World, actor_of, make_member, platform, reload
from tests.kinds.replicated import live, newest, no_pause, serve, until_set

pytestmark = [pytest.mark.django_db, pytest.mark.programs, pytest.mark.usefixtures("serving_toy", "three_machines")]


def told(found: ReplicaSet) -> list[Notice]:
    """In the order of what happened, but for machines and money."""
    return list(Notice.objects.filter(kind__startswith="toy.", user=found.owner_id).order_by("pk"))


def said(notice: Notice) -> str:
    with translation.override("en"):
        found = words(notice)
    return f"{found.title}. {found.text}"


def stop_for(found: ReplicaSet, reason: Reason, count: int = 3) -> None:
    """Replica by replica, as the rules of money and time do."""
    for row in list(live(found).values())[:count]:
        stop(platform(), row, Why(reason))
    converge.sweep(platform())


@pytest.mark.parametrize("reason", [Reason.ARREARS, Reason.PREPAID, Reason.UNAUTHORISED])
def test_a_set_that_a_rule_ended_is_told_once_with_its_cause(band: ReplicaSet, reason: Reason) -> None:
    stop_for(band, reason)
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    (notice,) = told(band)
    assert notice.kind == "toy.set_ended"
    assert "All replicas of band were stopped." in said(notice)
    assert f"Cause: {reason.label}." in said(notice)
    assert words(notice).url.startswith("/toys/")


def test_a_set_that_goes_on_with_fewer_says_so(band: ReplicaSet) -> None:
    stop_for(band, Reason.PREPAID, count=1)
    (notice,) = told(band)
    assert notice.kind == "toy.set_smaller"
    assert "band has 2 replicas in place of 3." in said(notice)


def test_nobody_is_told_what_they_did_themselves(world: World, band: ReplicaSet) -> None:
    replicas.scale(world.actor, band.pk, 2)
    stop(world.actor, live(band)[0], Why(Reason.BY_PERSON))
    converge.sweep(platform())
    assert (reload(band).wanted, reload(band).desired) == (1, Desired.RUNNING)
    replicas.stop(world.actor, band.pk)
    until_set(band, lambda seen: seen.status == Status.STOPPED)
    assert told(band) == []


def test_a_set_that_somebody_else_stopped_says_who(world: World, band: ReplicaSet) -> None:
    admin = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
    with acting(admin):
        replicas.stop(admin, band.pk)
    (notice,) = told(band)
    assert f"{admin.label} stopped them." in said(notice)


def test_replicas_that_keep_failing_are_told_once_for_their_set(world: World) -> None:
    found = serve(world, 2, argv=("false",))
    for number in range(1, notices.OFTEN + 2):
        assert [each.kind for each in told(found)] == (["toy.set_failing"] if number > notices.OFTEN else [])
        until_set(found, lambda seen, number=number: {r.attempt_number for r in live(found).values()} == {number}
                  and seen.waiting == 2)  # fmt: skip
        no_pause()
    (notice,) = told(found)
    assert "band keeps failing." in said(notice)
    assert f"has ended {notices.OFTEN} times in a row" in said(notice)
    assert f"Cause: {Reason.EXIT_CODE.label}." in said(notice)


def test_it_is_told_again_once_a_replica_had_run_well(band: ReplicaSet) -> None:
    row = live(band)[0]
    notices.tell_failing(row, notices.OFTEN)
    notices.tell_failing(live(band)[1], notices.OFTEN)
    notices.tell_failing(row, notices.OFTEN + 1)
    assert len(told(band)) == 1
    now, hour = db_now(), timedelta(hours=1)
    Attempt.objects.create(
        workload=row, organisation_id=row.organisation_id, node=newest(row).node, number=9,
        placed_at=now - 2 * hour, started_at=now - hour, ended_at=now, ran_for_s=3600,
    )  # fmt: skip
    notices.tell_failing(row, notices.OFTEN)
    assert len(told(band)) == 2


def test_a_lost_machine_is_told_once_for_all_its_replicas(band: ReplicaSet) -> None:
    rows = live(band)
    node = newest(rows[0]).node
    Attempt.objects.filter(workload__in=[row.pk for row in rows.values()]).update(node=node)
    simulation.switch(platform(), node_id=node.pk, on=False)
    lost.declare(platform(), node_id=node.pk)
    for _turn in range(50):
        lost.advance(platform())
        if Workload.objects.filter(replica_set=band, status=Status.QUEUED).count() == 3:
            break
    (notice,) = told(band)
    assert notice.kind == "toy.lost"
    assert said(notice).startswith("The machine of band failed.")


@pytest.mark.parametrize("mails", [0, 1])
def test_mail_goes_out_as_its_owner_has_chosen(world: World, band: ReplicaSet, mails: int) -> None:
    with acting(world.actor):
        set_preferences(world.actor, [(Topic.RUNS, Channel.EMAIL)] * mails)
    stop_for(band, Reason.ARREARS)
    (notice,) = told(band)
    assert Delivery.objects.filter(notice=notice, channel=Channel.EMAIL).count() == mails


@pytest.mark.parametrize("kind", ["toy.set_ended", "toy.set_smaller", "toy.set_failing"])
@pytest.mark.parametrize("data", [{}, {"name": 7, "reason": "from.the.future", "wanted": "x", "times": None}])
def test_each_has_words_whatever_its_data_looks_like(kind: str, data: dict[str, object]) -> None:
    assert "%(" not in said(Notice(kind=kind, data=data))
    assert kind not in said(Notice(kind=kind, data=data))
