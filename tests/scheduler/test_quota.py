"""Hard limits of users, departments and organisations, as the scheduler counts them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, CauseCode, Queue, QueueLevel, Task
from scheduler.quota import QuotaBook
from tests.scheduler.worlds import steady

TASK = Task("t", "lab", "vision", "alice", 3, 0.0, 1000, 1024)
BUNDLE = {"cpu_milli": 1000, "memory_mib": 1024, "*": 500, "A100": 500}
USER = Queue(QueueLevel.USER, "alice", "lab")
OWN = Queue(QueueLevel.DEPARTMENT, "vision", "lab", "research")
ABOVE = Queue(QueueLevel.DEPARTMENT, "research", "lab")
WHOLE = Queue(QueueLevel.ORGANISATION, "lab", "lab")
LEVELS = (USER, OWN, ABOVE, WHOLE)


def limited(queue: Queue, **amounts: object) -> Queue:
    return replace(queue, limit=Amount(**amounts))  # type: ignore[arg-type]


@pytest.mark.parametrize("level", LEVELS, ids=lambda queue: queue.id)
def test_each_level_holds_its_members_to_its_limit(level: Queue) -> None:
    book = QuotaBook([limited(queue, cpu_milli=2000) if queue is level else queue for queue in LEVELS])
    for _start in range(2):
        assert book.blocked_by(TASK, BUNDLE) is None
        book.charge(TASK, BUNDLE)
    cause = book.blocked_by(TASK, BUNDLE)
    assert cause is not None
    assert cause.code is CauseCode.QUOTA
    assert cause.params == {
        "level": level.level.value,
        "queue": level.id,
        "resource": "cpu_milli",
        "used": 2000,
        "limit": 2000,
        "asked": 1000,
    }
    book.charge(TASK, BUNDLE, -1)
    assert book.blocked_by(TASK, BUNDLE) is None


@pytest.mark.parametrize("resource", ["cpu_milli", "memory_mib", "A100"])
def test_each_resource_has_a_limit_of_its_own(resource: str) -> None:
    amount = {resource: 0} if resource != "A100" else {"gpu_milli": {"A100": 0}}
    book = QuotaBook([limited(WHOLE, **amount)])
    cause = book.blocked_by(TASK, BUNDLE)
    assert cause is not None
    assert cause.params["resource"] == resource
    assert book.blocked_by(TASK, {**BUNDLE, resource: 0}) is None
    assert book.blocked_by(TASK, {name: amount for name, amount in BUNDLE.items() if name != resource}) is None


def test_the_limit_nearest_to_the_user_is_named_first() -> None:
    for nearest, level in enumerate(LEVELS):
        free, tight = LEVELS[:nearest], LEVELS[nearest:]
        cause = QuotaBook([*free, *(limited(queue, cpu_milli=0) for queue in tight)]).blocked_by(TASK, BUNDLE)
        assert cause is not None
        assert cause.params["queue"] == level.id


def test_a_department_that_is_not_listed_ends_the_way_up_at_the_organisation() -> None:
    """`research` stands above `vision`, which nobody lists: only the organisation is found beside it."""
    assert QuotaBook([limited(ABOVE, cpu_milli=0)]).blocked_by(TASK, BUNDLE) is None
    cause = QuotaBook([limited(ABOVE, cpu_milli=0), limited(WHOLE, cpu_milli=500)]).blocked_by(TASK, BUNDLE)
    assert cause is not None
    assert cause.params["queue"] == "lab"


def test_departments_in_a_circle_are_asked_once_each() -> None:
    circle = [limited(OWN, cpu_milli=1000), replace(ABOVE, parent="vision")]
    book = QuotaBook(circle)
    book.charge(TASK, BUNDLE)
    cause = book.blocked_by(TASK, BUNDLE)
    assert cause is not None
    assert cause.params["used"] == 1000


def test_namesakes_elsewhere_share_no_limit() -> None:
    book = QuotaBook([limited(queue, cpu_milli=1000) for queue in LEVELS])
    book.charge(replace(TASK, organisation="other"), BUNDLE)
    assert book.blocked_by(TASK, BUNDLE) is None
    book.charge(replace(TASK, user="bob", department="speech"), BUNDLE)
    cause = book.blocked_by(TASK, BUNDLE)
    assert cause is not None
    assert cause.params["queue"] == "lab"
    assert QuotaBook([replace(WHOLE, id="alice", limit=Amount(cpu_milli=0))]).blocked_by(TASK, BUNDLE) is None


def test_use_is_counted_anew_only_when_it_counts_along_other_queues() -> None:
    book = QuotaBook([limited(WHOLE, cpu_milli=1000)])
    book.charge(TASK, BUNDLE)
    assert book.set_queues([limited(WHOLE, cpu_milli=1500, memory_mib=5000)]) is False
    assert book.blocked_by(TASK, BUNDLE) is not None
    assert book.set_queues([limited(WHOLE, cpu_milli=1500), OWN]) is True
    assert book.blocked_by(TASK, BUNDLE) is None
    assert book.set_queues([limited(WHOLE, cpu_milli=1500), replace(OWN, parent="")]) is True
    assert book.set_queues([WHOLE, replace(OWN, parent="")]) is True
    assert book.set_queues([WHOLE, replace(OWN, parent="")]) is False


def test_where_nothing_is_limited_nothing_is_counted() -> None:
    book = QuotaBook(LEVELS)
    book.charge(TASK, BUNDLE)
    assert book.blocked_by(TASK, BUNDLE) is None
    assert book.set_queues([limited(WHOLE, cpu_milli=1000)]) is True
    assert book.blocked_by(TASK, BUNDLE) is None


@steady
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=20), st.integers(0, 4000))
def test_what_is_in_use_is_what_was_charged_less_what_was_given_back(steps: list[tuple[bool, int]], limit: int) -> None:
    book, used = QuotaBook([limited(WHOLE, cpu_milli=limit)]), 0
    for charged, amount in steps:
        sign = 1 if charged else -1
        book.charge(TASK, {"cpu_milli": amount * 1000}, sign)
        used += sign * amount * 1000
        cause = book.blocked_by(TASK, {"cpu_milli": 1000})
        assert (cause is None) == (used + 1000 <= limit)
        assert cause is None or cause.params["used"] == used
