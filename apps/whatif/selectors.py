"""Reading scenarios and traces. They belong to the platform; staff who may see its nodes may see them."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.db.models import IntegerField, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.whatif.models import Scenario, ScenarioTasks, Trace
from apps.whatif.replaying import past, traces
from apps.whatif.replaying.limits import LONGEST
from apps.whatif.replaying.table import MONEY, drop_columns

# Fewer than this tell nothing about a queue.
ENOUGH = 20


def scenarios(actor: Actor) -> QuerySet[Scenario]:
    """Newest first."""
    actor.require(P.PLATFORM_NODES_VIEW)
    return Scenario.objects.select_related("trace").defer("trace__content", "trace__facts").order_by("-created_at")


def listed(actor: Actor) -> QuerySet[Scenario]:
    """As lists show them: `task_count` instead of the figures."""
    counted = scenarios(actor).annotate(task_count=Cast(KT("result__tasks"), IntegerField()))
    return counted.defer("result", "trace__content", "trace__facts")


def scenario(actor: Actor, scenario_id: UUID) -> Scenario:
    found = scenarios(actor).filter(pk=scenario_id).first()
    if found is None:
        raise NotFound
    return found


def tasks_csv(actor: Actor, scenario_id: UUID) -> bytes:
    """UTF-8 CSV of every task on both sides; `NotFound` until it is done. Money only for those who may see it."""
    actor.require(P.PLATFORM_NODES_VIEW)
    found = ScenarioTasks.objects.filter(scenario_id=scenario_id).first()
    if found is None:
        raise NotFound
    return drop_columns(bytes(found.content), () if actor.may(P.PLATFORM_FINANCE_VIEW) else MONEY)


def trace_list(actor: Actor) -> QuerySet[Trace]:
    actor.require(P.PLATFORM_NODES_VIEW)
    return Trace.objects.defer("content").order_by("-created_at")


def trace(actor: Actor, trace_id: UUID) -> Trace:
    found = trace_list(actor).filter(pk=trace_id).first()
    if found is None:
        raise NotFound
    return found


def has_past(actor: Actor, *, simulated: bool) -> bool:
    """Whether the platform's last month holds enough to say something."""
    actor.require(P.PLATFORM_NODES_VIEW)
    now = db_now()
    return past.workloads_within(now - LONGEST, now + timedelta(minutes=1), simulated)[:ENOUGH].count() >= ENOUGH


def past_as_trace(actor: Actor, *, days: int, simulated: bool) -> Iterator[list[object]]:
    """The platform's last days as a trace, header first, in the format that `add_trace` reads."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    now = db_now()
    found = past.past_between(now - timedelta(days=days), now, simulated)
    prices = found.rates if actor.may(P.PLATFORM_FINANCE_VIEW) else {}
    lines = (traces.Line(arrival, prices.get(arrival.task.id)) for arrival in found.arrivals)
    return traces.write(lines, found.organisations, found.users)
