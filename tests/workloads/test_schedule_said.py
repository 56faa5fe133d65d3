"""Why work waits is written in bulk: the head at once, the rest in turn, nothing twice and nothing never."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

import scheduler
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Event, Workload
from apps.workloads.queueing import promises
from apps.workloads.reconcile import explanations, starting
from apps.workloads.reconcile.explaining import explanation_of
from apps.workloads.reconcile.explanations import ExplanationCache, digest_of
from apps.workloads.reconcile.schedule import run_pass, run_whole_pass
from apps.workloads.timeline import event_title
from benchmarks.crowd import Builder, Crowd
from tests.builders import platform


@pytest.fixture
def crowd(db: None) -> Iterator[None]:
    with acting(platform()):
        Builder(Crowd(nodes=3, queued=30, organisations=3, seed=7)).build()
        yield


@pytest.fixture
def little_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "HEAD", 4)
    monkeypatch.setattr(explanations, "CHANGED", 10)
    monkeypatch.setattr(explanations, "WINDOW", 3)


def queued() -> list[Workload]:
    return list(Workload.objects.filter(status=Status.QUEUED).order_by("queued_at", "pk"))


def waits(cause: scheduler.CauseCode, position: int = 0) -> list[scheduler.Wait]:
    rows = enumerate(queued(), start=1 + position)
    return [scheduler.Wait(str(task.pk), scheduler.Cause(cause), (), place) for place, task in rows]


def tasks() -> dict[str, scheduler.Task]:
    return {str(w.pk): scheduler.Task(str(w.pk), str(w.organisation_id), "", "", 3, 0.0, 1000, 1024) for w in queued()}


def test_a_long_queue_is_told_part_by_part_and_in_full(crowd: None, little_at_once: None) -> None:
    told = []
    for _pass in range(3):
        passed = run_whole_pass(platform())
        assert passed is not None
        told.append(passed.unsaid)
    assert told[0] == 16, "thirty, less the head and as many as are told at once"
    assert told == sorted(told, reverse=True)
    assert told[-1] == 0
    assert all(workload.explanation["cause"] for workload in queued())
    assert Event.objects.filter(kind="waiting").count() == 30, "once for each: its cause has not changed since"


def test_positions_in_the_rest_are_brought_up_to_date_in_turn(crowd: None, little_at_once: None) -> None:
    sayings = ExplanationCache()
    for _pass in range(4):
        sayings.say(platform(), waits(scheduler.CauseCode.DEVICES), tasks(), known=False)
    for turn in range(1, 13):
        sayings.say(platform(), waits(scheduler.CauseCode.DEVICES, position=7), tasks(), known=False)
        told = [w.explanation["position"] - 7 for w in queued() if w.explanation["position"] > 7]
        assert len(told) >= min(30, 4 + 3 * (turn - 3))
    assert [w.explanation["position"] for w in queued()] == list(range(8, 38))
    assert Event.objects.filter(kind="waiting").count() == 30


def test_what_is_said_already_is_not_written_again(crowd: None, django_assert_num_queries: object) -> None:
    sayings = ExplanationCache()
    sayings.say(platform(), waits(scheduler.CauseCode.DEVICES), tasks(), known=False)
    same, those = waits(scheduler.CauseCode.DEVICES), tasks()
    with django_assert_num_queries(0):  # type: ignore[operator]
        sayings.say(platform(), same, those, known=False)
    fresh = ExplanationCache()
    fresh.say(platform(), same, those, known=False)
    assert Event.objects.filter(kind="waiting").count() == 30, "another process knows the causes from the rows"


def test_another_cause_is_an_event_of_its_own(crowd: None) -> None:
    sayings = ExplanationCache()
    for cause in (scheduler.CauseCode.DEVICES, scheduler.CauseCode.CPU):
        sayings.say(platform(), waits(cause), tasks(), known=False)
    one = queued()[0]
    causes = Event.objects.filter(workload=one, kind="waiting").order_by("pk").values_list("data__cause", flat=True)
    assert list(causes) == ["devices", "cpu"]


def test_who_left_the_queue_meanwhile_is_not_told_anything(crowd: None) -> None:
    sayings, those, told = ExplanationCache(), tasks(), waits(scheduler.CauseCode.CPU)
    gone = queued()[0]
    Workload.objects.filter(pk=gone.pk).update(status=Status.STOPPED)
    sayings.say(platform(), told, those, known=False)
    gone.refresh_from_db()
    assert gone.explanation == {}
    assert not Event.objects.filter(workload=gone, kind="waiting").exists()


def test_times_a_moment_apart_are_the_same_answer() -> None:
    said = {"cause": "cpu", "start_p50": 1795299540.2, "holders": [{"end_p90": 1795303140.0}]}
    assert digest_of(said) == digest_of({**said, "start_p50": 1795299544.9})
    assert digest_of(said) != digest_of({**said, "start_p50": 1795299640.2})
    assert digest_of(said) != digest_of({**said, "cause": "memory"})


def test_what_a_pass_has_no_time_to_start_starts_in_the_next(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "MOST", 2)
    with acting(platform()):
        Builder(Crowd(nodes=3, queued=5, organisations=1, busy=0.0, seed=8)).build()
        placed = [run_pass(platform()) for _pass in range(4)]
        assert sum(each or 0 for each in placed) == Workload.objects.filter(status=Status.PLACED).count()
    assert placed[:2] == [2, 2]


@pytest.mark.parametrize(("known", "told"), [(False, {"node": "n"}), (True, {"node": "n", "start_p50": 60.0})])
def test_a_start_that_is_not_known_is_told_nowhere(known: bool, told: dict[str, object]) -> None:
    cause = scheduler.Cause(scheduler.CauseCode.BEHIND_RESERVATION, {"node": "n", "start_p50": 60.0, "for_task": "t"})
    said = explanation_of(scheduler.Wait("w", cause, (), 1, start_p50=90.0), "o", known=known)
    assert said["params"] == told
    assert said["start_p50"] == (90.0 if known else None)


def test_room_that_is_kept_moved_or_given_up_is_told_where_it_was_promised(crowd: None) -> None:
    sayings, one = ExplanationCache(), queued()[0]
    here, there = Node.objects.order_by("name")[:2]

    def said(*nodes: Node, guessed: bool = False) -> None:
        kept = tuple(str(node.pk) for node in nodes)
        wait = scheduler.Wait(
            str(one.pk), scheduler.Cause(scheduler.CauseCode.CPU), (), 1, reserved_nodes=kept, guessed=guessed
        )
        sayings.say(platform(), [wait], tasks(), known=True)

    said(here, guessed=True)
    assert not Event.objects.filter(workload=one, kind=promises.EVENT).exists(), "a guess is no promise"
    for nodes in [(here,), (here,), (here, there), (there, here), (there,), ()]:
        said(*nodes)
    said(here)
    said(here, guessed=True)
    events = Event.objects.filter(workload=one, kind=promises.EVENT).order_by("pk")
    both = [here.name, there.name]
    assert [(sorted(event.data["was"]), sorted(event.data["now"])) for event in events] == [
        ([], [here.name]),
        ([here.name], both),
        (both, [there.name]),
        ([there.name], []),
        ([], [here.name]),
        ([here.name], []),
    ]
    assert [event_title(event) for event in events][-2:] == [
        f"Room is kept for it on {here.name}, from when enough is freed",
        f"Room is no longer kept for it on {here.name}",
    ]


def test_a_promise_on_a_machine_that_was_removed_is_told_without_its_name(crowd: None) -> None:
    one = queued()[0]
    promises.tell(platform(), {str(one.pk): ([str(uuid4())], [])})
    event = Event.objects.get(workload=one, kind=promises.EVENT)
    assert event_title(event) == "Room is no longer kept for it on a machine that was removed"
