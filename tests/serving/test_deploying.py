"""From a draft to what serves: who takes over from whom, what fails, and what bad input leaves behind (nothing)."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.common.scoping import acting
from apps.serving import changing, selectors, services
from apps.serving.choices import DeploymentStatus as S
from apps.serving.choices import Ending
from apps.serving.models import Deployment, Service, ServiceVersion
from apps.serving.reconcile import advancing, checking
from apps.serving.reconcile.checking import Checked, keep
from apps.serving.selectors import ready_counts
from apps.workloads.choices import Desired
from apps.workloads.models import Attempt, ReplicaSet, Workload
from tests.builders import World, actor_of, make_member, platform
from tests.serving.kit import advance, draft, launch, make_service, of, put_ready, update

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def reaching_all(db: None) -> Iterator[None]:
    """The tests look at rows as the platform does."""
    with acting(platform()):
        yield


def active(service: Service) -> Deployment:
    found = of(service, S.ACTIVE)
    assert found is not None
    return found


@pytest.fixture
def service(world: World) -> Service:
    """Version 1 serves with two replicas."""
    made = make_service(world, wanted=2)
    first = of(made, S.PREPARING)
    assert first is not None
    put_ready(first, 2)
    advance()
    assert active(made).pk == first.pk
    return made


class TestTakingOver:
    def test_the_first_version_serves_with_its_first_replica_that_is_well(self, world: World) -> None:
        made = make_service(world, wanted=2)
        coming = of(made, S.PREPARING)
        assert coming is not None
        put_ready(coming, 1, ready=False, problem="HTTP 503")
        advance()
        assert of(made, S.ACTIVE) is None
        put_ready(coming, 1)
        advance()
        assert active(made).pk == coming.pk

    def test_an_update_waits_until_as_many_are_well_as_serve(self, world: World, service: Service) -> None:
        before, coming = active(service), update(world, service, "from lib import predict", 2)
        put_ready(coming, 1)
        advance()
        assert active(service).pk == before.pk
        put_ready(coming, 2)
        advance()
        assert active(service).version.number == 2
        draining = of(service, S.DRAINING)
        assert draining is not None
        assert (draining.pk, draining.reason) == (before.pk, Ending.REPLACED)
        assert draining.replica_set.desired == Desired.RUNNING, "what it works on is finished first"

    def test_what_was_replaced_ends_once_it_has_drained(
        self, world: World, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before, coming = active(service), update(world, service, "predict = max", 2)
        put_ready(coming, 2)
        advance()
        monkeypatch.setattr(advancing, "DRAIN_S", 0.0)
        advance()
        with acting(platform()):
            before.refresh_from_db()
            assert before.status == S.ENDED
            assert ReplicaSet.objects.get(pk=before.replica_set_id).desired == Desired.STOPPED

    @pytest.mark.parametrize("how", ["late", "crashes"])
    def test_a_version_that_does_not_become_well_never_takes_the_service_down(
        self, world: World, service: Service, how: str
    ) -> None:
        before, coming = active(service), update(world, service, "predict = max", 1)
        (attempt,) = put_ready(coming, 1, ready=False, problem="connection refused")
        with acting(platform()):
            if how == "late":
                Attempt.objects.filter(pk=attempt.pk).update(started_at=db_now() - timedelta(hours=1))
            for number in range(2, 5) if how == "crashes" else ():
                moment = db_now()
                Attempt.objects.create(
                    organisation_id=attempt.organisation_id, workload=attempt.workload, number=number,
                    node=attempt.node, placed_at=moment, started_at=moment, ended_at=moment,
                    exit_reason="exited", exit_code=1,
                )  # fmt: skip
        advance()
        with acting(platform()):
            coming.refresh_from_db()
            assert coming.status == S.FAILED
            assert coming.reason == (Ending.NOT_READY if how == "late" else Ending.CRASHED)
            assert ReplicaSet.objects.get(pk=coming.replica_set_id).desired == Desired.STOPPED, "it costs nothing more"
        assert active(service).pk == before.pk

    def test_only_one_gets_ready_at_a_time_and_it_can_be_withdrawn(self, world: World, service: Service) -> None:
        coming = update(world, service, "predict = max")
        with pytest.raises(Conflict):
            update(world, service, "predict = min")
        with acting(world.actor):
            services.withdraw(world.actor, service.pk)
            assert ServiceVersion.objects.filter(service=service).count() == 2
            coming.refresh_from_db()
        assert (coming.status, coming.reason) == (S.ENDED, Ending.WITHDRAWN)
        assert active(service).version.number == 1

    def test_an_earlier_version_is_gone_back_to_as_any_update(self, world: World, service: Service) -> None:
        coming = update(world, service, "predict = max")
        put_ready(coming, 1)
        put_ready(active(service), 1, ready=False)
        advance()
        first = ServiceVersion.objects.get(service=service, number=1)
        with acting(world.actor):
            again = services.deploy(world.actor, service.pk, first.pk, launch(world), 1)
        put_ready(again)
        advance()
        assert active(service).version_id == first.pk


class TestStopping:
    def test_it_stops_by_itself_at_its_time(self, world: World, service: Service) -> None:
        with acting(world.actor):
            soon = changing.Settings("", (), db_now() + timedelta(hours=1))
            changing.change(world.actor, service.pk, soon)
            with pytest.raises(Invalid):
                changing.change(world.actor, service.pk, changing.Settings("", (), db_now() - timedelta(seconds=1)))
        advance()
        assert active(service)
        with acting(platform()):
            Service.objects.filter(pk=service.pk).update(stops_at=db_now())
        advance()
        draining = of(service, S.DRAINING)
        assert draining is not None
        assert draining.reason == Ending.TIME_IS_UP

    def test_replicas_that_were_stopped_for_good_end_it(self, world: World, service: Service) -> None:
        with acting(platform()):
            ReplicaSet.objects.filter(pk=active(service).replica_set_id).update(
                desired=Desired.STOPPED, reason="arrears"
            )
        advance()
        ended = of(service, S.ENDED)
        assert ended is not None
        assert ended.reason == Ending.REPLICAS_ENDED

    def test_it_is_deleted_only_once_it_is_stopped(self, world: World, service: Service) -> None:
        with acting(world.actor):
            with pytest.raises(Conflict):
                changing.delete(world.actor, service.pk)
            services.stop(world.actor, service.pk)
            with pytest.raises(Conflict):
                services.stop(world.actor, service.pk)
        with acting(platform()):
            Deployment.objects.filter(service=service).update(status=S.ENDED)
        with acting(world.actor):
            changing.delete(world.actor, service.pk)
            with pytest.raises(NotFound):
                selectors.get(world.actor, service.pk)


class TestHealth:
    def test_three_failures_in_a_row_take_a_replica_out_and_one_pass_brings_it_back(self, service: Service) -> None:
        found = active(service).replica_set
        attempt = Attempt.objects.filter(workload__replica_set=found).select_related("workload").first()
        assert attempt is not None
        seen = []
        for problem in ["HTTP 500"] * checking.FAILURES + ["", "slow", ""]:
            keep([Checked(attempt, problem)])
            seen.append(ready_counts([found])[found.pk])
        assert seen == [2, 2, 1, 2, 2, 2]

    def test_a_replica_that_is_asked_to_leave_does_not_count(self, service: Service) -> None:
        found = active(service).replica_set
        row = Workload.objects.filter(replica_set=found).first()
        assert row is not None
        Workload.objects.filter(pk=row.pk).update(desired=Desired.STOPPED)
        assert ready_counts([found])[found.pk] == 1


BAD = {
    "script": [
        {"script": ""},
        {"script": "def answer(x): ..."},
        {"script": "def predict(:"},
        {"script": "async def predict(model, inputs): ..."},
        {"script": "x" * 300_000},
    ],
    "health_path": [{"runtime": "command", "command": "serve", "health_path": "no slash"}],
    "port": [{"runtime": "command", "command": "serve", "port": 80}],
    "command": [{"runtime": "command", "command": "  "}, {"runtime": "command", "command": "serve 'x"}],
    "smoke_path": [{"smoke_path": "/a b"}],
    "timeout_s": [{"timeout_s": 0}],
}


@pytest.mark.parametrize(("field", "changes"), [(field, each) for field, several in BAD.items() for each in several])
def test_bad_input_is_told_beside_its_field_and_leaves_nothing(
    world: World, field: str, changes: dict[str, object]
) -> None:
    with acting(world.actor):
        with pytest.raises(Invalid) as told:
            services.create(world.actor, draft(world, **changes), launch(world, "digits"), 1)  # type: ignore[arg-type]
        assert list(told.value.fields) == [field]
        assert not Service.objects.exists()
        assert not ReplicaSet.objects.exists()


def test_a_name_is_taken_once_and_a_form_sent_twice_makes_one(world: World) -> None:
    asked = launch(world, "digits")
    with acting(world.actor):
        first = services.create(world.actor, draft(world), asked, 1)
        assert services.create(world.actor, draft(world), asked, 1).pk == first.pk
        with pytest.raises(Invalid) as told:
            services.create(world.actor, draft(world), launch(world, "digits"), 1)
    assert list(told.value.fields) == ["name"]
    assert ReplicaSet.objects.count() == 1


def test_a_colleague_neither_sees_nor_changes_it(world: World, service: Service) -> None:
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    acts = (
        lambda: selectors.get(bob, service.pk),
        lambda: services.stop(bob, service.pk),
        lambda: services.scale(bob, service.pk, 3),
        lambda: services.update(bob, service.pk, draft(world), launch(world), 1),
    )
    for act in acts:
        with acting(bob), pytest.raises(NotFound):
            act()
    assert isinstance(NotFound(), DomainError)
    assert active(service).replica_set.wanted == 2
