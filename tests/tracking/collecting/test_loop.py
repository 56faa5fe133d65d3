"""The loop: every point once, whatever dies; every run to its last byte; nobody waits for a long log."""

from collections.abc import Callable

import pytest

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tracking.collecting import loop
from apps.tracking.collecting.loop import _claim, apply_turn, collect_due
from apps.tracking.collecting.models import Collection, Problem
from apps.tracking.collecting.reading.pattern_process import TookTooLong
from apps.tracking.collecting.settings import MetricSettings
from apps.tracking.collecting.turn import read_turn
from apps.tracking.services import record
from tests.builders import platform
from tests.tracking.collecting.conftest import Logs, Watched
from tests.tracking.collecting.reading.test_files import scalar

pytestmark = pytest.mark.django_db(transaction=True)
Watch = Callable[..., Watched]


def lines(first: int, last: int) -> bytes:
    return b"".join(b"epoch %d/10 loss=0.%d\n" % (step, step) for step in range(first, last))


def test_a_log_is_read_as_it_grows(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1] = lines(1, 3) + b"epoch 3/10 lo"
    run.turn()
    assert run.points() == {"loss": (2, 0.2, 2)}
    logs.texts[1] = lines(1, 5)
    run.turn()
    assert run.points() == {"loss": (4, 0.4, 4)}

    seen = run.collection
    assert (seen.headline_name, seen.headline_value) == ("loss", 0.4)
    assert seen.progress is not None
    assert seen.progress["fraction"] == 0.4


def test_an_ended_run_is_read_to_its_last_byte_and_then_let_be(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1] = lines(1, 3) + b"loss: 0.25"
    run.write("logs/validation/events.out.tfevents.1.host", scalar("acc", 0.5, 7))
    run.end()
    run.turn()
    assert run.points() == {"loss": (3, 0.25, 2), "validation/acc": (1, 0.5, 7)}
    assert run.collection.done_at is not None

    logs.reads = 0
    run.turn()
    assert logs.reads == 0


def test_a_run_that_starts_again_is_read_on(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1] = lines(1, 4)
    run.turn()
    logs.complete.add(1)
    run.attempt(2)
    logs.texts[2] = lines(3, 6)
    run.turn()
    assert run.points() == {"loss": (6, 0.5, 5)}


def test_whoever_was_overtaken_writes_nothing(watch: Watch, logs: Logs) -> None:
    """Both have read the same bytes: one of them counts."""
    run = watch()
    logs.texts[1] = lines(1, 3)
    with acting(platform()):
        loop._begin_new()
        (slow,) = _claim(5)
        turn = read_turn(slow, slow.workload, MetricSettings())
        Collection.objects.update(lease_until=None)
        (quick,) = _claim(5)
        assert apply_turn(quick, read_turn(quick, quick.workload, MetricSettings()))
        assert not apply_turn(slow, turn)
    assert run.points() == {"loss": (2, 0.2, 2)}


