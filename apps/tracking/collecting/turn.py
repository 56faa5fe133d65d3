"""One turn of reading one run: what it has more, and how far that goes. Nothing is written here."""

import time
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.tracking.collecting.models import Collection, Problem
from apps.tracking.collecting.output import metric_files, opened, output_root
from apps.tracking.collecting.reading.files import FileState, Format, read_file
from apps.tracking.collecting.reading.log import LogReader, LogState
from apps.tracking.collecting.reading.own_patterns import Found
from apps.tracking.collecting.reading.pattern_process import TookTooLong, find
from apps.tracking.collecting.settings import MetricSettings
from apps.tracking.points import Point
from apps.workloads.drivers.base import LogChunk
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import program_at
from apps.workloads.selectors import log_chunk

LOG_BYTES = 1 << 20
FILE_BYTES = 1 << 21
PIECE = 256 * 1024
BUDGET_S = 1.5
"""For one run in one turn: a long log goes on in the next, after the other runs."""
WALK_EVERY = timedelta(seconds=15)
LOG_SOURCE = "log"


@dataclass(slots=True)
class Turn:
    """What was found, by its source, and the columns of the collection after it. `finished`: nothing more will come."""

    found: list[tuple[str, list[Point]]] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=dict)
    finished: bool = False
    more: bool = False


def read_turn(collection: Collection, workload: Workload, asked: MetricSettings) -> Turn:
    """Raises `Unavailable` where its machine cannot be asked."""
    turn = Turn(columns={name: getattr(collection, name) for name in ("attempt", "offset", "log", "progress")})
    if collection.problem == Problem.SLOW_PATTERN:
        turn.columns["problem"] = Problem.SLOW_PATTERN
    deadline = time.monotonic() + BUDGET_S
    ended = not workload.is_live
    log_done = _read_log(turn, workload, asked, deadline, ended=ended)
    _read_output(turn, collection, workload, ended=ended)
    turn.finished = ended and log_done and not turn.more
    return turn


def _read_log(turn: Turn, workload: Workload, asked: MetricSettings, deadline: float, *, ended: bool) -> bool:
    """Whether every attempt was read to its end. Of a gang, the log of rank 0."""
    attempts = list(Attempt.objects.filter(workload=workload).select_related("workload", "node").order_by("number"))
    for attempt in attempts:
        if attempt.number < turn.columns["attempt"]:
            continue
        if attempt.number > turn.columns["attempt"]:
            _begin(turn, attempt.number)
        if not _read_attempt(turn, attempt, asked, deadline):
            return False
    return ended


def _begin(turn: Turn, number: int) -> None:
    """Another attempt has a log of its own; what its epochs count from stays."""
    before = LogState.from_json(turn.columns["log"])
    turn.columns |= {"attempt": number, "offset": 0, "log": LogState(first_epoch=before.first_epoch).as_json()}


def _read_attempt(turn: Turn, attempt: Attempt, asked: MetricSettings, deadline: float) -> bool:
    """Whether its log was read to the end, which is known once it is complete."""
    program, state = program_at(attempt, 0), LogState.from_json(turn.columns["log"])
    reader = LogReader(state, own=partial(_own, turn, asked.patterns) if asked.patterns else None)
    offset, taken, complete = turn.columns["offset"], 0, False
    while not complete and taken < LOG_BYTES and time.monotonic() < deadline:
        chunk = log_chunk(program, offset=offset, limit=PIECE)
        complete = chunk.complete
        points, after = reader.feed(chunk.data, offset, _clock(chunk), ended=complete)
        turn.found.append((LOG_SOURCE, points))
        taken += after - offset
        if after == offset and not complete:
            break
        offset = after
    else:
        turn.more = turn.more or not complete
    turn.columns |= {"offset": offset, "log": state.as_json()}
    if state.progress.at is not None:
        turn.columns["progress"] = progress_json(state)
    return complete


def _own(turn: Turn, patterns: tuple[str, ...], lines: list[str]) -> list[Found]:
    """Patterns that take too long find nothing any more, and the page says so."""
    if turn.columns.get("problem") == Problem.SLOW_PATTERN:
        return [[] for _line in lines]
    try:
        return find(patterns, lines)
    except TookTooLong:
        turn.columns |= {"problem": Problem.SLOW_PATTERN}
        return [[] for _line in lines]


def _clock(chunk: LogChunk) -> Any:
    """When a byte was stored, in Unix seconds: as its machine wrote down, else now."""
    now, offsets = time.time(), [each.offset for each in chunk.times]

    def at(offset: int) -> float:
        place = bisect_right(offsets, offset) - 1
        return min(now, chunk.times[place].unix_ms / 1000) if place >= 0 else now

    return at


def progress_json(state: LogState) -> dict[str, Any]:
    """What pages and lists show of it."""
    found = state.progress
    return {
        **{name: getattr(found, name) for name in ("done", "total", "unit", "epoch", "epochs", "fraction", "at")},
        "left_s": found.left_s,
        "per_s": found.per_s,
    }


def _read_output(turn: Turn, collection: Collection, workload: Workload, *, ended: bool) -> None:
    root, now = output_root(workload), db_now()
    if root is None:
        return
    files: dict[str, dict[str, Any]] = {path: dict(state) for path, state in collection.files.items()}
    if ended or collection.walked_at is None or now - collection.walked_at >= WALK_EVERY:
        turn.columns["walked_at"] = now
        for each in metric_files(root):
            files.setdefault(each.path, {"kind": each.kind.value, "state": FileState().as_json(), "turn": 0})
    deadline = time.monotonic() + BUDGET_S
    # Who was not reached comes first, and one is read in any case.
    for place, path in enumerate(sorted(files, key=lambda path: (files[path]["turn"], path))):
        if place and time.monotonic() > deadline:
            turn.more = True
            break
        files[path]["turn"] = collection.fence
        _read_file(turn, root, path, files[path], ended=ended)
    turn.columns["files"] = files


def _read_file(turn: Turn, root: Path, path: str, known: dict[str, Any], *, ended: bool) -> None:
    state = FileState.from_json(known["state"])
    try:
        with opened(root, path) as file:
            points = read_file(Format(known["kind"]), file, state, most_bytes=FILE_BYTES, ended=ended)
            turn.more = turn.more or (bool(points) and not state.damaged and state.offset + 64 < file.size)
    except NotFound:
        return
    if state.damaged and not known["state"]["damaged"]:
        turn.columns |= {"problem": Problem.DAMAGED, "problem_detail": path[:300]}
    known["state"] = state.as_json()
    turn.found.append((path, points))
