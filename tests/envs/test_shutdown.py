"""An environment stops at the time that was set, once or every day, saved; until then the time can be changed."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.envs.choices import SnapshotKind, State
from apps.envs.models import Environment, Snapshot
from apps.envs.reconcile.stopping import save_before_stopping
from apps.envs.services.shutdown import set_shutdown, sweep
from apps.envs.shutdown_times import Shutdown, next_at, parse_when
from apps.envs.states import state_of
from apps.notifications.models import Notice
from apps.workloads.choices import Reason, Status
from apps.workloads.faults import why_stopped
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, platform, signed_in
from tests.envs import kit

NEW_YORK = "America/New_York"
ZONES = ("Asia/Shanghai", NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata")


def due(environment: Environment) -> None:
    with acting(platform()):
        Environment.objects.filter(pk=environment.pk).update(shutdown_at=db_now() - timedelta(seconds=1))


def turn() -> int:
    with acting(platform()) as actor:
        return sweep(actor)


@pytest.mark.parametrize(
    ("zone", "now", "expected"),
    [
        ("Asia/Shanghai", "2026-11-23T14:00Z", "2026-11-23T15:00Z"),
        ("Asia/Shanghai", "2026-11-23T15:00Z", "2026-11-24T15:00Z"),
        (NEW_YORK, "2026-03-07T12:00Z", "2026-03-08T04:00Z"),
        (NEW_YORK, "2026-03-08T12:00Z", "2026-03-09T03:00Z"),  # the clocks went forward meanwhile
        (NEW_YORK, "2026-11-01T12:00Z", "2026-11-02T04:00Z"),  # and back
    ],
)
def test_a_time_of_day_is_that_of_the_persons_clock(zone: str, now: str, expected: str) -> None:
    assert next_at(time(23), ZoneInfo(zone), datetime.fromisoformat(now)) == datetime.fromisoformat(expected)


def test_a_time_that_clocks_skip_or_show_twice_comes_once() -> None:
    zone = ZoneInfo(NEW_YORK)
    skipped = next_at(time(2, 30), zone, datetime(2026, 3, 8, 5, tzinfo=UTC))
    assert skipped.astimezone(zone).isoformat() == "2026-03-08T03:30:00-04:00"
    first = next_at(time(1, 30), zone, datetime(2026, 11, 1, 4, tzinfo=UTC))
    assert first == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    assert next_at(time(1, 30), zone, first) == datetime(2026, 11, 2, 6, 30, tzinfo=UTC)


@given(
    st.sampled_from(ZONES),
    st.times(timezones=st.none()).map(lambda at: at.replace(second=0, microsecond=0)),
    st.integers(1_577_836_800, 2_114_380_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
)
def test_the_next_moment_is_ahead_within_a_day_and_shows_that_time(name: str, at: time, now: datetime) -> None:
    zone = ZoneInfo(name)
    moment = next_at(at, zone, now)
    assert now < moment <= now + timedelta(hours=25)
    shown = moment.astimezone(zone)
    exists = shown.replace(tzinfo=None) == datetime.combine(shown.date(), at)
    skipped = datetime.combine(shown.date(), at, tzinfo=zone).astimezone(UTC) == moment
    assert exists or skipped
    after = next_at(at, zone, moment)
    assert timedelta(hours=22) < after - moment <= timedelta(hours=26)


def test_it_is_said_as_a_time_of_day_or_from_now() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    assert parse_when("23:00", zone="UTC", daily=True) == Shutdown("UTC", at=time(23), daily=True)
    assert parse_when("2 h", zone="UTC", daily=False).first(now) == now + timedelta(hours=2)
    for text, daily, zone, field in (
        ("25:00", False, "UTC", "when"),
        ("soon", False, "UTC", "when"),
        ("2 h", True, "UTC", "daily"),
        ("10 s", False, "UTC", "when"),
        ("23:00", False, "Mars/Base", "zone"),
        ("23:00", False, "../../etc/passwd", "zone"),
    ):
        with pytest.raises(Invalid) as refused:
            parse_when(text, zone=zone, daily=daily).first(now)
        assert list(refused.value.fields) == [field]


@pytest.mark.django_db
def test_it_is_told_saved_and_stopped_at_its_time(world: World) -> None:
    environment = kit.running(kit.make(world))
    with acting(world.actor):
        at = set_shutdown(world.actor, environment, Shutdown("Asia/Shanghai", in_s=240))
    assert (turn(), turn()) == (0, 0)
    with acting(platform()):
        assert at is not None
        assert Notice.objects.filter(kind="environment.shutdown_soon").count() == 1
    due(environment)
    assert (turn(), turn()) == (1, 0)
    with acting(platform()) as actor:
        assert save_before_stopping(actor) == 1
    kit.advance()
    row = kit.again(environment)
    with acting(platform()):
        assert Snapshot.objects.get(environment=row).kind == SnapshotKind.AT_STOP
        assert row.workload is not None
        assert (row.workload.status, row.workload.reason, row.shutdown_at) == (Status.STOPPING, Reason.TIMED, None)
        assert "at the time that was set" in why_stopped(Reason.TIMED, "")
        actions = set(Entry.objects.filter(action__startswith="environment.shutdown").values_list("action", flat=True))
        assert actions == {"environment.shutdown_set", "environment.shutdown"}


@pytest.mark.django_db
def test_every_day_comes_again_whether_it_runs_or_not(world: World) -> None:
    environment = kit.make(world, start=False)
    with acting(world.actor):
        set_shutdown(world.actor, environment, Shutdown(NEW_YORK, at=time(23), daily=True))
    due(environment)
    assert turn() == 0
    row = kit.again(environment)
    assert row.shutdown_at is not None
    assert row.shutdown_at > db_now()
    assert row.shutdown_at.astimezone(ZoneInfo(NEW_YORK)).strftime("%H:%M") == "23:00"
    assert state_of(row, db_now()) is State.STOPPED


@pytest.mark.django_db
def test_it_is_called_off_while_its_files_are_saved(world: World) -> None:
    environment = kit.running(kit.make(world))
    with acting(world.actor):
        set_shutdown(world.actor, environment, Shutdown("UTC", in_s=60))
    due(environment)
    assert turn() == 1
    with acting(platform()) as actor:
        assert save_before_stopping(actor) == 1
    with acting(world.actor):
        set_shutdown(world.actor, environment, None)
    kit.advance()
    with acting(platform()):
        workload = Workload.objects.get(environment=environment)
        assert (workload.status, workload.stop_reason) == (Status.RUNNING, "")


@pytest.mark.django_db
def test_who_may_set_it(world: World) -> None:
    environment = kit.make(world)
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob), pytest.raises(NotFound):
        set_shutdown(bob, environment, None)
    with acting(platform()):
        Environment.objects.filter(pk=environment.pk).update(deleted_at=db_now(), purge_at=db_now())
    with acting(world.actor), pytest.raises(Conflict):
        set_shutdown(world.actor, environment, Shutdown("UTC", in_s=60))


@pytest.fixture
def alice(world: World) -> Client:
    return signed_in(world.alice)


@pytest.mark.django_db
def test_pages_and_api_set_show_and_cancel_it(world: World, alice: Client) -> None:
    environment = kit.running(kit.make(world))
    dialog = alice.get(reverse("envs:ask", args=[environment.pk, "shutdown"])).content.decode()
    assert "data-time-zone" in dialog
    act = reverse("envs:act", args=[environment.pk, "shutdown"])
    for wrong in ({"when": "never", "zone": "UTC"}, {"when": "2 h", "zone": "UTC", "daily": "on"}, {"zone": "UTC"}):
        alice.post(act, wrong)
        assert kit.again(environment).shutdown_at is None
    alice.post(act, {"when": "23:00", "zone": NEW_YORK, "daily": "on"})
    assert (kit.again(environment).shutdown_time, kit.again(environment).shutdown_zone) == (time(23), NEW_YORK)
    page = alice.get(reverse("envs:detail", args=[environment.pk])).content.decode()
    assert "every day" in page
    assert f"(23:00 {NEW_YORK})" in page  # as it was set, beside the platform's own time
    assert "stops at" in alice.get(reverse("envs:list")).content.decode()
    url = f"/api/v1/environments/{environment.pk}/shutdown/"
    assert alice.get(url).json()["at"] == "23:00"
    assert alice.get(f"/api/v1/environments/{environment.pk}/").json()["shutdown_daily"] == "23:00"
    for body in (
        {},
        {"at": "23:00", "in_s": 60},
        {"in_s": 60, "daily": True},
        {"at": "23:00", "zone": "x"},
        {"in_s": 1},
    ):
        assert alice.put(url, body, content_type="application/json").status_code == 400
    answer = alice.put(url, {"in_s": 7200}, content_type="application/json").json()
    assert (answer["daily"], answer["at"]) == (False, None)
    assert alice.delete(url).status_code == 204
    assert alice.get(url).json()["shutdown_at"] is None
    alice.post(act, {"when": "2 h", "zone": "UTC"})
    alice.post(reverse("envs:act", args=[environment.pk, "cancel-shutdown"]))
    assert kit.again(environment).shutdown_at is None
