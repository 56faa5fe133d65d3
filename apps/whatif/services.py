"""What staff do with scenarios and traces. Nothing here, or in what it starts, writes a row of the platform's work."""

import gzip
import io
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common import nudges
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission as P
from apps.common.text import clean_name
from apps.whatif import selectors, states
from apps.whatif.changes import Change
from apps.whatif.choices import Hardware, ScenarioStatus, Source
from apps.whatif.models import Scenario, Trace
from apps.whatif.replaying import traces
from apps.whatif.replaying.limits import LARGEST_FILE
from apps.whatif.scenario_scope import ScenarioScope
from apps.whatif.sizing import size_of

MOST_WAITING = 20


@dataclass(frozen=True, slots=True)
class ScenarioSpec:
    """The specification of a scenario; its changes have been parsed against `ground`."""

    name: str
    ground: ScenarioScope
    start: datetime
    end: datetime
    changes: tuple[Change, ...]


def create(actor: Actor, wanted: ScenarioSpec) -> Scenario:
    """Queue a scenario; a worker takes it within seconds. Raises `Invalid` with the fields at fault, `Conflict`."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    name = clean_name(wanted.name)
    if not 1 <= len(name) <= 120:
        raise Invalid.field("name", _("Give a name of 1 to 120 characters."))
    size_of(wanted.ground, wanted.start, wanted.end)
    with transaction.atomic():
        if selectors.scenarios(actor).filter(status=ScenarioStatus.QUEUED).count() >= MOST_WAITING:
            raise Conflict(_("Too many scenarios are waiting already."), hint=_("Cancel some, or wait."))
        ground = wanted.ground
        scenario = Scenario.objects.create(
            name=name,
            source=ground.source,
            trace=ground.trace if ground.source is Source.TRACE else None,
            hardware=ground.hardware,
            plain_nodes=ground.plain_nodes if ground.hardware is Hardware.PLAIN else 0,
            start=wanted.start,
            end=wanted.end,
            changes=[change.as_json() for change in wanted.changes],
            owner_id=actor.user_id,
            made_by=actor.label[:200],
        )
        record(actor, action="whatif.started", target=_target(scenario), after={"changes": scenario.changes})
        transaction.on_commit(_nudge, robust=True)
    scenario.refresh_from_db()
    return scenario


def cancel(actor: Actor, scenario_id: UUID) -> Scenario:
    """Raises `Conflict` for one that has ended."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    scenario = selectors.scenario(actor, scenario_id)
    with transaction.atomic():
        if not states.cancel(scenario):
            raise Conflict(_("This scenario has ended already."))
        record(actor, action="whatif.cancelled", target=_target(scenario))
    scenario.refresh_from_db()
    return scenario


def delete(actor: Actor, scenario_id: UUID) -> None:
    """Raises `Conflict` for one that is still to be replayed."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    scenario = selectors.scenario(actor, scenario_id)
    with transaction.atomic():
        locked = Scenario.objects.select_for_update().get(pk=scenario.pk)
        if locked.is_open:
            raise Conflict(_("This scenario is being replayed."), hint=_("Cancel it first."))
        record(actor, action="whatif.deleted", target=_target(scenario))
        locked.delete()


def add_trace(actor: Actor, *, name: str, content: bytes) -> Trace:
    """Read, check and keep a trace file. Raises `Invalid` with the line at fault; nothing is kept then."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    if len(content) > LARGEST_FILE:
        raise Invalid.field("file", _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1_000_000})
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid.field("file", _("The file is not UTF-8 text.")) from error
    lines = traces.read(io.StringIO(text))
    with transaction.atomic():
        trace = Trace.objects.create(
            name=clean_name(name)[:80] or _("Trace"),
            content=gzip.compress(_own_format(lines).encode(), mtime=0),
            tasks=len(lines),
            first_at=datetime.fromtimestamp(lines[0].arrival.task.submitted_at, UTC),
            last_at=datetime.fromtimestamp(lines[-1].arrival.task.submitted_at, UTC),
            facts=traces.facts(lines),
            made_by=actor.label[:200],
        )
        record(actor, action="whatif.trace_added", target=_target(trace), after={"tasks": trace.tasks})
    trace.refresh_from_db()
    return trace


def delete_trace(actor: Actor, trace_id: UUID) -> None:
    """Raises `Conflict` while scenarios replay it or have replayed it, because their figures depend on it."""
    actor.require(P.PLATFORM_NODES_MANAGE)
    trace = selectors.trace(actor, trace_id)
    with transaction.atomic():
        if trace.scenarios.exists():
            raise Conflict(_("Scenarios have replayed this trace."), hint=_("Delete them first."))
        record(actor, action="whatif.trace_deleted", target=_target(trace))
        trace.delete()


def _own_format(lines: list[traces.Line]) -> str:
    text = io.StringIO()
    traces.write_csv(text, lines, {}, {})
    return text.getvalue()


def _target(row: Scenario | Trace) -> Target:
    return Target("scenario" if isinstance(row, Scenario) else "trace", str(row.pk), row.name)


def _nudge() -> None:
    nudges.send("whatif.work")
