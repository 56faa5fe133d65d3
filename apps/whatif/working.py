"""The worker's side: claim a scenario, replay both sides, store the result. It never changes what it replays."""

import logging
from datetime import timedelta
from threading import Lock
from typing import Any

from django.utils.translation import gettext_noop

from apps.common.claiming import MOST_CLAIMS
from apps.common.errors import DomainError
from apps.whatif import states
from apps.whatif.changes import changes_of
from apps.whatif.models import Scenario
from apps.whatif.replaying.applying import side_b
from apps.whatif.replaying.digest import digest_of
from apps.whatif.replaying.gather import side_a
from apps.whatif.replaying.limits import MOST_TASKS, TIME_LIMIT
from apps.whatif.replaying.material import Material
from apps.whatif.replaying.process import ClaimLost, ProcessFailed, TimeLimitExceeded, reports_of
from apps.whatif.replaying.summary import summary_of
from apps.whatif.replaying.table import pack_table
from scheduler.replay import Report

# Codes of what can go wrong; `words` says them.
EMPTY = "empty"
NO_NODES = "no_nodes"
TOO_MANY = "too_many"
TOO_LONG = "too_long"
BROKEN = "broken"
LOST = "lost"
FAILURES = {
    EMPTY: gettext_noop("Nothing waited or ran in this span, so there is nothing to replay."),
    NO_NODES: gettext_noop("There is no node on one of the sides."),
    TOO_MANY: gettext_noop("There are more tasks in this span than one scenario may have."),
    TOO_LONG: gettext_noop("The replay took longer than one scenario may. Choose a shorter span."),
    BROKEN: gettext_noop("The replay broke down, most likely for lack of memory. Choose a shorter span."),
    LOST: gettext_noop("The worker was stopped three times while it replayed this. Run it again later."),
}  # fmt: skip
_turn = Lock()
log = logging.getLogger(__name__)


class CannotReplay(Exception):
    """The scenario cannot be replayed; carries the code that says why."""


def replay_due_scenarios() -> int:
    """Replay all due scenarios and return how many; 0 while another thread of this process is doing so."""
    count = 0
    if not _turn.acquire(blocking=False):
        return count
    try:
        while (scenario := states.claim()) is not None:
            _do(scenario)
            count += 1
    finally:
        _turn.release()
    return count


def _do(scenario: Scenario) -> None:
    if scenario.fence > MOST_CLAIMS:
        states.fail(scenario, LOST)
        return
    try:
        _replay(scenario)
    except ClaimLost:
        return
    except TimeLimitExceeded:
        states.fail(scenario, TOO_LONG)
    except ProcessFailed:
        log.exception("what-if %s broke down", scenario.pk)
        states.fail(scenario, BROKEN)
    except CannotReplay as refusal:
        states.fail(scenario, str(refusal))
    except DomainError as error:
        states.fail(scenario, error.sentences)


def _replay(scenario: Scenario) -> None:
    a = side_a(scenario)
    b = side_b(a, changes_of(scenario.changes))
    _check(a, b)
    reports = reports_of((a, b), lambda done: states.report_progress(scenario, done), TIME_LIMIT / timedelta(seconds=1))
    states.finish(scenario, _result(a, b, reports), pack_table(a, b, reports))


def _check(a: Material, b: Material) -> None:
    if not a.arrivals:
        raise CannotReplay(EMPTY)
    if len(a.arrivals) > MOST_TASKS:
        raise CannotReplay(TOO_MANY)
    if not a.nodes or not b.nodes:
        raise CannotReplay(NO_NODES)


def _result(a: Material, b: Material, reports: list[Report]) -> dict[str, Any]:
    return {
        "tasks": len(a.arrivals),
        "carried": sum(arrival.carried for arrival in a.arrivals),
        "guessed": a.guessed,
        "left_out": a.left_out,
        "priced": bool(a.rates),
        "nodes": [len(a.nodes), len(b.nodes)],
        "digest": digest_of(a.arrivals),
        "a": summary_of(reports[0], a).as_json(),
        "b": summary_of(reports[1], b).as_json(),
    }
