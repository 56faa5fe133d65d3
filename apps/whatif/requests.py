"""Requests of what-if's pages, and what is read from their query strings."""

from secrets import token_hex

from django.http import HttpRequest, QueryDict

from apps.common.actor import Actor
from apps.whatif import selectors
from apps.whatif.choices import ChangeKind, Hardware, Source
from apps.whatif.forms import ChangeForm
from apps.whatif.models import Scenario, Trace
from apps.whatif.replaying.limits import MOST_CHANGES
from apps.whatif.scenario_scope import ScenarioScope, uuid_of

DEFAULT_PLAIN = 80


class StaffRequest(HttpRequest):
    """As `common.access.requires` hands it over; the attribute is set there."""

    actor: Actor


def scope_of(actor: Actor, asked: QueryDict) -> ScenarioScope:
    """From `source`, `hardware`, `trace` and `plain_nodes`, with sensible defaults for missing or unknown values."""
    source = _source(actor, asked.get("source", ""))
    trace = _trace(actor, asked.get("trace", "")) if source is Source.TRACE else None
    plain = asked.get("plain_nodes", "")
    count = int(plain) if plain.isdecimal() and len(plain) < 7 else DEFAULT_PLAIN
    return ScenarioScope(actor, source, _hardware(source, asked.get("hardware", "")), count, trace)


def ground_of_scenario(actor: Actor, scenario: Scenario) -> ScenarioScope:
    hardware = Hardware(scenario.hardware)
    return ScenarioScope(actor, Source(scenario.source), hardware, scenario.plain_nodes, scenario.trace)


def _source(actor: Actor, text: str) -> Source:
    if text in Source.values:
        return Source(text)
    return Source.HISTORY if selectors.has_past(actor, simulated=False) else Source.SAMPLE


def hardware_for(source: Source) -> tuple[Hardware, ...]:
    """Hardware on which the arrivals of a source can be replayed; the first is the default."""
    if source is Source.SAMPLE:
        return (Hardware.SIMULATED,)
    usual = (Hardware.REAL, Hardware.SIMULATED)
    return usual if source is Source.HISTORY else (Hardware.PLAIN, *usual)


def _hardware(source: Source, text: str) -> Hardware:
    allowed = hardware_for(source)
    return Hardware(text) if text in allowed else allowed[0]


def _trace(actor: Actor, text: str) -> Trace | None:
    pk = uuid_of(text)
    return None if pk is None else selectors.trace(actor, pk)


def new_row(kind: ChangeKind, ground: ScenarioScope, typed: dict[str, str] | None = None) -> ChangeForm:
    """An empty row, or one that holds what an earlier scenario had."""
    return ChangeForm(kind, ground, prefix=f"{kind.value}-{token_hex(4)}", initial=typed)


def rows_of(posted: QueryDict, ground: ScenarioScope) -> list[ChangeForm]:
    """The rows that were sent, each under a prefix that names its kind, in the order of the page."""
    rows = []
    for prefix in posted.getlist("change")[: MOST_CHANGES + 1]:
        kind = prefix.rpartition("-")[0]
        if kind in ChangeKind.values:
            rows.append(ChangeForm(ChangeKind(kind), ground, posted, prefix=prefix))
            rows[-1].is_valid()
    return rows
