"""What holds after each simulated hour. Each invariant is a function from a `Look` to sentences about what is wrong."""

from collections.abc import Callable, Iterable, Iterator

from benchmarks.soak.invariants import books, gangs, life, promises, queue, replicas
from benchmarks.soak.look import Look

Invariant = Callable[[Look], Iterable[str]]

INVARIANTS: tuple[Invariant, ...] = (
    queue.nobody_waits_beside_room,
    queue.explanation_is_true,
    queue.never_means_never,
    queue.nobody_below_guarantee_starves,
    promises.no_promise_lies_in_the_past,
    promises.a_promise_is_kept_or_its_breach_told,
    promises.estimates_are_scored,
    promises.promised_machines_can_keep_it,
    life.statuses_move_as_declared,
    life.nothing_is_orphaned,
    life.no_slice_is_handed_out_twice,
    life.stubs_are_accounted_for,
    life.silent_machines_are_let_go,
    life.without_money_nothing_runs_on,
    gangs.gangs_hold_all_or_nothing,
    gangs.elastic_gangs_keep_to_their_range,
    gangs.members_begin_together,
    gangs.one_bad_end_ends_all,
    gangs.lost_work_is_queued_again,
    gangs.gangs_are_metered_from_the_barrier,
    gangs.holds_cover_all_members,
    replicas.sets_have_as_many_as_wanted,
    replicas.replicas_are_replaced_soon,
    replicas.sets_are_charged_for_their_replicas,
    replicas.nothing_is_left_of_a_set,
    books.quotas_are_sums,
    books.holds_belong_to_what_lives,
    books.the_books_are_right,
    books.slices_tile_what_ran,
    books.charges_are_slices_at_their_price,
)


def broken(look: Look) -> Iterator[tuple[str, str]]:
    """(name of the invariant, what is wrong) for everything that does not hold."""
    for invariant in INVARIANTS:
        for text in invariant(look):
            yield invariant.__name__, text
