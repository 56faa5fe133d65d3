"""Services by load: what the rule promises, what gateways tell, and what the loop makes of both."""

from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.serving import services
from apps.serving.choices import DeploymentStatus as S
from apps.serving.choices import Held
from apps.serving.door.in_flight import InFlight
from apps.serving.kind import SERVICE
from apps.serving.models import Load, Scaling, Service
from apps.serving.scaling import bounds, deciding, following, loads
from apps.serving.scaling.deciding import Bounds
from apps.tenants import quotas
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, platform
from tests.serving.kit import make_serving, of, update

NUMBERS = st.integers(1, 64)
LOADS = st.floats(0, 5000, allow_nan=False)


@st.composite
def any_bounds(draw: st.DrawFn) -> Bounds:
    least, most = sorted((draw(NUMBERS), draw(NUMBERS)))
    return Bounds(least, most, draw(st.integers(1, 100)), draw(st.integers(1, 60)))


class Simulated:
    """The loop's own arithmetic on a clock of the test's."""

    def __init__(self, limits: Bounds, current: int) -> None:
        self.limits, self.current, self.now_s = limits, current, 1_000_000.0
        self.began_s, self.peaks = self.now_s, dict[int, int]()

    def turn(self, load: float, after_s: float = 3.0) -> int:
        self.now_s += after_s
        number = deciding.recommended(load, self.current, self.limits)
        self.peaks = deciding.remembered(self.peaks, self.now_s, number, self.limits)
        steady_s = self.now_s - self.began_s
        self.current = deciding.wanted(self.current, number, self.peaks, steady_s, self.limits)
        return number


class TestRule:
    @given(any_bounds(), NUMBERS, st.lists(st.tuples(LOADS, st.floats(0.1, 900)), max_size=30))
    def test_it_stays_within_its_bounds_and_never_below_what_is_needed_now(
        self, limits: Bounds, current: int, seen: list[tuple[float, float]]
    ) -> None:
        service = Simulated(limits, current)
        for load, after_s in seen:
            number = service.turn(load, after_s)
            assert limits.least <= service.current <= limits.most
            assert service.current >= number
            assert len(service.peaks) <= limits.patience_min + 2

    @given(any_bounds(), NUMBERS, LOADS)
    def test_a_load_that_stays_the_same_moves_it_once_up_or_once_down(
        self, limits: Bounds, current: int, load: float
    ) -> None:
        service = Simulated(limits, limits.within(current))
        seen = [service.current]
        for _ in range(200):
            service.turn(load, 30.0)
            seen.append(service.current)
        assert seen in (sorted(seen), sorted(seen, reverse=True))
        assert len(set(seen)) <= 2

    @given(any_bounds(), NUMBERS, LOADS, LOADS)
    def test_more_load_never_needs_fewer(self, limits: Bounds, current: int, one: float, other: float) -> None:
        less, more = sorted((one, other))
        assert deciding.recommended(less, current, limits) <= deciding.recommended(more, current, limits)

    @given(any_bounds(), LOADS)
    def test_what_was_needed_stays_for_the_whole_window(self, limits: Bounds, load: float) -> None:
        service = Simulated(limits, limits.least)
        high = service.turn(load)
        service.began_s -= 10_000
        since = service.now_s
        while service.now_s - since < limits.patience_min * 60 - 5:
            service.turn(0.0, 5.0)
            assert service.current >= high
        for _ in range(20):
            service.turn(0.0, 5.0)
        assert service.current == limits.least, "and no longer than a minute more"

    @pytest.mark.parametrize(
        ("load", "current", "expected"), [(0, 3, 1), (4.0, 2, 2), (4.3, 2, 2), (4.5, 2, 3), (90, 2, 5)]
    )
    def test_examples(self, load: float, current: int, expected: int) -> None:
        assert deciding.recommended(load, current, Bounds(1, 5, 2, 5)) == expected


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), max_size=20),
    st.lists(st.floats(0.1, 40), min_size=1, max_size=8),
)
def test_the_gauge_tells_each_second_of_each_request_once(
    requests: list[tuple[float, float]], told_after: list[float]
) -> None:
    """What was told, times its span, sums up to the time that requests were held until the last telling."""
    now, service_id = [0.0], uuid4()
    gauge = InFlight(lambda: now[0])
    moments: list[tuple[float, int]] = []
    for begin, length in requests:
        moments += [(begin, 0), (begin + length, 1)]
    tellings, end = [], 0.0
    for span in told_after:
        end += span
        tellings.append((end, 2))
    open_ones: list[object] = []
    told_s, last = 0.0, 0.0
    for at, what in sorted(moments + tellings):
        now[0] = at
        if what == 0:
            held = gauge.counted(service_id)
            held.__enter__()
            open_ones.append(held)
        elif what == 1 and open_ones:
            open_ones.pop().__exit__(None, None, None)  # type: ignore[attr-defined]
        else:
            told_s += gauge.take().get(service_id, 0.0) * (at - last)
            last = at
    held_s = sum(max(0.0, min(begin + length, end) - min(begin, end)) for begin, length in requests)
    assert told_s == pytest.approx(held_s, abs=1e-6)


