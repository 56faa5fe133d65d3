"""Whoever's jobs never end, everybody else's begin."""

from collections import Counter
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from apps.storage.turns import SPARE, Piece, Turns, ahead

SLOTS = 4


def _uuid(number: int) -> UUID:
    return UUID(int=number)


class World:
    """Organisations hand in jobs, each of a person; a job lasts some turns, or for ever."""

    def __init__(self, slots: int) -> None:
        self.turns = Turns(slots)
        self.now = 0
        self.waiting: list[tuple[Piece, int, int | None]] = []  # piece, since, how long it lasts
        self.running: dict[Piece, int | None] = {}
        self.waited: dict[UUID, int] = {}

    def hand_in(self, organisation: int, person: int, lasts: int | None) -> None:
        piece = Piece(_uuid(10_000 + len(self.waiting) + len(self.waited)), _uuid(organisation), person)
        self.waiting.append((piece, self.now, lasts))

    def held(self) -> Counter[tuple[UUID, UUID | int]]:
        return Counter((piece.organisation, piece.owner) for piece in self.running)

    def turn(self) -> None:
        self.now += 1
        self.running = {piece: end for piece, end in self.running.items() if end is None or end > self.now}
        while (piece := self.turns.choose([piece for piece, _, _ in self.waiting], self.held())) is not None:
            entry = next(entry for entry in self.waiting if entry[0] == piece)
            self.waiting.remove(entry)
            self.turns.serve(piece)
            self.waited[piece.id] = self.now - entry[1]
            self.running[piece] = None if entry[2] is None else self.now + entry[2]
            self.check()
        self.check()

    def check(self) -> None:
        """At every moment: nobody above their half, nobody waiting without anything running."""
        per_organisation: Counter[UUID] = Counter(piece.organisation for piece in self.running)
        assert max(per_organisation.values(), default=0) <= self.turns.share
        assert len(self.running) <= self.turns.slots * SPARE


JOBS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 3), st.one_of(st.none(), st.integers(1, 5))), max_size=40)


@given(slots=st.integers(1, 8), jobs=JOBS)
def test_whoever_has_nothing_running_starts_at_the_next_turn(
    slots: int, jobs: list[tuple[int, int, int | None]]
) -> None:
    """For any mix, also of jobs that never end: one turn, as long as children may be forked at all."""
    world = World(slots)
    for organisation, person, lasts in jobs:
        world.hand_in(organisation, 100 * organisation + person, lasts)
    for _turn in range(3):
        world.turn()
        if len(world.running) < slots * SPARE:
            waiting = {piece.organisation for piece, _, _ in world.waiting}
            assert waiting <= {piece.organisation for piece in world.running}


@given(poisoned=st.integers(1, 200), honest=st.integers(1, 30), slots=st.integers(2, 8))
def test_endless_jobs_of_one_leave_the_others_half_of_the_slots(poisoned: int, honest: int, slots: int) -> None:
    """Each job of the other tenant starts within as many turns as it takes for those before it."""
    world = World(slots)
    for _job in range(poisoned):
        world.hand_in(1, 101, None)
    world.turn()
    first = len(world.waited)
    assert first == min(poisoned, world.turns.share)
    for _job in range(honest):
        world.hand_in(2, 201, 1)
    for _turn in range(2 * honest):
        world.turn()
    assert len(world.waited) == first + honest


@given(jobs=JOBS)
def test_everything_starts_where_everything_ends(jobs: list[tuple[int, int, int | None]]) -> None:
    world = World(SLOTS)
    for organisation, person, lasts in jobs:
        world.hand_in(organisation, 100 * organisation + person, lasts or 1)
    for _turn in range(6 * len(jobs) + 1):
        world.turn()
    assert not world.waiting


def test_persons_of_one_organisation_take_turns() -> None:
    turns = Turns(2)
    queue = [Piece(_uuid(n), _uuid(1), 11) for n in range(5)] + [Piece(_uuid(9), _uuid(1), 12)]
    order = []
    while queue:
        first = {piece.owner: piece for piece in reversed(queue)}
        chosen = turns.choose(first.values(), {})
        assert chosen is not None
        turns.serve(chosen)
        queue.remove(chosen)
        order.append(chosen.owner)
    assert order[:3].count(12) == 1


def test_the_place_in_the_queue_counts_a_busy_colleague_little() -> None:
    assert ahead(0, []) == 0
    assert ahead(0, [1000]) == 1
    assert ahead(2, [1000, 1]) == 2 + 3 + 1