def test_dying_before_the_position_is_written_doubles_nothing(
    watch: Watch, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = watch()
    logs.texts[1] = lines(1, 3)

    def dies(**asked: object) -> object:
        record(**asked)  # type: ignore[arg-type]
        raise SystemExit

    monkeypatch.setattr(loop, "record", dies)
    with pytest.raises(SystemExit):
        run.turn()
    monkeypatch.setattr(loop, "record", record)
    assert run.points() == {}
    with acting(platform()):
        Collection.objects.update(lease_until=None)
    run.turn()
    assert run.points() == {"loss": (2, 0.2, 2)}


def test_a_name_belongs_to_who_said_it_first(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1] = lines(1, 3)
    run.write("events.out.tfevents.1.host", scalar("loss", 9, 9) + scalar("lr", 0.5, 9))
    run.turn()
    assert run.points() == {"loss": (2, 0.2, 2), "lr": (1, 0.5, 9)}


def test_a_long_log_lets_others_have_their_turn(watch: Watch, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.tracking.collecting.turn.LOG_BYTES", 1000)
    monkeypatch.setattr("apps.tracking.collecting.turn.PIECE", 500)
    run = watch()
    logs.texts[1] = b"x\n" * 2000 + lines(1, 3)
    run.turn()
    assert 0 < run.collection.offset < 4000
    for _turn in range(5):
        run.turn()
    assert run.points() == {"loss": (2, 0.2, 2)}


def test_a_quiet_run_is_asked_ever_less_often(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1] = lines(1, 2)
    run.turn()
    for _turn in range(8):
        run.turn()
    seen = run.collection
    assert seen.quiet == 8
    assert 25 < (seen.next_at - db_now()).total_seconds() <= 30


def test_a_machine_that_cannot_be_asked_is_asked_later(watch: Watch, logs: Logs) -> None:
    run = watch()
    logs.texts[1], logs.unseen = lines(1, 3), True
    run.turn()
    assert run.collection.done_at is None
    logs.unseen = False
    run.turn()
    assert run.points() == {"loss": (2, 0.2, 2)}


def test_a_run_that_asks_for_nothing_is_not_read(watch: Watch, logs: Logs) -> None:
    run = watch(metrics=MetricSettings(read=False))
    logs.texts[1] = lines(1, 3)
    run.turn()
    assert (run.points(), logs.reads) == ({}, 0)
    assert run.collection.done_at is not None


def test_own_patterns_take_the_place_of_the_rules(watch: Watch, logs: Logs) -> None:
    run = watch(metrics=MetricSettings(patterns=(r"E(?P<step>\d+) cost (?P<cost>\S+)",)))
    logs.texts[1] = b"E3 cost 1.5\nloss=3 epoch 1\n"
    run.turn()
    assert run.points() == {"cost": (1, 1.5, 3)}


def test_patterns_that_take_too_long_are_tried_once(watch: Watch, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = list[object]()

    def never_ends(*asked: object) -> object:
        tries.append(asked)
        raise TookTooLong

    monkeypatch.setattr("apps.tracking.collecting.turn.find", never_ends)
    run = watch(metrics=MetricSettings(patterns=("(?P<loss>(a+)+)$",)))
    for last in (2, 3):
        logs.texts[1] = lines(1, last)
        run.turn()
    assert len(tries) == 1
    assert run.collection.problem == Problem.SLOW_PATTERN


def test_many_files_are_read_by_turns(watch: Watch, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn in which there is time for one file goes on with the others in the next."""
    run = watch()
    logs.texts[1] = b""
    for name in "abc":
        run.write(f"{name}/metrics.csv", f"step,{name}\n1,2\n".encode())
    monkeypatch.setattr("apps.tracking.collecting.turn.BUDGET_S", 0.0)
    run.turn()
    assert run.points() == {"a/a": (1, 2.0, 1)}
    for _turn in range(2):
        run.turn()
    assert set(run.points()) == {"a/a", "b/b", "c/c"}


def test_damage_is_told_and_the_rest_is_read(watch: Watch, logs: Logs) -> None:
    run = watch()
    run.write("events.out.tfevents.1.host", scalar("a", 1, 1) + b"\0" * 100)
    run.write("metrics.csv", b"step,b\n1,2\n")
    run.turn()
    assert run.points() == {"a": (1, 1.0, 1), "b": (1, 2.0, 1)}
    assert (run.collection.problem, run.collection.problem_detail) == (Problem.DAMAGED, "events.out.tfevents.1.host")


def test_links_out_of_the_output_are_not_followed(watch: Watch, logs: Logs, tmp_path: object) -> None:
    run = watch()
    secret = run.output.parent / "metrics.csv"
    secret.write_bytes(b"step,b\n1,2\n")
    (run.output / "metrics.csv").symlink_to(secret)
    run.turn()
    assert run.points() == {}


def test_other_kinds_of_work_are_not_read(watch: Watch, logs: Logs, settings: object) -> None:
    settings.METRICS_OF = {}  # type: ignore[attr-defined]
    watch()
    with acting(platform()):
        assert collect_due() == 0
