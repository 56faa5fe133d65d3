"""What the last run says about each package of a launch form: whether it would be enough for the next one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.billing.models import Package
from apps.common.formatting import gpu_memory, memory
from apps.workloads import selectors
from apps.workloads.fit.peaks import Held, Peaks, held_by, needs, peaks_of, size_of
from apps.workloads.fit.smaller import LONG_ENOUGH_S
from apps.workloads.models import Attempt, Workload


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of one package. `fits`: it holds at least what the last run used at most."""

    words: str
    fits: bool


def hints_after(before: Workload | None, packages: Iterable[Package]) -> dict[int, Hint]:
    """As `hints`, of the last run whose settings a form begins with; nothing without one."""
    return hints(before, selectors.attempts(before), packages) if before is not None else {}


def hints(workload: Workload, attempts: Sequence[Attempt], packages: Iterable[Package]) -> dict[int, Hint]:
    """By package id, for those that the last run speaks about; nothing after a run too short to judge."""
    peaks, held = peaks_of(attempts), held_by(workload, attempts)
    if peaks.ran_s < LONG_ENOUGH_S:
        return {}
    said = ((package.pk, _hint(package, peaks, held)) for package in packages)
    return {key: hint for key, hint in said if hint is not None}


def _hint(package: Package, peaks: Peaks, held: Held) -> Hint | None:
    size = size_of(package, held.card_memory_mib)
    if peaks.memory_mib is not None and size.memory_mib < peaks.memory_mib:
        words = _("Last time it used %(peak)s of memory: does not fit.")
        return Hint(words % {"peak": memory(peaks.memory_mib)}, fits=False)
    if peaks.gpu_memory_mib is None or not held.model or package.gpu_model != held.model:
        return None
    peak = {"peak": gpu_memory(peaks.gpu_memory_mib)}
    if size.gpu_memory_mib < peaks.gpu_memory_mib:
        return Hint(_("Last time it used %(peak)s of GPU memory: does not fit.") % peak, fits=False)
    if size.gpu_memory_mib < needs(peaks, held.size).gpu_memory_mib:
        return Hint(_("Last time it used %(peak)s of GPU memory: a tight fit.") % peak, fits=True)
    return Hint(_("Last time it used %(peak)s of GPU memory: fits.") % peak, fits=True)
