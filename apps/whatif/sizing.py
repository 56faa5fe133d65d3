"""How much a scenario would replay, said before it starts; the same check stands before each start."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.whatif.choices import Hardware, Source
from apps.whatif.models import Trace
from apps.whatif.replaying import past, sample
from apps.whatif.replaying.gather import between, lines_of
from apps.whatif.replaying.limits import LONGEST, MOST_TASKS, expected_s
from apps.whatif.scenario_scope import ScenarioScope

MOST_PLAIN = 2_000


@dataclass(frozen=True, slots=True)
class Size:
    """Tasks in the span, cards of side A, and about how many seconds both sides take."""

    tasks: int
    cards: int
    seconds: float


def size_of(ground: ScenarioScope, start: datetime, end: datetime) -> Size:
    """Raises `Invalid` with the field at fault where it cannot be replayed."""
    _check_hardware(ground)
    _check_span(ground, start, end)
    tasks = _count(ground, start, end)
    if not tasks:
        raise Invalid.field("start", _("Nothing waited or ran in this span, so there is nothing to replay."))
    if tasks > MOST_TASKS:
        words = _("There are %(tasks)s tasks in this span; one scenario may have %(most)s. Choose a shorter span.")
        raise Invalid.field("start", words % {"tasks": f"{tasks:,}", "most": f"{MOST_TASKS:,}"})
    return Size(tasks, sum(len(node.devices) for node in ground.nodes), expected_s(tasks))


def _check_hardware(ground: ScenarioScope) -> None:
    allowed: dict[Source, Callable[[Hardware], bool]] = {
        Source.HISTORY: lambda hardware: hardware is not Hardware.PLAIN,
        Source.SAMPLE: lambda hardware: hardware is Hardware.SIMULATED,
        Source.TRACE: lambda hardware: True,
    }
    if not allowed[ground.source](ground.hardware):
        raise Invalid.field("hardware", _("These arrivals cannot be replayed on this hardware."))
    if ground.source is Source.TRACE and ground.trace is None:
        raise Invalid.field("trace", _("Choose a trace, or upload one first."))
    if ground.hardware is Hardware.PLAIN and not 1 <= ground.plain_nodes <= MOST_PLAIN:
        raise Invalid.field("plain_nodes", _("Give 1 to %(most)s nodes.") % {"most": f"{MOST_PLAIN:,}"})
    if not ground.nodes:
        raise Invalid.field("hardware", _("There is no node to replay on."))


def _check_span(ground: ScenarioScope, start: datetime, end: datetime) -> None:
    if end <= start:
        raise Invalid.field("end", _("The end must be after the start."))
    if end - start > LONGEST:
        raise Invalid.field("start", _("A span has at most %(days)s days.") % {"days": LONGEST.days})
    if ground.from_past and end > db_now():
        raise Invalid.field("end", _("The end must lie in the past."))


def _count(ground: ScenarioScope, start: datetime, end: datetime) -> int:
    if ground.from_past:
        return past.count(start, end, ground.hardware is Hardware.SIMULATED)
    return len(between(lines_of(ground.trace), start, end))


def whole_span(source: Source, trace: Trace | None) -> tuple[datetime, datetime]:
    """What is offered first: the newest week of the platform's past, or a trace from its beginning."""
    if source is Source.HISTORY:
        now = db_now().replace(second=0, microsecond=0)
        return now - timedelta(days=7), now
    if trace is None:
        return sample.START, sample.START + sample.SPAN
    return trace.first_at, min(trace.last_at + timedelta(seconds=1), trace.first_at + LONGEST)
