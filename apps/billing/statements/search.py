"""Statements, found by number (ST-202611-000042), by month or, in the console, by organisation."""

import re

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import StatementState
from apps.billing.statements.selectors import statements
from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import Row, Rows, Source
from apps.common.money import yuan
from apps.common.permissions import Permission

NUMBER = re.compile(r"st-?([0-9]{4})([0-9]{2})-?([0-9]{1,9})")


def _number(query: Query) -> Q | None:
    found = NUMBER.fullmatch(query.text)
    return Q(period=f"{found[1]}-{found[2]}", serial=int(found[3])) if found else None


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = f"{yuan(row['total_fen'])} · {StatementState(row['state']).label}"
    if not actor.platform:
        return row["period"], sub, reverse("billing:bill", args=[row["pk"]])
    return f"{row['organisation__name']} {row['period']}", sub, reverse("console:statement", args=[row["pk"]])


STATEMENTS = Source(
    name="statements",
    label=_("Statements"),
    icon="file-text",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=statements,
        hit=_hit,
        fields=("period", "organisation__name"),
        more=("total_fen", "state"),
        newest="built_at",
        exact=_number,
    ),
)
