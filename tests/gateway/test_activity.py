"""Who uses what and when."""

import time
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from apps.common.clock import db_now
from apps.workloads import activity
from apps.workloads.activity import Recorder, Seen, Use
from apps.workloads.choices import Source
from apps.workloads.models import Activity, Workload
from tests.builders import World, unknown_id
from tests.gateway.kit import Visit, submit_server
from tests.gateway.test_sockets import socket


def use_of(workload: Workload) -> Use:
    return activity.latest_use([workload.pk])[workload.pk]


def test_what_was_never_used_is_empty(world: World) -> None:
    assert use_of(submit_server(world)) == Use()


def test_requests_and_connections_of_all_processes_add_up(world: World) -> None:
    workload = submit_server(world)
    activity.record_connections(workload.pk, Source.GATEWAY, 2, process="one")
    activity.record_connections(workload.pk, Source.GATEWAY, 1, process="two")
    activity.record_connections(workload.pk, Source.SSH, 1, process="three")
    assert use_of(workload) == Use({Source.GATEWAY: 3, Source.SSH: 1})
    activity.record_request(workload.pk, Source.GATEWAY, process="one")
    use = use_of(workload)
    assert use.connections == {Source.GATEWAY: 3, Source.SSH: 1}
    assert use.last_request_at is not None
    assert use.last_input_at is None
    activity.record_request(workload.pk, Source.SSH, process="three", typed=True)
    assert use_of(workload).last_input_at is not None


def test_connections_of_a_dead_process_stop_counting_but_its_news_stay(world: World) -> None:
    workload = submit_server(world)
    activity.record_connections(workload.pk, Source.GATEWAY, 2, process="one")
    activity.record_request(workload.pk, Source.GATEWAY, process="one")
    Activity.objects.update(heartbeat_at=db_now() - timedelta(seconds=61))
    use = use_of(workload)
    assert use.connections == {}
    assert use.last_request_at is not None


def test_rows_of_long_ago_are_removed(world: World) -> None:
    workload = submit_server(world)
    activity.record_request(workload.pk, Source.GATEWAY, process="one")
    assert activity.forget_old() == 0
    Activity.objects.update(heartbeat_at=db_now() - timedelta(days=3))
    assert activity.forget_old() == 1


def test_unknown_workloads_are_passed_over(world: World) -> None:
    activity.record_request(unknown_id(), Source.SSH, process="one")
    assert not Activity.objects.exists()


def test_a_recorder_tells_news_once_and_beats_for_what_stays_open() -> None:
    one, two = UUID(int=1), UUID(int=2)
    recorder = Recorder(Source.GATEWAY)
    recorder.opened(one)
    recorder.requested(two, typed=True)
    assert recorder.take(100) == {one: Seen(1, True), two: Seen(0, True, True)}
    assert recorder.take(105) == {}
    assert recorder.take(125) == {one: Seen(1)}
    recorder.closed(one)
    assert recorder.take(126) == {one: Seen(0)}
    assert recorder.take(200) == {}


def test_news_that_could_not_be_written_are_told_again() -> None:
    one = UUID(int=1)
    recorder = Recorder(Source.GATEWAY)
    recorder.requested(one, typed=True)
    recorder.give_back(recorder.take(1))
    assert recorder.take(2) == {one: Seen(0, True, True)}


def test_the_gateway_tells_of_an_open_socket_and_of_what_is_typed(visit: Visit, lab: Workload) -> None:
    with socket(visit) as connection:
        connection.send("x")
        until(lambda: use_of(lab).connections == {Source.GATEWAY: 1} and use_of(lab).last_input_at is not None)
    until(lambda: use_of(lab).connections == {})


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
