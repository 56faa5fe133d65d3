"""Who is replaced: what lives and does nothing, and nobody who could not have proved anything."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plstack.launch.liveness import (
    MOST_LOOKS,
    MOST_LOOKS_AT_START,
    POLL_SECONDS,
    LivenessMonitor,
    Observation,
    parse_observation,
)

PIDS = {"web": 10, "gateway": 11, "worker": 12, "scheduler": 13, "beat": 14, "files": 15}


class Watch:
    """A monitor, fed one look after the other."""

    def __init__(self) -> None:
        self.monitor, self.now, self.beats = LivenessMonitor(), 1000.0, dict.fromkeys(PIDS, 1)
        self.named: list[str] = []
        self.look()

    def look(
        self, *still: str, redis: bool = True, after: float = POLL_SECONDS, pids: Mapping[str, int] = PIDS
    ) -> None:
        """All but those named have beaten since the last look."""
        self.now += after
        for kind in self.beats.keys() - set(still):
            self.beats[kind] += 1
        sight = Observation({kind: (pids[kind], count) for kind, count in self.beats.items()}, redis)
        self.named += [silent.kind for silent in self.monitor.observe(sight, pids, self.now)]

    def looks(self, count: int, *still: str, redis: bool = True) -> None:
        for _ in range(count):
            self.look(*still, redis=redis)


@pytest.fixture
def watch() -> Iterator[Watch]:
    return Watch()


@pytest.mark.parametrize("kind", sorted(PIDS))
def test_what_lives_and_proves_nothing_is_named_once_within_half_a_minute(watch: Watch, kind: str) -> None:
    watch.looks(MOST_LOOKS - 1, kind)
    assert watch.named == []
    watch.look(kind)
    assert watch.named == [kind]
    assert MOST_LOOKS * POLL_SECONDS <= 20
    watch.look(kind)
    assert watch.named == [kind]


def test_one_proof_in_time_is_enough(watch: Watch) -> None:
    for _ in range(20):
        watch.looks(MOST_LOOKS - 1, "worker")
        watch.look()
    assert watch.named == []


def test_nobody_is_named_for_the_time_in_which_the_database_was_away(watch: Watch) -> None:
    watch.looks(MOST_LOOKS - 2, *PIDS)
    watch.look(*PIDS, after=600)
    watch.looks(MOST_LOOKS - 1, *PIDS)
    assert watch.named == []


def test_without_redis_only_what_lives_without_it_can_prove_itself(watch: Watch) -> None:
    watch.looks(50, "worker", "scheduler", "beat", redis=False)
    assert watch.named == []
    watch.looks(MOST_LOOKS, "web", "files", redis=False)
    assert watch.named == ["web", "files"]


def test_each_of_several_web_processes_has_to_prove_itself() -> None:
    monitor, pids, named = LivenessMonitor(), {"web": 10, "web-2": 11}, []
    for beats in range(MOST_LOOKS + 2):
        sight = Observation({"web": (10, beats), "web-2": (11, 1)}, redis=False)
        named += [silent.kind for silent in monitor.observe(sight, pids, beats * POLL_SECONDS + 1000)]
    assert named == ["web-2"], "Redis has nothing to do with it"


def test_the_time_that_a_worker_stood_before_redis_was_killed_again_counts(watch: Watch) -> None:
    for _ in range(4):
        watch.looks(4, "worker")
        watch.look("worker", redis=False)
    assert watch.named == ["worker"]


def test_for_a_beat_that_is_silent_only_beat_is_named(watch: Watch) -> None:
    watch.looks(MOST_LOOKS, "beat", "worker", "scheduler")
    assert watch.named == ["beat"]


def test_a_new_process_has_time_to_load(watch: Watch) -> None:
    later = {**PIDS, "worker": 99}

    def look() -> list[str]:
        for kind in PIDS.keys() - {"worker"}:
            watch.beats[kind] += 1
        sight = Observation({kind: (PIDS[kind], count) for kind, count in watch.beats.items()}, redis=True)
        return [silent.kind for silent in watch.monitor.observe(sight, later, watch.now)]

    for _ in range(MOST_LOOKS_AT_START):  # the row is still the one of the process before it
        assert look() == []
    assert look() == ["worker"]


def test_a_look_that_could_not_ask_the_database_is_none() -> None:
    assert parse_observation({"away": "connection refused"}) is None
    assert parse_observation({"heartbeats": {"web": [7, 3]}, "redis": True}) == Observation({"web": (7, 3)}, redis=True)


@given(st.lists(st.tuples(st.sets(st.sampled_from(sorted(PIDS))), st.booleans(), st.sampled_from([2.0, 4.0, 60.0]))))
def test_nobody_is_named_who_has_beaten_within_the_last_looks(history: list[tuple[set[str], bool, float]]) -> None:
    watch, since = Watch(), dict.fromkeys(PIDS, 0)
    for still, redis, after in history:
        before = len(watch.named)
        watch.look(*still, redis=redis, after=after)
        for kind in PIDS:
            since[kind] = since[kind] + 1 if kind in still else 0
        assert all(since[kind] >= MOST_LOOKS for kind in watch.named[before:])
