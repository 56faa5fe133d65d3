"""Exports for the tests, and what stands in their files."""

import csv
import io

import pytest
from django.test import Client

from apps.billing.export_choices import ExportFormat, ExportKind
from apps.billing.exports import services as exports
from apps.billing.exports import working
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Export
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import User
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_world,
    platform,
)

PAGE, API = "/billing/exports/", "/api/v1/exports/"


@pytest.fixture
def world(db: None) -> World:
    """Alice is the admin; two members' runs have been charged, one of them with a name that a spreadsheet would run."""
    with acting(platform()):
        made = make_world(role=Role.ADMIN)
        bob = make_member(made.organisation, "bob")
        make_charged(made.organisation, made.alice, made.package, 754.25, label="=HYPERLINK(1)")
        make_charged(made.organisation, bob, made.package, 37.7, label="bobs-run")
        return made


def made(world: World, kind: ExportKind, format: ExportFormat = ExportFormat.CSV, user: User | None = None) -> Export:
    """An export that a worker has dealt with."""
    actor = actor_of(user or world.alice, world.organisation)
    with acting(actor):
        asked = exports.request_export(actor, wanted=ExportSpec(kind, format))
    worked()
    return fresh(asked)


def worked() -> int:
    with acting(platform()):
        return working.write_due_exports()


def fresh(export: Export) -> Export:
    with acting(platform()):
        return Export.objects.get(pk=export.pk)


def content(client: Client, export: Export) -> bytes:
    response = client.get(f"{PAGE}{export.pk}/file/")
    assert response.status_code == 200
    return b"".join(response)


def lines(client: Client, export: Export) -> list[dict[str, str]]:
    text = content(client, export).decode()
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
