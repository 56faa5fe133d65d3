"""Workloads of every organisation, as the platform's staff see and stop them."""

from django.test import Client

from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, make_world, platform, submit_workload
from tests.console.kit import last_entry, messages_of, page, post, text_of


def submitted(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world)


def other_world() -> World:
    with acting(platform()):
        return make_world()


def test_the_list_spans_organisations_and_filters_by_each(business: Client, world: World) -> None:
    mine, other = submitted(world), other_world()
    theirs = submitted(other)
    everything = text_of(business.get(page("workloads")))
    assert str(mine.pk) in everything
    assert str(theirs.pk) in everything
    one = text_of(business.get(page("workloads"), {"organisation": world.organisation.name}))
    assert str(mine.pk) in one
    assert str(theirs.pk) not in one


def test_the_list_filters_by_state_owner_and_kind(business: Client, world: World) -> None:
    workload = submitted(world)
    for query in ({"status": "queued"}, {"status": "live"}, {"q": world.alice.username}, {"kind": "training"}):
        assert str(workload.pk) in text_of(business.get(page("workloads"), query)), query
    for query in ({"status": "running"}, {"q": "nobody at all"}):
        assert str(workload.pk) not in text_of(business.get(page("workloads"), query)), query


def test_a_filter_that_makes_no_sense_is_ignored(business: Client, world: World) -> None:
    submitted(world)
    assert business.get(page("workloads"), {"status": "nonsense", "page": "x", "sort": "no-such"}).status_code == 200


def test_a_waiting_workload_says_why_and_its_events(business: Client, world: World) -> None:
    workload = submitted(world)
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(explanation={"cause": "no_nodes"})
    text = text_of(business.get(page("workload", workload.pk)))
    assert "There is no machine yet" in text
    assert "Submitted and queued" in text


def test_stopping_is_logged_in_the_name_of_who_stopped(business: Client, world: World) -> None:
    workload = submitted(world)
    response = post(business, page("workload_stop", workload.pk), follow=True)
    assert "is asked to stop" in messages_of(response)[-1]
    with acting(platform()):
        assert Workload.objects.get(pk=workload.pk).status == Status.STOPPED
    entry = last_entry("workload.stopped")
    assert entry.actor_label == "Staff"
    assert entry.organisation_id == world.organisation.pk
    again = post(business, page("workload_stop", workload.pk), follow=True)
    assert messages_of(again)[-1] == "This has ended already."


def test_finance_staff_see_no_workloads(finance: Client, world: World) -> None:
    workload = submitted(world)
    assert finance.get(page("workload", workload.pk)).status_code == 403
    assert post(finance, page("workload_stop", workload.pk)).status_code == 403


def test_operations_staff_look_and_do_not_stop(ops: Client, world: World) -> None:
    workload = submitted(world)
    assert "Stop…" not in text_of(ops.get(page("workload", workload.pk)))
    assert post(ops, page("workload_stop", workload.pk)).status_code == 403


def test_the_log_of_what_never_started_is_an_empty_download(business: Client, world: World) -> None:
    response = business.get(page("workload_log", submitted(world).pk))
    assert response.status_code == 200
    assert "attachment" in response["Content-Disposition"]
    assert b"".join(response) == b""
