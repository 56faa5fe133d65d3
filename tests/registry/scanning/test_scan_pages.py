"""Pages and API of scans: what is shown to whom, filtered, exported; the policy and exceptions in both."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry.models import Image, ImageScan, ScanException, ScanPolicy
from apps.registry.scanning import services
from apps.registry.scanning.choices import PolicyAction, Severity
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.settings import ScanSettings
from apps.registry.scanning.verdicts import today
from apps.tenants import settings as platform_settings
from apps.tenants.models import User
from tests.builders import World, make_image, platform, signed_in
from tests.registry.scanning.builders import HIGH, LOW, scanned, working_scanner
from tests.training.kit import body_for, form_for

POLICY, EXCEPTIONS = "/api/v1/images/policy/", "/api/v1/images/policy/exceptions/"
NEW = "/images/policy/exceptions/new/"
CONSOLE = "/api/v1/console/settings/image-scans/"
BLOCK = {"action": "block", "severity": "high", "only_fixable": False, "block_unscanned": False}


@pytest.fixture
def client(world: World) -> Client:
    return signed_in(world.alice)


@pytest.fixture
def managing(manager: Actor) -> Client:
    return signed_in(User.objects.get(pk=manager.user_id))


@pytest.fixture
def operating(staff: Actor) -> Client:
    return signed_in(User.objects.get(pk=staff.user_id))


def html(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def block(manager: Actor) -> None:
    with acting(manager):
        services.set_policy(manager, Rule("block", "high"))


def send(client: Client, method: str, url: str, data: Any = None) -> Any:
    return getattr(client, method)(url, json.dumps(data) if data is not None else "", content_type="application/json")


def test_an_image_nobody_scanned_says_so(client: Client, image: Image) -> None:
    page = html(client, f"/images/{image.pk}/")
    assert "the platform has no scanner that works" in page
    assert f"/images/{image.pk}/scan/" not in page
    assert "not scanned" in html(client, "/images/")
    working_scanner()
    assert "waits for its scan" in html(client, f"/images/{image.pk}/")


def test_the_page_of_an_image_has_its_findings_and_what_they_mean(client: Client, image: Image, manager: Actor) -> None:
    working_scanner()
    scanned(HIGH, LOW)
    block(manager)
    page = html(client, f"/images/{image.pk}/")
    assert "urllib3" in page
    assert "2.6.0" in page
    assert "does not start it" in page
    assert "All 2 findings" in page
    assert "no fix yet" in page
    assert "not allowed" in html(client, "/images/")


def test_an_old_database_is_said_wherever_a_result_is(client: Client, image: Image) -> None:
    working_scanner()
    scanned(HIGH, days_ago=8)
    for url in (f"/images/{image.pk}/", f"/images/{image.pk}/findings/"):
        assert "database was old" in html(client, url)
    assert "with an old database" in html(client, "/images/")
    scanned(HIGH, days_ago=6)
    assert "with an old database" not in html(client, "/images/")


def test_a_failed_scan_says_why_and_keeps_what_was_found(client: Client, image: Image) -> None:
    working_scanner()
    scanned(HIGH, problem="timed_out", problem_detail="it slept")
    page = html(client, f"/images/{image.pk}/")
    assert "The scan took too long." in page
    assert "it slept" in page
    assert "from the one before" in page


def test_the_pickers_say_what_is_known(client: Client, image: Image, manager: Actor) -> None:
    scanned(HIGH)
    block(manager)
    for url in ("/training/new/", "/environments/new/"):
        page = html(client, url)
        assert "1 High" in page
        assert "your organisation&#x27;s policy does not start it" in page


def test_findings_are_searched_filtered_and_sorted(client: Client, image: Image) -> None:
    scanned(HIGH, LOW)
    url = f"/images/{image.pk}/findings/"
    for query, there, gone in (
        ("q=URLLIB", HIGH, LOW), ("q=2025-1", LOW, HIGH), ("severity=low", LOW, HIGH), ("fix=yes", HIGH, LOW),
        ("fix=no", LOW, HIGH),
    ):  # fmt: skip
        page = html(client, f"{url}?{query}")
        assert there.package in page.split('id="findings"')[1]
        assert gone.package not in page.split('id="findings"')[1]
    assert "No finding is like this" in html(client, f"{url}?q=nothing")
    page = html(client, f"{url}?severity=none&sort=package").split('id="findings"')[1]
    assert page.index("openssl") < page.index("urllib3")


def test_findings_come_as_a_file_that_no_spreadsheet_runs(client: Client, image: Image) -> None:
    scanned(replace(HIGH, package="=cmd()"), LOW)
    answer = client.get(f"/images/{image.pk}/findings.csv?fix=yes")
    text = answer.content.decode()
    assert "attachment" in answer.headers["Content-Disposition"]
    assert "'=cmd()" in text
    assert "openssl" not in text


def test_who_may_not_see_the_image_sees_nothing_of_its_scan(image: Image, world: World, client: Client) -> None:
    scanned(HIGH)
    with acting(platform()):
        Image.objects.filter(pk=image.pk).update(restricted=True)
    for url in (f"/images/{image.pk}/findings/", f"/images/{image.pk}/findings.csv"):
        assert client.get(url).status_code == 404
    for rest in ("scan/", "findings/"):
        assert client.get(f"/api/v1/images/{image.pk}/{rest}").status_code == 404
    assert client.post(f"/images/{image.pk}/scan/").status_code == 404


def test_a_runtime_has_neither(client: Client) -> None:
    with acting(platform()):
        runtime = make_image("plain")
    assert client.get(f"/images/{runtime.pk}/findings/").status_code == 404
    assert client.get(f"/api/v1/images/{runtime.pk}/scan/").status_code == 404
    assert client.get(f"/api/v1/images/{runtime.pk}/findings/").status_code == 404
    assert "t-scan" not in html(client, f"/images/{runtime.pk}/")


def test_a_scan_is_asked_for_on_the_page_and_by_the_api(client: Client, image: Image) -> None:
    url = f"/images/{image.pk}/scan/"
    client.post(url)
    assert not ImageScan.objects.filter(wanted_at__isnull=False).exists()
    assert send(client, "post", f"/api/v1{url}").status_code == 409
    working_scanner()
    scanned(HIGH)
    assert client.post(url).status_code == 302
    assert ImageScan.objects.get().wanted_at is not None
    answer = send(client, "post", f"/api/v1{url}")
    assert (answer.status_code, answer.json()["waiting"]) == (202, True)


def test_the_api_says_what_the_page_says(client: Client, image: Image, manager: Actor) -> None:
    scanned(HIGH, LOW, days_ago=30)
    block(manager)
    known = client.get(f"/api/v1/images/{image.pk}/scan/").json()
    assert (known["verdict"], known["cause"], known["stale"]) == ("block", "findings", True)
    assert known["counts"][1] == {"severity": "high", "count": 1, "fixable": 1}
    assert "1 known vulnerability" in known["words"]
    rows = client.get(f"/api/v1/images/{image.pk}/findings/?limit=1&offset=1").json()
    assert (rows["count"], [each["id"] for each in rows["results"]]) == (2, [LOW.id])
    assert client.get(f"/api/v1/images/{image.pk}/findings/?severity=bad").status_code == 400
    (listed,) = [each for each in client.get("/api/v1/images/").json()["results"] if each["id"] == str(image.pk)]
    assert listed["scan"]["verdict"] == "block"


def test_a_blocked_start_is_refused_by_page_and_api(client: Client, image: Image, manager: Actor, world: World) -> None:
    scanned(HIGH)
    block(manager)
    answer = send(client, "post", "/api/v1/training/runs/", body_for(world, image=str(image.pk)))
    assert answer.status_code == 400
    assert "does not start it" in answer.json()["fields"]["image"][0]
    page = client.post("/training/new/", form_for(world, image=str(image.pk)))
    assert page.status_code == 422
    assert "does not start it" in page.content.decode()


def test_the_policy_is_set_on_its_page(client: Client, managing: Client) -> None:
    assert "You may look at the policy" in html(client, "/images/policy/")
    assert client.post("/images/policy/", BLOCK).status_code == 403
    assert (
        managing.post("/images/policy/", {"action": "block", "severity": "medium", "block_unscanned": "on"}).status_code
        == 302
    )
    with acting(platform()):
        row = ScanPolicy.objects.get()
    assert (row.action, row.severity, row.block_unscanned) == ("block", "medium", True)
    assert managing.post("/images/policy/", {"action": "shout", "severity": "medium"}).status_code == 422


def test_the_policy_is_set_by_the_api_beside_the_platforms(client: Client, managing: Client, staff: Actor) -> None:
    with acting(staff):
        platform_settings.put(staff, ScanSettings(action=PolicyAction.WARN, severity=Severity.LOW))
    assert send(client, "put", POLICY, BLOCK).status_code == 403
    found = send(managing, "put", POLICY, BLOCK).json()
    assert found == {**BLOCK, "platform": {**BLOCK, "action": "warn", "severity": "low"}}
    assert client.get(POLICY).json() == found
    assert send(managing, "put", POLICY, {**BLOCK, "severity": "negligible"}).status_code == 400
    assert "warned of" in html(client, "/images/policy/")


def test_exceptions_are_made_listed_and_ended(client: Client, managing: Client) -> None:
    values = {"finding": HIGH.id, "package": "urllib3", "reason": "never called", "until": today().isoformat()}
    assert client.post(NEW, values).status_code == 403
    assert HIGH.id in html(managing, f"{NEW}?finding={HIGH.id}&package=urllib3")
    assert managing.post(NEW, {**values, "reason": ""}).status_code == 422
    assert managing.post(NEW, {**values, "until": (today() - timedelta(days=1)).isoformat()}).status_code == 422
    assert managing.post(NEW, values).status_code == 302
    assert "never called" in html(managing, "/images/policy/?state=on&q=urllib3")
    assert "never called" not in html(managing, "/images/policy/?state=over")
    (row,) = client.get(EXCEPTIONS).json()["results"]
    assert (row["finding"], row["ended_at"]) == (HIGH.id, None)
    assert row["made_by"].startswith("manager")
    end = f"/images/policy/exceptions/{row['id']}/end/"
    assert "never called" in html(managing, end)
    assert managing.post(end).status_code == 302
    assert managing.post(end).status_code == 404
    again = send(managing, "post", EXCEPTIONS, values)
    assert again.status_code == 201
    assert send(client, "delete", f"{EXCEPTIONS}{again.json()['id']}/").status_code == 403
    assert send(managing, "delete", f"{EXCEPTIONS}{again.json()['id']}/").status_code == 204
    assert not ScanException.objects.filter(ended_at__isnull=True).exists()


def test_the_operators_page_says_what_is_missing_and_how_to_mend_it(operating: Client) -> None:
    url = "/console/settings/image-scans/"
    assert "go install github.com/anchore/grype" in html(operating, url)
    working_scanner(problem="no_database", problem_detail="database does not exist", built_at=None)
    page = html(operating, url)
    assert "scanner_database import" in page
    assert "database does not exist" in page
    working_scanner(built_at=db_now() - timedelta(days=9))
    assert "9 days old" in html(operating, url)
    assert operating.get(f"{CONSOLE}scanner/").json()["version"] == "1.2"


def test_the_operator_sets_the_floor_and_exceptions_for_all(operating: Client, client: Client) -> None:
    values = {"action": "block", "severity": "high", "stale_days": "14", "mirror": ""}
    assert operating.post("/console/settings/image-scans/", values).status_code == 302
    assert operating.get(CONSOLE).json()["stale_days"] == 14
    assert operating.post("/console/settings/image-scans/", {**values, "mirror": "ftp://x"}).status_code == 422
    assert send(operating, "patch", CONSOLE, {"action": "warn"}).json()["action"] == "warn"
    assert platform_settings.get(ScanSettings).action is PolicyAction.WARN
    made = send(
        operating, "post", f"{CONSOLE}exceptions/", {"finding": "CVE-1", "reason": "x", "until": today().isoformat()}
    )
    assert made.status_code == 201
    assert client.get(EXCEPTIONS).json()["results"] == []
    assert operating.get(f"{CONSOLE}exceptions/").json()["results"][0]["package"] == ""
    new = "/console/settings/image-scans/exceptions/new/"
    values = {"finding": "CVE-2", "package": "", "reason": "y", "until": today().isoformat()}
    assert operating.post(new, values).status_code == 302
    assert "CVE-2" in html(operating, "/console/settings/image-scans/")
    assert send(operating, "delete", f"{CONSOLE}exceptions/{made.json()['id']}/").status_code == 204
    other = ScanException.objects.get(finding="CVE-2")
    assert operating.post(f"/console/settings/image-scans/exceptions/{other.pk}/end/").status_code == 302
