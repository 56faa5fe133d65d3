"""What the queue's pages have in common: what one looks at, the tabs, the axis of the timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.clusters.models import Accelerator
from apps.common.formatting import duration, moment
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.queue.selectors.focus import Focus, Passed, has_simulated, models
from apps.console.queue.selectors.lanes import Block, Lane, Span
from apps.console.queue.words import cards_words

SMALL_QUEUE, SMALL_FLEET = 2000, 512
# With more models than this, a list to choose from takes the place of the buttons.
BUTTONS = 6
SIMULATED = "simulated"
TABS = ("queue", "queue_cards", "queue_preemptions", "queue_estimates")


def focus_of(request: StaffRequest) -> Focus:
    """From the URL; a model that this world does not have is no model."""
    simulated = request.GET.get("world") == SIMULATED
    model = request.GET.get("model", "")
    return Focus(simulated, model if model and model in models(simulated=simulated) else "")


def query_of(request: StaffRequest, *drop: str) -> str:
    """What the URL asks for, without these names."""
    return urlencode([(name, value) for name, value in request.GET.items() if name not in drop and value])


def words_of(request: StaffRequest) -> str:
    """What is searched for. The database takes no NUL."""
    return request.GET.get("q", "").replace("\x00", "").strip()


def is_small(at: Passed) -> bool:
    """Whether everything can be read while one waits for the page."""
    return at.waiting <= SMALL_QUEUE and Accelerator.objects.count() <= SMALL_FLEET


def frame(request: StaffRequest, focus: Focus, tab: str) -> dict[str, Any]:
    here = models(simulated=focus.simulated)
    return {
        "focus": focus,
        "tabs": _tabs(request, focus, tab),
        "worlds": _worlds(request, focus),
        "models": [("", _("All")), *((name, name) for name in here)] if len(here) > 1 else [],
        "as_buttons": len(here) <= BUTTONS,
        "base": query_of(request, "model", "page", "f", "r"),
        "sees_work": request.actor.may(P.PLATFORM_WORKLOADS_VIEW),
        "sees_tenants": request.actor.may(P.PLATFORM_TENANTS_VIEW),
    }


def _tabs(request: StaffRequest, focus: Focus, current: str) -> list[dict[str, Any]]:
    named = {"queue": _("Queue and shares"), "queue_cards": _("Cards"), "queue_estimates": _("Estimates")}
    if request.actor.may(P.PLATFORM_WORKLOADS_VIEW):
        named["queue_preemptions"] = _("Giving way")
    kept = {"world": SIMULATED if focus.simulated else "", "model": focus.model}
    query = urlencode([(name, value) for name, value in kept.items() if value])
    return [
        {"label": named[name], "url": _url(f"console:{name}", query), "current": name == current}
        for name in TABS
        if name in named
    ]


def _url(name: str, query: str) -> str:
    return reverse(name) + (f"?{query}" if query else "")


def _worlds(request: StaffRequest, focus: Focus) -> list[dict[str, Any]]:
    """The switch between the worlds; none where there is only one."""
    if not has_simulated():
        return []
    return [
        {"label": _("Real"), "url": request.path, "current": not focus.simulated},
        {"label": _("Simulated"), "url": f"{request.path}?world={SIMULATED}", "current": focus.simulated},
    ]


# What the timeline may show, and after how many minutes it has a line.
SPANS = {"1": timedelta(hours=1), "8": timedelta(hours=8), "24": timedelta(hours=24), "72": timedelta(hours=72)}
STEPS = {"1": 10, "8": 60, "24": 180, "72": 720}
# So much of what is known to end or begin has to lie within the span that is chosen by itself.
MOST = 0.8
# A time this near to the right edge has no room for its label.
EDGE_PCT = 95
TONES = {
    Span.RUNS: "is-run",
    Span.MAYBE: "is-run rsv maybe",
    Span.LEAVES: "is-warn",
    Span.KEPT: "is-wait rsv",
    Span.GAP: "is-stop rsv",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """The hours that the timeline shows, from now on."""

    now: datetime
    name: str

    @classmethod
    def of(cls, now: datetime, name: str, lanes: Sequence[Lane]) -> "Axis":
        """The span that was asked for, else the shortest that most of these lanes' changes fit into."""
        changes = [at for lane in lanes for block in lane.blocks for at in (block.start, block.end) if at and at > now]
        fitting = [key for key, span in SPANS.items() if sum(at <= now + span for at in changes) >= MOST * len(changes)]
        own = fitting[0] if changes and fitting else "8"
        return cls(now, name if name in SPANS else own)

    @property
    def length(self) -> timedelta:
        return SPANS[self.name]

    @property
    def step_pct(self) -> float:
        return 100 * timedelta(minutes=STEPS[self.name]) / self.length

    @property
    def ticks(self) -> list[dict[str, Any]]:
        """Round times of the platform's clock."""
        step = timedelta(minutes=STEPS[self.name])
        here = timezone.localtime(self.now)
        day = here.replace(hour=0, minute=0, second=0, microsecond=0)
        first = day + step * ((here - day) // step + 1)
        times = [first + step * n for n in range(self.length // step + 1)]
        return [{"label": moment(at), "left": self.pct(at)} for at in times if self.pct(at) < EDGE_PCT]

    @property
    def first_pct(self) -> float:
        return float(self.ticks[0]["left"]) % self.step_pct

    def pct(self, at: datetime | None) -> float:
        """Where an instant stands, in per cent of the width; None and what lies beyond is the edge."""
        if at is None:
            return 100.0
        return round(min(100.0, max(0.0, 100 * (at - self.now) / self.length)), 2)

    def choices(self, request: StaffRequest) -> list[dict[str, Any]]:
        query = query_of(request, "hours")
        named = {"1": _("1 hour"), "8": _("8 hours"), "24": _("24 hours"), "72": _("3 days")}
        return [
            {"label": label, "url": f"?{query}{'&' if query else ''}hours={name}", "current": name == self.name}
            for name, label in named.items()
        ]

    def lane(self, lane: Lane) -> dict[str, Any]:
        blocks = [self._block(block) for block in lane.blocks]
        return {
            "node": lane.node,
            "cards": cards_words(lane.first, lane.last),
            "model": lane.model,
            "blocks": [block for block in blocks if block["width"] > 0],
        }

    def _block(self, block: Block) -> dict[str, Any]:
        left = self.pct(block.start)
        return {
            "tone": TONES[block.span],
            "span": block.span.value,
            "left": left,
            "width": round(self.pct(block.end) - left, 2),
            "start": block.start,
            "end": block.end,
            "length": duration((block.end - block.start).total_seconds() // 60 * 60) if block.end else "",
            "workloads": block.workloads,
        }
