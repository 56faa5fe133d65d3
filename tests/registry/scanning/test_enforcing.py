"""The policy at a start: refused at once, again for what waited, never for what runs; warnings start."""

from datetime import timedelta

import pytest

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.registry.models import Image, ImageScan, ScanException
from apps.registry.scanning import services
from apps.registry.scanning.choices import PolicyAction, Severity
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.settings import ScanSettings
from apps.registry.scanning.verdicts import today
from apps.tenants import settings as platform_settings
from apps.tenants.choices import Role
from apps.workloads.choices import Reason
from apps.workloads.faults import advise
from apps.workloads.models import Workload
from apps.workloads.references import Reference
from apps.workloads.spec import Stage
from apps.workloads.start_rights import refusals
from tests.builders import World, actor_of, make_member, make_organisation, platform, submit_workload
from tests.registry.scanning.builders import DIGEST, HIGH, LOW, REFERENCE, scanned

BLOCK = Rule("block", "high")


def submit(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world, image=REFERENCE)


def set_policy(manager: Actor, rule: Rule) -> None:
    with acting(manager):
        services.set_policy(manager, rule)


def set_floor(staff: Actor, **values: object) -> None:
    with acting(staff):
        platform_settings.put(staff, ScanSettings(**values))


def test_a_blocked_image_does_not_start_and_nothing_is_left(world: World, manager: Actor, image: Image) -> None:
    scanned(HIGH, LOW)
    set_policy(manager, BLOCK)
    with pytest.raises(Invalid) as refused:
        submit(world)
    assert "1 known vulnerability of severity High or worse" in str(refused.value.fields["image"])
    assert "your organisation's policy" in str(refused.value.fields["image"])
    assert "newer packages" in str(refused.value.hint)
    with acting(platform()):
        assert not Workload.objects.exists()


def test_a_blocked_image_of_a_stage_counts_at_the_start_and_while_it_waits(
    world: World, manager: Actor, image: Image
) -> None:
    own = Reference("elsewhere.lab/team/box", f"sha256:{'e' * 64}")
    spec = {"image": own, "stages": (Stage(REFERENCE, ("true",)),)}
    scanned(HIGH)
    with acting(world.actor):
        waiting = submit_workload(world, **spec)
    set_policy(manager, BLOCK)
    with acting(world.actor), pytest.raises(Invalid, match="High or worse"):
        submit_workload(world, **spec)
    with acting(platform()):
        assert refusals([waiting])[waiting.pk].reason == Reason.IMAGE_BLOCKED


@pytest.mark.parametrize("rule", [Rule("warn", "high"), Rule("block", "critical"), Rule("off", "low")])
def test_what_is_warned_of_or_below_the_severity_starts(world: World, manager: Actor, image: Image, rule: Rule) -> None:
    scanned(HIGH)
    set_policy(manager, rule)
    assert submit(world).is_live


def test_the_operators_floor_counts_for_who_has_no_policy(world: World, staff: Actor, image: Image) -> None:
    scanned(HIGH)
    set_floor(staff, action=PolicyAction.BLOCK, severity=Severity.HIGH)
    with pytest.raises(Invalid, match="the platform's policy"):
        submit(world)


def test_an_organisation_cannot_soften_the_floor(world: World, manager: Actor, staff: Actor, image: Image) -> None:
    scanned(HIGH)
    set_floor(staff, action=PolicyAction.BLOCK, severity=Severity.HIGH)
    set_policy(manager, Rule("off", "low"))
    with acting(manager):
        services.add_exception(manager, finding=HIGH.id, package="", reason="unreachable", until=today())
    with pytest.raises(Invalid):
        submit(world)
    with acting(staff):
        services.add_exception(staff, finding=HIGH.id, package="", reason="unreachable", until=today(), everybody=True)
    assert submit(world).is_live


def test_an_exception_counts_until_its_day_is_over(world: World, manager: Actor, image: Image) -> None:
    scanned(HIGH)
    set_policy(manager, BLOCK)
    with acting(manager):
        made = services.add_exception(manager, finding=HIGH.id, package="urllib3", reason="offline", until=today())
    assert submit(world).is_live
    ScanException.objects.filter(pk=made.pk).update(until=today() - timedelta(days=1))
    with pytest.raises(Invalid):
        submit(world)


def test_an_exception_that_was_ended_counts_no_more(world: World, manager: Actor, image: Image) -> None:
    scanned(HIGH)
    set_policy(manager, BLOCK)
    with acting(manager):
        made = services.add_exception(manager, finding=HIGH.id, package="", reason="offline", until=today())
        services.end_exception(manager, made.pk)
    with pytest.raises(Invalid):
        submit(world)


def test_an_image_without_a_scan_is_refused_where_that_is_asked_for(world: World, staff: Actor, image: Image) -> None:
    set_floor(staff, block_unscanned=True)
    with pytest.raises(Invalid, match="has not been scanned"):
        submit(world)
    scanned()
    assert submit(world).is_live


def test_a_start_has_the_image_scanned(world: World) -> None:
    submit(world)
    row = ImageScan.objects.get(digest=DIGEST)
    assert row.wanted_at is not None
    assert row.reference == REFERENCE.name


def test_a_runtime_is_not_asked_about(world: World, staff: Actor) -> None:
    set_floor(staff, block_unscanned=True)
    with acting(world.actor):
        assert submit_workload(world).is_live


def test_what_waits_is_refused_at_its_start_and_says_why(world: World, manager: Actor, image: Image) -> None:
    workload = submit(world)
    with acting(platform()):
        assert refusals([workload]) == {}
    scanned(HIGH)
    set_policy(manager, BLOCK)
    with acting(platform()):
        why = refusals([workload])[workload.pk]
    assert why.reason == Reason.IMAGE_BLOCKED
    assert why.data == {
        "cause": "findings", "count": 1, "severity": "high", "only_fixable": False, "by_operator": False, "ran": False,
    }  # fmt: skip


def test_the_policy_of_another_organisation_changes_nothing(world: World, image: Image) -> None:
    scanned(HIGH)
    with acting(platform()):
        other = make_organisation("Other")
        stranger = actor_of(make_member(other, "stranger", Role.ADMIN), other)
    set_policy(stranger, BLOCK)
    workload = submit(world)
    with acting(platform()):
        assert refusals([workload]) == {}


@pytest.mark.parametrize(
    ("data", "text", "fix"),
    [
        ({"cause": "unscanned", "by_operator": True}, "has not been scanned", "the platform's"),
        ({"cause": "findings", "count": 3}, "3 known vulnerabilities", "your organisation's"),
    ],
)
def test_the_page_of_refused_work_says_why(world: World, data: dict[str, object], text: str, fix: str) -> None:
    workload = submit(world)
    with acting(platform()):
        values = {"status": "stopped", "reason": "image_blocked", "reason_data": data, "ended_at": db_now()}
        Workload.objects.filter(pk=workload.pk).update(**values)
        workload.refresh_from_db()
        card = advise(workload)
    assert card is not None
    assert text in str(card)
    assert fix in str(card)
