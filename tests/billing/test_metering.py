"""The meter: what the kernel may say, and what the database refuses to store."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from apps.billing.metering.services import open_meter
from apps.billing.models import MeterSession, UsageSlice
from apps.common.actor import Actor
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, Run, make_organisation, make_package, price_of

MINUTE = timedelta(minutes=1)


@pytest.fixture
def run(alice: Actor) -> Run:
    return Run(alice, price_of(make_package(780))).open()


def session() -> MeterSession:
    found: MeterSession = MeterSession.objects.get()
    return found


def test_what_is_opened_without_a_number_is_one(alice: Actor) -> None:
    open_meter(
        session_id=uuid4(),
        organisation_id=alice.organisation(),
        user_id=alice.person(),
        workload_id=uuid4(),
        label="digits",
        price_version_id=price_of(make_package(780)).pk,
        at=NOON,
    )
    assert session().replicas == 1


def test_opening_again_changes_nothing(run: Run) -> None:
    run.opened += MINUTE
    run.open()
    assert session().opened_at == NOON


def test_proof_only_grows(run: Run) -> None:
    run.seen(5 * MINUTE).seen(3 * MINUTE)
    assert session().proven_until == NOON + 5 * MINUTE


def test_the_first_close_stands(run: Run) -> None:
    run.close(5 * MINUTE).close(9 * MINUTE).seen(20 * MINUTE)
    assert (session().closed_at, session().proven_until) == (NOON + 5 * MINUTE, NOON + 5 * MINUTE)


def test_an_end_before_the_opening_is_no_time_at_all(run: Run) -> None:
    run.close(-MINUTE)
    assert (session().closed_at, session().settled) == (NOON, True)


def test_an_attempt_that_never_ran_has_nothing_to_close(alice: Actor) -> None:
    Run(alice, price_of(make_package(780))).close(MINUTE).seen(MINUTE)
    assert not MeterSession.objects.exists()


@pytest.mark.parametrize(
    "change",
    ["closed_at = NULL", "closed_at = closed_at + interval '1 hour', proven_until = proven_until + interval '1 hour'"],
)
def test_a_closed_session_stays_closed(run: Run, change: str) -> None:
    run.close(5 * MINUTE)
    with pytest.raises(IntegrityError, match="stays closed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE billing_metersession SET {change}")


def test_proof_is_not_taken_back(run: Run) -> None:
    run.seen(5 * MINUTE)
    with pytest.raises(IntegrityError, match="not taken back"), transaction.atomic():
        MeterSession.objects.update(proven_until=NOON + MINUTE)


def store(run: Run, start: int, end: int, prev_end: int | None, organisation: Organisation | None = None) -> None:
    with transaction.atomic():
        UsageSlice.objects.create(
            session_id=run.session_id,
            organisation_id=organisation.pk if organisation else run.actor.organisation(),
            start=NOON + start * MINUTE,
            end=NOON + end * MINUTE,
            prev_end=None if prev_end is None else NOON + prev_end * MINUTE,
        )


def test_slices_that_tile_are_stored(run: Run) -> None:
    store(run, 0, 10, None)
    store(run, 10, 60, 10)
    store(run, 60, 61, 60)
    assert UsageSlice.objects.count() == 3


@pytest.mark.parametrize(
    ("start", "end", "prev_end", "refused_by"),
    [
        (0, 5, None, "billing_usageslice_pkey"),  # the same start again
        (5, 9, 5, "slice_follows_slice"),  # overlaps: nothing ends at 5
        (11, 20, 11, "slice_follows_slice"),  # a gap: nothing ends at 11
        (11, 20, 10, "slice_follows_at_once"),  # says it follows, and leaves a gap
        (10, 10, 10, "slice_not_empty"),
        (10, 61, 10, "slice_within_hour"),
        (20, 30, None, "slice_first_once"),
    ],
)
def test_overlaps_and_gaps_cannot_be_stored(
    run: Run, start: int, end: int, prev_end: int | None, refused_by: str
) -> None:
    store(run, 0, 10, None)
    with pytest.raises(IntegrityError, match=refused_by):
        store(run, start, end, prev_end)


def test_the_first_slice_begins_at_the_opening(run: Run) -> None:
    with pytest.raises(IntegrityError, match="slice_starts_at_opening"):
        store(run, 1, 2, None)


def test_a_slice_belongs_to_its_sessions_organisation(run: Run) -> None:
    with pytest.raises(IntegrityError, match="slice_of_owner"):
        store(run, 0, 10, None, organisation=make_organisation())
