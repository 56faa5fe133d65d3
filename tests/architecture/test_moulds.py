"""Worlds that are poured have the rows that the services write: other ids, names and moments, nothing else."""

import json
import re
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection

from apps.audit.models import Entry
from apps.billing import selectors as funds
from apps.billing.choices import AccountKind
from apps.billing.models import Account, Transfer
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from tests import builders
from tests.builders import make_organisation, make_package, make_world, platform

NAMED = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z]+-\d+-[0-9a-f]{6}\b|\d{4}-\d\d-\d\dT[\d:.+]+|md5\$\S+\b"
)
IDS = re.compile(r'"(\w*id|transfer)": "?\d+"?')
Rows = dict[str, list[str]]


def rows() -> Rows:
    """Every row of every table of ours, as JSON."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_stat_user_tables WHERE relname !~ '^(django|auth)_' ORDER BY 1")
        found = {}
        for (name,) in cursor.fetchall():
            cursor.execute(f'SELECT to_jsonb(row) FROM "{name}" AS row')
            found[name] = [json.dumps(row, sort_keys=True) for (row,) in map(_decoded, cursor.fetchall())]
        return found


def _decoded(row: tuple[Any]) -> tuple[Any]:
    return (json.loads(row[0]) if isinstance(row[0], str) else row[0],)


def added(before: Rows) -> dict[str, list[str]]:
    """What came since, without what is each one's own."""
    new = {name: sorted(set(now) - set(before[name])) for name, now in rows().items()}
    return {name: sorted(IDS.sub(r'"\1": 0', NAMED.sub("…", row)) for row in found) for name, found in new.items()}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.ADMIN])
def test_a_poured_world_has_the_rows_of_a_made_one(db: None, role: Role) -> None:
    with acting(platform()):
        make_world(role=role)  # what is there once for all
        before = rows()
        with patch.object(builders, "_pour", return_value=None):
            make_world(role=role)
        made, before = added(before), rows()
        make_world(role=role)
        poured = added(before)
    assert sum(map(len, made.values())) > 12
    clearing = AccountKind.OFFLINE_CLEARING.value  # its balance is everybody's
    assert _without(made, clearing) == _without(poured, clearing)


def _without(found: dict[str, list[str]], word: str) -> dict[str, list[str]]:
    return {name: [row for row in here if word not in row] for name, here in found.items()}


def test_what_is_poured_belongs_together(db: None) -> None:
    with acting(platform()):
        make_world()
        world = make_world(balance_fen=700)
        assert Account.objects.get(organisation=world.organisation, kind=AccountKind.CASH).balance_fen == 700
        assert Transfer.objects.get(organisation=world.organisation).credit.kind == AccountKind.CASH
        assert Membership.objects.get(user=world.alice).organisation_id == world.organisation.pk
        assert world.actor.organisation_id == world.organisation.pk
        assert funds.current_price(world.package.pk) is not None
        told = {entry.action: entry for entry in Entry.objects.filter(organisation_id=world.organisation.pk)}
        assert told["billing.top_up"].after["transfer"] == Transfer.objects.get(organisation=world.organisation).pk
        assert told["member.added"].target_id == str(world.alice.pk)


def test_where_somebody_has_set_something_the_services_are_asked(db: None) -> None:
    with acting(platform()):
        make_organisation()
        make_package()
        settings.PlatformSetting.objects.create(key="anything", value={})
        with patch.object(builders.Mould, "pour", side_effect=AssertionError("poured")):
            make_world()
