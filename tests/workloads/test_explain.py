"""What stands around a task that waits: who holds what, the machine's cards, and nothing of another tenant."""

import json
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from apps.common.scoping import acting
from apps.workloads.models import Event, Workload
from apps.workloads.waiting import WaitReport, queue_card
from tests.builders import World, actor_of, make_member, make_organisation, platform, top_up
from tests.workloads.cards import make_gpu_package, scheduled, submit_on, world_of_cards

SECRET = "project-nightingale"


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """One machine with four cards; two are Bob's, one is another organisation's, and Alice waits for two."""
    with acting(platform()):
        yield world_of_cards(4, balance_fen=10_000_000)


@pytest.fixture
def waiting(lab: World) -> Workload:
    one, two = make_gpu_package(1), make_gpu_package(2)
    bob = make_member(lab.organisation, "bob", priority=4)
    scheduled(submit_on(actor_of(bob, lab.organisation), two, "bobs-run"))
    rivals = make_organisation(name="Rival Institute")
    top_up(rivals, 1_000_000)
    charlie = make_member(rivals, "charlie")
    stranger = scheduled(submit_on(actor_of(charlie, rivals), one, SECRET))
    assert stranger.status == "placed"
    return scheduled(submit_on(lab.actor, two, "alices-run"))


def card(lab: World, waiting: Workload) -> WaitReport:
    with acting(lab.actor):
        return queue_card(lab.actor, waiting)


def test_holders_of_ones_own_organisation_have_names_and_those_of_others_are_counted(
    lab: World, waiting: Workload
) -> None:
    own, others = sorted(card(lab, waiting).holders, key=lambda holder: not holder.name)
    assert (own.name, own.owner, own.cards) == ("bobs-run", "Bob", 2.0)
    assert (others.name, others.owner, others.tasks, others.cards) == ("", "", 1, 1.0)
    assert "organisation" in others.label
    assert not own.may_yield
    assert own.why.startswith("no")


def test_the_picture_of_the_nearest_machine_names_only_ones_own_work(lab: World, waiting: Workload) -> None:
    report = card(lab, waiting)
    assert report.title == "gpu-a01 is short of 1 × H200"
    assert report.rack is not None
    assert (report.rack.node, report.rack.wanted, len(report.rack.cards)) == ("gpu-a01", 2, 4)
    parts = [card.parts[0] for card in report.rack.cards]
    assert sorted((part.taken, part.own, part.name) for part in parts) == [
        (False, False, ""),
        (True, False, ""),
        (True, True, "bobs-run"),
        (True, True, "bobs-run"),
    ]


def test_it_knows_its_place_among_those_that_want_the_same(lab: World, waiting: Workload) -> None:
    second = scheduled(submit_on(lab.actor, waiting.package, "alices-second"))
    report = card(lab, second)
    assert (report.place, report.waiting) == (2, 2)


def test_nothing_of_another_tenant_is_kept_with_the_explanation_or_its_events(lab: World, waiting: Workload) -> None:
    strangers = Workload.objects.get(name=SECRET)
    kept = json.dumps(waiting.explanation) + json.dumps(list(Event.objects.filter(workload=waiting).values("data")))
    for secret in (SECRET, str(strangers.pk), str(strangers.organisation_id), "Rival", "charlie"):
        assert secret not in kept
    assert str(Workload.objects.get(name="bobs-run").pk) in kept


def test_nothing_of_another_tenant_is_sent_to_browsers(lab: World, waiting: Workload) -> None:
    theirs = Workload.objects.get(name=SECRET)
    with patch("apps.workloads.announce.publish_on_commit") as publish:
        mine = scheduled(submit_on(lab.actor, waiting.package, "alices-second"))
    groups = [str(call.args[0]) for call in publish.call_args_list]
    assert any(str(mine.pk) in group for group in groups)
    for secret in (SECRET, str(theirs.pk), str(theirs.organisation_id)):
        assert secret not in str(publish.call_args_list)


def test_a_priority_helps_only_against_work_of_ones_own_organisation(lab: World) -> None:
    package = make_gpu_package(4)
    rivals = make_organisation(name="Rivals")
    top_up(rivals, 1_000_000)
    scheduled(submit_on(actor_of(make_member(rivals, "charlie"), rivals), package, "theirs"))
    mine = scheduled(submit_on(lab.actor, package, "mine"))
    assert "Raising the priority would not" in card(lab, mine).priority
    scheduled(submit_on(actor_of(make_member(lab.organisation, "bob"), lab.organisation), package, "bobs"))
    assert card(lab, mine).priority == ""