def test_a_gauge_that_holds_nothing_says_so_once_and_is_forgotten() -> None:
    now, service_id = [0.0], uuid4()
    gauge = InFlight(lambda: now[0])
    with gauge.counted(service_id):
        now[0] = 2.0
        assert gauge.take() == {service_id: 1.0}
        now[0] = 3.0
    now[0] = 4.0
    assert gauge.take() == {service_id: 0.5}
    now[0] = 5.0
    assert gauge.take() == {service_id: 0.0}
    now[0] = 6.0
    assert gauge.take() == {}


@pytest.fixture
def service(world: World) -> Service:
    """Serves with one replica, and follows its load from 1 to 4, two requests each."""
    made = make_serving(world)
    with acting(world.actor):
        bounds.follow(world.actor, made.pk, Bounds(1, 4, 2, 5))
    return made


def hold(service: Service, in_flight: float) -> None:
    """As one gateway process tells."""
    loads.write(uuid4(), {service.pk: in_flight})


def turn() -> None:
    with acting(platform()):
        following.sweep(platform())


def number(service: Service) -> int:
    with acting(platform()):
        found = of(service, S.ACTIVE)
        assert found is not None
        found.replica_set.refresh_from_db()
        return found.replica_set.wanted


def scaling_of(service: Service) -> Scaling:
    with acting(platform()):
        return Scaling.objects.get(pk=service.pk)


@pytest.mark.django_db
class TestFollowing:
    def test_it_grows_at_once_by_what_all_processes_hold_and_shrinks_after_its_patience(self, service: Service) -> None:
        hold(service, 3.0)
        hold(service, 2.5)
        turn()
        assert number(service) == 3
        with acting(platform()):
            assert Entry.objects.filter(action="serving.scaled_by_load", target_id=str(service.pk)).count() == 1
            Load.objects.all().delete()
        turn()
        assert number(service) == 3, "fewer suffice since now only"
        with acting(platform()):
            long_ago = db_now() - timedelta(hours=1)
            Scaling.objects.update(since=long_ago, peaks={})
            found = of(service, S.ACTIVE)
            assert found is not None
            type(found).objects.filter(pk=found.pk).update(active_at=long_ago)
        turn()
        assert number(service) == 1
        service.refresh_from_db()
        assert service.replicas == 1, "of the next start"

    def test_a_process_that_tells_no_more_does_not_count(self, service: Service) -> None:
        hold(service, 8.0)
        with acting(platform()):
            Load.objects.update(told_at=db_now() - loads.FRESH)
        turn()
        assert number(service) == 1

    def test_it_takes_what_the_quota_has_room_for_and_says_what_it_lacks(self, world: World, service: Service) -> None:
        with acting(platform()):
            quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=SERVICE.quota_line, limit=2)
        hold(service, 8.0)
        turn()
        assert (number(service), scaling_of(service).held) == (2, Held.NOT), "one more than none"
        turn()
        assert (number(service), scaling_of(service).held) == (2, Held.QUOTA)
        with acting(platform()):
            before = Workload.objects.count()
        turn()
        with acting(platform()):
            assert Workload.objects.count() == before
            Load.objects.all().delete()
        turn()
        assert scaling_of(service).held == Held.NOT, "what it has suffices"

    def test_a_new_version_takes_over_with_as_many_as_serve(self, world: World, service: Service) -> None:
        hold(service, 6.0)
        turn()
        coming = update(world, service, "predict = max", 1)
        with acting(platform()):
            assert coming.replica_set.wanted == 3

    def test_by_hand_it_is_scaled_only_once_its_number_is_fixed(self, world: World, service: Service) -> None:
        with acting(world.actor):
            with pytest.raises(Conflict):
                services.scale(world.actor, service.pk, 2)
            bounds.unfollow(world.actor, service.pk)
            services.scale(world.actor, service.pk, 2)
        hold(service, 8.0)
        turn()
        assert number(service) == 2

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [(Bounds(0, 4, 2, 5), "least"), (Bounds(1, 65, 2, 5), "most"), (Bounds(3, 2, 2, 5), "most"),
         (Bounds(1, 4, 0, 5), "target"), (Bounds(1, 4, 2, 61), "patience_min")],
    )  # fmt: skip
    def test_bounds_that_make_no_sense_are_told_beside_their_field(
        self, world: World, service: Service, wrong: Bounds, field: str
    ) -> None:
        with acting(world.actor), pytest.raises(Invalid) as refused:
            bounds.follow(world.actor, service.pk, wrong)
        assert list(refused.value.fields) == [field]
        assert scaling_of(service).most == 4

    def test_a_colleague_cannot_change_it(self, world: World, service: Service) -> None:
        with acting(platform()):
            bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        with acting(bob), pytest.raises(NotFound):
            bounds.follow(bob, service.pk, Bounds(1, 2, 2, 5))

    def test_what_is_stopped_is_left_alone(self, world: World, service: Service) -> None:
        with acting(world.actor):
            services.stop(world.actor, service.pk)
        hold(service, 8.0)
        turn()
        with acting(platform()):
            assert Workload.objects.filter(replica_set__deployment__service=service).count() == 1
