"""The part of the operation log that finance reads: what concerns money, and nothing else."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test import Client

from apps.audit import selectors as log
from apps.audit.models import CONCERNS_MONEY, Entry, concerns_money
from apps.audit.services import Target, record
from apps.billing.models import Package
from apps.common.errors import Denied
from apps.common.scoping import acting
from apps.console.audit.actions import ACTIONS
from apps.tenants.choices import PlatformRole
from tests.builders import World, actor_of, make_member, make_staff, platform, signed_in, staff_actor
from tests.console.kit import page, text_of

MONEY = [
    "billing.credit_limit",
    "billing.price.set",
    "billing.voucher.issue",
    "billing.invoice.issued",
    "budget.updated",
]
LAB = Target("organisation", "7", "Lab")
OTHERS = ["user.password_reset", "node.cordoned", "workload.stopped", "secret.rotated", "role.changed"]


def write(*actions: str, target: Target = LAB) -> None:
    with acting(platform()):
        for action in actions:
            record(platform(), action=action, target=target, before={"credit_limit_fen": 0}, after={"note": action})


@pytest.fixture
def clerk(world: World) -> Client:
    return signed_in(make_staff(PlatformRole.FINANCE))


def lines(client: Client, name: str, language: str = "en", **query: str) -> list[list[str]]:
    answer = client.get(page(name), query, headers={"Accept-Language": language})
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(b"".join(answer).decode().removeprefix("\ufeff"))))


def test_finance_reads_what_concerns_money_and_nothing_else(clerk: Client) -> None:
    write(*MONEY, *OTHERS)
    shown = text_of(clerk.get(page("money_audit")))
    assert all(action in shown for action in MONEY)
    assert not any(action in shown for action in OTHERS)
    exported = {row[14] for row in lines(clerk, "money_audit_export")[1:]}
    assert exported >= set(MONEY)
    assert not exported & set(OTHERS)
    listed = json.loads(clerk.get("/api/v1/console/audit/money/").content)["results"]
    assert {row["action"] for row in listed} >= set(MONEY)
    assert not {row["action"] for row in listed} & set(OTHERS)


def test_filters_widen_nothing(clerk: Client) -> None:
    write(*OTHERS)
    for action in OTHERS:
        assert f'pl-code">{action}' not in text_of(clerk.get(page("money_audit"), {"action": action}))
    assert [row for row in lines(clerk, "money_audit_export", target="Lab")[1:] if row[14] in OTHERS] == []


def test_settings_of_payments_are_money_and_those_of_mail_are_not(clerk: Client) -> None:
    write("settings.changed", target=Target("settings", "payment", "payment"))
    write("settings.changed", target=Target("settings", "mail", "mail"))
    targets = [row[7] for row in lines(clerk, "money_audit_export")[1:] if row[14] == "settings.changed"]
    assert targets == ["payment"]


def test_finance_still_opens_no_other_page_of_the_log(clerk: Client) -> None:
    for address in (page("audit"), page("audit_export"), "/api/v1/console/audit/"):
        assert clerk.get(address).status_code == 403


@pytest.mark.parametrize("role", [PlatformRole.OPS, PlatformRole.BUSINESS])
def test_other_staff_open_none(world: World, role: PlatformRole) -> None:
    client = signed_in(make_staff(role))
    for address in (page("money_audit"), page("money_audit_export"), "/api/v1/console/audit/money/"):
        assert client.get(address).status_code == 403


def test_the_selector_itself_refuses(world: World) -> None:
    with acting(platform()), pytest.raises(Denied):
        log.money_entries(staff_actor(make_staff(PlatformRole.OPS, "ops")))


def test_a_refusal_names_whoever_can_help(clerk: Client, world: World) -> None:
    said = text_of(clerk.get(page("audit")))
    assert "Ask whoever manages the platform" in said
    assert "administrator of your organisation" not in said
    with acting(platform()):
        member = actor_of(make_member(world.organisation, "mei"))
    with pytest.raises(Denied) as refused:
        member.require("billing.view")  # type: ignore[arg-type]
    assert "administrator of your organisation" in str(refused.value.hint)


def test_the_export_speaks_the_readers_language(clerk: Client, world: World) -> None:
    with acting(platform()):
        package = Package.objects.get(pk=world.package.pk)
    target = Target("package", str(package.pk), package.name_en)
    write("billing.price.set", target=target)
    for language, name in (("en", package.name_en), ("zh-hans", package.name_zh)):
        head, *rows = lines(clerk, "money_audit_export", language, action="billing.price.set")
        row = next(row for row in rows if row[7] == str(package.pk))
        assert row[8] == name
        assert row[14:] == ["billing.price.set", "package"]
    assert "Price set" not in row[5], "said in Chinese"
    assert head[0] != "When"
    assert package.name_zh in text_of(clerk.get(page("money_audit"), headers={"Accept-Language": "zh-hans"}))


def test_what_concerns_money_is_said_once(db: None) -> None:
    """The choices of the filter and the query agree on every action that has words."""
    write(*ACTIONS)
    with acting(platform()):
        found = set(Entry.objects.filter(CONCERNS_MONEY).values_list("action", flat=True))
    assert {action for action in ACTIONS if concerns_money(action)} <= found
    assert all(concerns_money(action) or action == "settings.changed" for action in found)


def test_an_index_finds_them_among_the_others(db: None) -> None:
    with acting(platform()), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = Entry.objects.filter(CONCERNS_MONEY).order_by("-at", "-id")[:50].explain()
    assert "audit_money" in plan
