"""The worker's side: takes a scenario, replays both sides, keeps what came of it. Never touches what it replays."""

import logging
from datetime import timedelta
from threading import Lock
from typing import Any

from django.utils.translation import gettext_noop

from apps.common.errors import DomainError
from apps.whatif import states
from apps.whatif.changes import changes_of
from apps.whatif.models import Scenario
from apps.whatif.replaying.applying import side_b
from apps.whatif.replaying.digest import digest_of
from apps.whatif.replaying.gather import side_a
from apps.whatif.replaying.limits import MOST_TASKS, TIME_LIMIT
from apps.whatif.replaying.material import Material
from apps.whatif.replaying.process import Broken, TakenAway, TooLong, reports_of
from apps.whatif.replaying.summary import summary_of
from apps.whatif.replaying.table import packed
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
    BROKEN: gettext_noop("The replay broke down, most likely for want of memory. Choose a shorter span."),
    LOST: gettext_noop("The worker was stopped three times while it replayed this. Run it again later."),
}  # fmt: skip
_turn = Lock()
log = logging.getLogger(__name__)


class Refused(Exception):
    """It cannot be replayed, with the code that says why."""


def work() -> int:
    """Replay all scenarios that are due; how many. Nothing while another thread of this process is at it."""
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
    if scenario.fence > states.MOST_CLAIMS:
        states.fail(scenario, LOST)
        return
    try:
        _replay(scenario)
    except TakenAway:
        return
    except TooLong:
        states.fail(scenario, TOO_LONG)
    except Broken:
        log.exception("what-if %s broke down", scenario.pk)
        states.fail(scenario, BROKEN)
    except Refused as refusal:
        states.fail(scenario, str(refusal))
    except DomainError as error:
        states.fail(scenario, error.sentences)


def _replay(scenario: Scenario) -> None:
    a = side_a(scenario)
    b = side_b(a, changes_of(scenario.changes))
    _check(a, b)
    reports = reports_of((a, b), lambda done: states.beat(scenario, done), TIME_LIMIT / timedelta(seconds=1))
    states.finish(scenario, _result(a, b, reports), packed(a, b, reports))


def _check(a: Material, b: Material) -> None:
    if not a.arrivals:
        raise Refused(EMPTY)
    if len(a.arrivals) > MOST_TASKS:
        raise Refused(TOO_MANY)
    if not a.nodes or not b.nodes:
        raise Refused(NO_NODES)


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
