"""The tree below an organisation, as turns go by it."""

from scheduler import Queue, QueueLevel, Task
from scheduler.paths import Paths


def task(department: str, organisation: str = "lab") -> Task:
    return Task("t", organisation, department, "alice", 3, 0.0, 1000, 1024)


def test_a_path_leads_through_all_departments_above() -> None:
    paths = Paths()
    assert paths.set_queues([Queue(QueueLevel.DEPARTMENT, "vision", "lab", parent="research")])
    assert paths.path(task("vision")) == ("lab", "research", "vision", "alice")
    assert paths.path(task("vision", "other")) == ("other", "vision", "alice")
    assert paths.path(task("")) == ("lab", "alice")


def test_departments_above_each_other_in_a_ring_come_once() -> None:
    paths = Paths()
    paths.set_queues([Queue(QueueLevel.DEPARTMENT, a, "lab", parent=b) for a, b in (("a", "b"), ("b", "a"))])
    assert paths.path(task("a")) == ("lab", "b", "a", "alice")
