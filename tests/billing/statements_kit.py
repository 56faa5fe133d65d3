"""Months for the tests of statements: what is posted is dated by the test, and what ran lies in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.db.models import Model, Value

from apps.billing import services
from apps.billing.ledger import services as ledger
from apps.billing.ledger.services import INSERT
from apps.billing.models import RatingRun, Statement, VoucherUse
from apps.billing.months import Month
from apps.billing.statements import services as statements
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM

OCTOBER, NOVEMBER = Month("2026-10"), Month("2026-11")
MIDDLE = OCTOBER.start + timedelta(days=14, hours=12)


@contextmanager
def posted_at(moment: datetime, *, run: datetime | None = None) -> Iterator[None]:
    """Movements of this block are dated `moment`, rating runs `run` or the same; the database does it otherwise."""
    written = INSERT.replace("actor_label\n)", "actor_label, at\n)").replace("%s)", f"%s, '{moment.isoformat()}')")
    posting = patch.object(ledger, "INSERT", written)
    with posting, _dated(RatingRun, run or moment), _dated(VoucherUse, run or moment):
        yield


def _dated(model: type[Model], moment: datetime) -> Any:
    return patch.object(model._meta.get_field("at"), "_get_default", lambda: Value(moment))


def rate(organisation: Organisation, until: datetime) -> None:
    services.rate_organisation(PLATFORM, organisation_id=organisation.pk, until=until)


def build(organisation: Organisation, month: Month = OCTOBER, *, complete: bool = True) -> Statement:
    now = month.complete_at if complete else month.end
    return statements.build(PLATFORM, organisation_id=organisation.pk, month=month, now=now)
