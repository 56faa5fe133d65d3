"""Setting the policy, exceptions, and asking for a scan: what is refused, and what the log says."""

from datetime import timedelta
from typing import Any

import pytest

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.registry.models import Image, ImageScan, ScanException, ScanPolicy
from apps.registry.scanning import services
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.settings import ScanSettings
from apps.registry.scanning.verdicts import today
from apps.tenants import settings as platform_settings
from tests.builders import World, make_image, platform
from tests.registry.scanning.builders import HIGH, scanned, working_scanner

EXCEPTION: dict[str, Any] = {"finding": HIGH.id, "package": "urllib3", "reason": "never called"}


def add(actor: Actor, **changes: Any) -> ScanException:
    with acting(actor):
        return services.add_exception(actor, **{**EXCEPTION, "until": today(), **changes})


def test_a_policy_is_kept_and_logged_once(world: World, manager: Actor) -> None:
    with acting(manager):
        for _again in range(2):
            services.set_policy(manager, Rule("block", "high", only_fixable=True))
        row = ScanPolicy.objects.get()
    assert (row.action, row.severity, row.only_fixable, row.block_unscanned) == ("block", "high", True, False)
    assert row.set_by_id == manager.user_id
    with acting(platform()):
        entry = Entry.objects.get(action="image_policy.changed")
    assert entry.organisation_id == world.organisation.pk
    assert entry.after["severity"] == "high"


@pytest.mark.parametrize(("rule", "field"), [(Rule("shout"), "action"), (Rule("block", "unknown"), "severity")])
def test_a_policy_that_is_none_is_refused(manager: Actor, rule: Rule, field: str) -> None:
    with acting(manager), pytest.raises(Invalid) as refused:
        services.set_policy(manager, rule)
    assert list(refused.value.fields) == [field]


def test_only_who_manages_images_changes_anything(world: World) -> None:
    actor = world.actor
    with pytest.raises(Denied):
        add(actor)
    with acting(actor), pytest.raises(Denied):
        services.set_policy(actor, Rule())


def test_an_organisations_manager_makes_no_exception_for_all(manager: Actor) -> None:
    with pytest.raises(Denied):
        add(manager, everybody=True)
    assert not ScanException.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"finding": ""}, "finding"),
        ({"finding": "CVE 1"}, "finding"),
        ({"finding": "C" * 81}, "finding"),
        ({"package": "p" * 201}, "package"),
        ({"reason": "  "}, "reason"),
        ({"reason": "r" * 301}, "reason"),
    ],
)
def test_an_exception_has_to_say_what_and_why(manager: Actor, change: dict[str, str], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        add(manager, **change)
    assert list(refused.value.fields) == [field]


@pytest.mark.parametrize(("days", "right"), [(-1, False), (0, True), (366, True), (367, False)])
def test_an_exception_ends_within_a_year(manager: Actor, days: int, right: bool) -> None:
    until = today() + timedelta(days=days)
    if right:
        assert add(manager, until=until).until == until
        return
    with pytest.raises(Invalid) as refused:
        add(manager, until=until)
    assert list(refused.value.fields) == ["until"]


def test_one_finding_is_excepted_once_at_a_time(manager: Actor) -> None:
    made = add(manager)
    with pytest.raises(Conflict):
        add(manager)
    add(manager, package="")
    with acting(manager):
        services.end_exception(manager, made.pk)
        with pytest.raises(NotFound):
            services.end_exception(manager, made.pk)
    add(manager)
    with acting(platform()):
        actions = Entry.objects.filter(action__startswith="image_exception").order_by("pk")
        assert [each.action.partition(".")[2] for each in actions] == ["added", "added", "ended", "added"]


def test_nobody_ends_the_exception_of_others(world: World, manager: Actor, staff: Actor) -> None:
    theirs, everybodys = add(manager), add(staff, everybody=True)
    with acting(manager), pytest.raises(NotFound):
        services.end_exception(manager, everybodys.pk)
    with acting(staff), pytest.raises(NotFound):
        services.end_exception(staff, theirs.pk, everybody=True)


def test_a_scan_is_asked_for_again(world: World, image: Image) -> None:
    working_scanner()
    row = scanned(HIGH, tries=3)
    with acting(world.actor):
        services.ask_scan(world.actor, image.pk)
    row.refresh_from_db()
    assert row.wanted_at is not None
    assert (row.tries, row.findings[0][0]) == (0, HIGH.id)


def test_nothing_is_promised_without_a_scanner(world: World, image: Image) -> None:
    for problem in (None, "no_database"):
        if problem:
            working_scanner(problem=problem)
        with acting(world.actor), pytest.raises(Conflict):
            services.ask_scan(world.actor, image.pk)
    assert not ImageScan.objects.filter(wanted_at__isnull=False).exists()


def test_a_runtime_is_not_scanned(world: World) -> None:
    working_scanner()
    with acting(platform()):
        runtime = make_image("plain")
    with acting(world.actor), pytest.raises(Conflict, match="container images"):
        services.ask_scan(world.actor, runtime.pk)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"stale_days": 0}, "stale_days"),
        ({"stale_days": 366}, "stale_days"),
        ({"mirror": "mirror.example.edu"}, "mirror"),
        ({"mirror": "https://me:secret@mirror.example.edu/latest.json"}, "mirror"),
        ({"mirror": "file:///etc/passwd"}, "mirror"),
    ],
)
def test_settings_that_make_no_sense_are_refused(staff: Actor, values: dict[str, Any], field: str) -> None:
    with acting(staff), pytest.raises(Invalid) as refused:
        platform_settings.put(staff, ScanSettings(**values))
    assert list(refused.value.fields) == [field]
