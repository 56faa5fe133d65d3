"""Trace files: arrivals as CSV, in the platform's own format or that of Microsoft's Philly trace.

Own format, one task a line, times in UTC, empty for "none": `COLUMNS`. `run_s` empty: nobody has seen its end.
`least_members` empty: it starts with all of its members or not at all.
Philly: timestamp, duration (s), num_gpus, gpu_time, cluster; whole cards, up to eight on one node, more as a gang of
whole nodes, no CPU and no memory, nothing pre-emptible (Jeon et al., ATC'19).
"""

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import TextIO

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.whatif.replaying.limits import MOST_TRACE_TASKS
from scheduler.replay import Arrival
from scheduler.types import Gang, GpuRequest, Mode, Task
from scheduler.validate import problem_with

COLUMNS = (
    "id", "submitted_at", "organisation", "user", "priority", "cpu_milli", "memory_mib", "gpu_mode", "gpu_count",
    "gpu_model", "gpu_core_milli", "gpu_memory_mib", "mig_profile", "members", "least_members", "preemptible", "run_s",
    "startup_s", "gives_up_s", "carried", "fen_per_hour",
)  # fmt: skip
NEEDED = frozenset({"submitted_at", "run_s"})
PHILLY = frozenset({"timestamp", "duration", "num_gpus"})
CARDS = 8
LONGEST_TEXT = 120
LARGEST = 10_000_000_000.0
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One task of a trace and what it pays, in fen an hour (None: nothing is known of a price)."""

    arrival: Arrival
    rate: Decimal | None = None


def read(lines: Iterable[str]) -> list[Line]:
    """All tasks in order of arrival. Raises `Invalid` with the line at fault; nothing is passed over in silence."""
    reader = csv.DictReader(lines)
    parse = _format_of(frozenset(name.strip() for name in reader.fieldnames or ()))
    found: list[Line] = []
    try:
        for row in reader:
            found.append(_line(parse, row, len(found), reader.line_num))
            if len(found) > MOST_TRACE_TASKS:
                raise _wrong(_("A trace has at most %(most)s tasks.") % {"most": f"{MOST_TRACE_TASKS:,}"})
    except csv.Error as error:
        raise _wrong(_("Line %(line)s is no CSV.") % {"line": reader.line_num}) from error
    if not found:
        raise _wrong(_("There is no task in this file."))
    if len({line.arrival.task.id for line in found}) < len(found):
        raise _wrong(_("Two tasks have the same id."))
    return sorted(found, key=lambda line: (line.arrival.task.submitted_at, line.arrival.task.id))


def _format_of(names: frozenset[str]) -> Callable[[Row, int], Line]:
    if names >= PHILLY:
        return _philly
    if names >= NEEDED:
        return _own
    raise _wrong(
        _("The first line must name the columns: submitted_at and run_s at least, or those of the Philly trace.")
    )


def _line(parse: Callable[[Row, int], Line], row: Row, index: int, number: int) -> Line:
    try:
        line = parse({(name or "").strip(): (value or "").strip() for name, value in row.items() if name}, index)
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise _wrong(_("Line %(line)s: %(what)s") % {"line": number, "what": str(error)[:200]}) from error
    problem = problem_with(line.arrival.task)
    if problem is not None:
        raise _wrong(
            _("Line %(line)s asks for what cannot be: %(what)s")
            % {"line": number, "what": problem.params.get("field", "")}
        )
    return line


def _wrong(words: str) -> Invalid:
    return Invalid.field("file", words)


def _philly(row: Row, index: int) -> Line:
    count = int(_number(row, "num_gpus"))
    size = -(-count // CARDS)
    gang = Gang(size) if size > 1 else None
    gpu = GpuRequest(Mode.WHOLE, CARDS if gang else count) if count else None
    task = Task(
        f"job-{index:06d}", _text(row, "cluster"), "", "", 3, _moment(row, "timestamp"), 0, 0, gpu, gang=gang
    )  # fmt: skip
    return Line(Arrival(task, _number(row, "duration")))


def _own(row: Row, index: int) -> Line:
    task = Task(
        id=_text(row, "id") or f"task-{index:06d}",
        organisation=_text(row, "organisation"),
        department="",
        user=_text(row, "user"),
        priority=int(_number(row, "priority", 3)),
        submitted_at=_moment(row, "submitted_at"),
        cpu_milli=int(_number(row, "cpu_milli", 0)),
        memory_mib=int(_number(row, "memory_mib", 0)),
        gpu=_gpu(row),
        preemptible=row.get("preemptible", "1") not in ("0", "false", "no"),
        gang=_gang(row),
    )
    if not 1 <= task.priority <= 5:
        raise ValueError(_("priority must be 1 to 5"))
    run_s = _number(row, "run_s") if row.get("run_s") else math.inf
    gives_up = _number(row, "gives_up_s") if row.get("gives_up_s") else None
    carried = row.get("carried", "") in ("1", "true", "yes")
    arrival = Arrival(task, run_s, _number(row, "startup_s", 0), gives_up, carried)
    return Line(arrival, Decimal(row["fen_per_hour"]) if row.get("fen_per_hour") else None)


def _gang(row: Row) -> Gang | None:
    members = int(_number(row, "members", 1))
    least = int(_number(row, "least_members")) if row.get("least_members") else None
    return Gang(members, least) if members > 1 else None


def _gpu(row: Row) -> GpuRequest | None:
    count = int(_number(row, "gpu_count", 0))
    if not count:
        return None
    return GpuRequest(
        Mode(row.get("gpu_mode") or Mode.WHOLE),
        count,
        _text(row, "gpu_model") or None,
        int(_number(row, "gpu_core_milli", 1000)),
        int(_number(row, "gpu_memory_mib", 0)),
        _text(row, "mig_profile") or None,
    )


def _number(row: Row, name: str, default: float | None = None) -> float:
    text = row.get(name, "")
    if not text and default is not None:
        return float(default)
    value = float(text) if text else math.nan
    if not 0 <= value <= LARGEST:
        raise ValueError(_("%(name)s must be a number of 0 or more") % {"name": name})
    return value


def _text(row: Row, name: str) -> str:
    return row.get(name, "")[:LONGEST_TEXT]


def _moment(row: Row, name: str) -> float:
    when = datetime.fromisoformat(row.get(name, ""))
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def write(lines: Iterable[Line], organisations: Mapping[str, str], users: Mapping[str, str]) -> Iterator[list[object]]:
    """The header and one row for each task, as `read` takes them; keys are replaced by names."""
    yield list(COLUMNS)
    for line in lines:
        yield _cells(line, organisations, users)


def write_csv(out: TextIO, lines: Iterable[Line], organisations: Mapping[str, str], users: Mapping[str, str]) -> None:
    """The trace as CSV."""
    csv.writer(out, lineterminator="\r\n").writerows(write(lines, organisations, users))


def _cells(line: Line, organisations: Mapping[str, str], users: Mapping[str, str]) -> list[object]:
    task, arrival, gpu, gang = line.arrival.task, line.arrival, line.arrival.task.gpu, line.arrival.task.gang
    at = datetime.fromtimestamp(task.submitted_at, UTC).isoformat()
    cards: list[object] = ["", 0, "", "", "", ""]
    if gpu is not None:
        cards = [gpu.mode.value, gpu.count, gpu.model or "", gpu.core_milli, gpu.memory_mib, gpu.profile or ""]
    return [
        task.id, at, organisations.get(task.organisation, task.organisation), users.get(task.user, task.user),
        task.priority, task.cpu_milli, task.memory_mib, *cards, gang.size if gang else 1,
        (gang.minimum if gang else None) or "",
        int(task.preemptible), "" if math.isinf(arrival.run_s) else repr(arrival.run_s), repr(arrival.startup_s),
        "" if arrival.gives_up_s is None else repr(arrival.gives_up_s), int(arrival.carried),
        "" if line.rate is None else line.rate,
    ]  # fmt: skip


def facts(lines: Iterable[Line], most: int = 200) -> dict[str, list[str]]:
    """Names that the trace carries, the most frequent first."""
    organisations, users = Counter[str](), Counter[str]()
    for line in lines:
        organisations[line.arrival.task.organisation] += 1
        users[line.arrival.task.user] += 1
    return {
        "organisations": [name for name, _count in organisations.most_common(most) if name],
        "users": [name for name, _count in users.most_common(most) if name],
    }
