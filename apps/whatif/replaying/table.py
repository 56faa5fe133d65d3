"""All tasks on both sides as CSV: both have the same input, so each line compares a task with itself."""

import csv
import gzip
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from apps.common.money import FEN_PER_YUAN
from apps.whatif.replaying.material import Material
from apps.whatif.replaying.summary import cards_milli, revenue
from scheduler.replay import Record, Report

HEADER = (
    "task", "organisation", "user", "priority_a", "priority_b", "gpu", "cards", "submitted_at", "carried", "run_s",
    "wait_a_s", "wait_b_s", "difference_s", "started_a", "started_b", "fate_a", "fate_b", "evictions_a", "evictions_b",
    "ran_a_s", "ran_b_s", "yuan_a", "yuan_b",
)  # fmt: skip
MONEY = ("yuan_a", "yuan_b")
# Spreadsheets run cells that begin with these as formulas.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def pack_table(a: Material, b: Material, reports: Sequence[Report]) -> bytes:
    """gzip of UTF-8 CSV; the same bytes for the same input."""
    return gzip.compress(csv_text([HEADER, *_rows(a, b, reports)]).encode(), mtime=0)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """CSV for spreadsheets; a quote precedes what could begin a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return text.getvalue()


def drop_columns(content: bytes, columns: Iterable[str]) -> bytes:
    """The packed table as CSV, these columns left out."""
    hidden = set(columns)
    rows = csv.reader(io.StringIO(gzip.decompress(content).decode(), newline=""))
    header = next(rows)
    kept = [index for index, name in enumerate(header) if name not in hidden]
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([row[i] for i in kept] for row in [header, *rows])
    return text.getvalue().encode()


def _rows(a: Material, b: Material, reports: Sequence[Report]) -> Iterator[list[object]]:
    sides = [{record.task.id: record for record in (*report.records, *report.unfinished)} for report in reports]
    money = [revenue(list(side.values()), m.rates) for side, m in zip(sides, (a, b), strict=True)]
    for arrival in a.arrivals:
        task = arrival.task.id
        first, second = sides[0][task], sides[1][task]
        yield _row(a, arrival.run_s, (first, second), (money[0].get(task), money[1].get(task)))


def _row(
    material: Material, run_s: float, both: tuple[Record, Record], money: tuple[Decimal | None, Decimal | None]
) -> list[object]:
    one, other = both
    task = one.task
    waits: list[object] = ["", "", ""]
    if not one.carried:
        waits = [f"{one.wait_s:.1f}", f"{other.wait_s:.1f}", f"{other.wait_s - one.wait_s:.1f}"]
    return [
        task.id, material.organisations.get(task.organisation, task.organisation),
        material.users.get(task.user, task.user), task.priority, other.task.priority, _gpu(one),
        cards_milli(one) / 1000, _moment(task.submitted_at), int(one.carried),
        "" if math.isinf(run_s) else f"{run_s:.1f}", *waits, _moment(one.started_at), _moment(other.started_at),
        one.fate.value, other.fate.value, one.evictions, other.evictions, f"{one.ran_s:.1f}", f"{other.ran_s:.1f}",
        *(_yuan(fen) for fen in money),
    ]  # fmt: skip


def _gpu(record: Record) -> str:
    gpu = record.task.gpu
    if gpu is None:
        return ""
    members = record.task.gang.size if record.task.gang else 1
    words = (str(gpu.count * members), gpu.model or "", gpu.mode.value, gpu.profile or "")
    return " ".join(word for word in words if word)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if math.isfinite(at) else ""


def _yuan(fen: Decimal | None) -> str:
    return "" if fen is None else f"{fen / FEN_PER_YUAN:.6f}"


def _safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
