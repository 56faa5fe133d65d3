"""The contract of giving way, as it is shown before launch and while something runs: who may ask it, and how.

Its class follows from what the organisation is guaranteed and uses now, as the scheduler reckons; it may change with
what others of the organisation start and end, so it is derived when it is read.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import Q, Sum

from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Guarantee
from apps.workloads.models import Placement, Workload
from apps.workloads.queueing import policy
from apps.workloads.spec import Spec


class ContractClass(StrEnum):
    GUARANTEED = "guaranteed"
    """Inside its organisation's guarantee: only a higher priority of its own organisation may take its place."""
    OVER_GUARANTEE = "over_guarantee"
    """Beyond the guarantee, or without one: another organisation's guarantee may take it back too."""
    UNINTERRUPTIBLE = "uninterruptible"
    """Asked by nobody."""
    FIRM = "firm"
    """Beyond the guarantee, not to be interrupted: only another organisation's guarantee may take it back."""


@dataclass(frozen=True, slots=True)
class Contract:
    """Seconds: notice until SIGTERM, then the save window until SIGKILL; `min_runtime_s` before it is asked at all.

    What gives way is queued again before others of its priority, and work since its last checkpoint is credited.
    """

    kind: ContractClass
    priority: int
    notice_s: int
    save_window_s: int
    min_runtime_s: int
    requeued_first: bool = True
    credited: bool = True

    @property
    def may_be_asked(self) -> bool:
        return self.kind is not ContractClass.UNINTERRUPTIBLE


def contract_of(workload: Workload) -> Contract:
    """Of work that waits or runs, as things stand now."""
    spec = workload.frozen_spec
    return _contract(_class_of(workload.organisation_id, spec, except_for=workload.pk), workload.priority)


def contract_for(organisation_id: UUID, spec: Spec, *, priority: int) -> Contract:
    """Of work that is about to be submitted."""
    return _contract(_class_of(organisation_id, spec), priority)


def _contract(kind: ContractClass, priority: int) -> Contract:
    rules = policy.rules()
    return Contract(kind, priority, rules.notice_s, rules.save_s, rules.min_runtime_s)


def _class_of(organisation_id: UUID, spec: Spec, *, except_for: UUID | None = None) -> ContractClass:
    if not spec.preemptible:
        return _firmly(organisation_id, spec, except_for)
    inside = _inside(organisation_id, spec, except_for)
    return ContractClass.GUARANTEED if inside else ContractClass.OVER_GUARANTEE


def _firmly(organisation_id: UUID, spec: Spec, except_for: UUID | None) -> ContractClass:
    if policy.rules().firm_over_guarantee or _inside(organisation_id, spec, except_for):
        return ContractClass.UNINTERRUPTIBLE
    return ContractClass.FIRM


def _inside(organisation_id: UUID, spec: Spec, except_for: UUID | None) -> bool:
    """Whether there is room in the organisation's guarantee for it."""
    if not spec.gpu_milli or spec.gpu is None:  # processors are guaranteed to nobody
        return False
    promised, counted = _promise(organisation_id, spec.gpu.model, simulated=spec.simulated)
    used = _used(organisation_id, counted, simulated=spec.simulated, except_for=except_for) if promised else 0
    return used < promised


def _promise(organisation_id: UUID, model: str | None, *, simulated: bool) -> tuple[int, Q]:
    """Thousandths of a card, and which placements count towards them.

    A card counts towards its own model's promise, where there is one, else towards the one over all models.
    """
    rows = Guarantee.objects.filter(
        organisation_id=organisation_id, simulated=simulated, organisation__status=OrganisationStatus.ACTIVE
    )
    promised = dict(rows.values_list("gpu_model", "gpu_milli"))
    if model and model in promised:
        return promised[model], Q(accelerator__model=model)
    return promised.get("", 0), ~Q(accelerator__model__in=[each for each in promised if each])


def _used(organisation_id: UUID, counted: Q, *, simulated: bool, except_for: UUID | None) -> int:
    rows = Placement.objects.filter(
        counted,
        organisation_id=organisation_id,
        released_at__isnull=True,
        accelerator__isnull=False,
        node__cluster__zone__simulated=simulated,
    )
    if except_for is not None:
        rows = rows.exclude(attempt__workload_id=except_for)
    return rows.aggregate(milli=Sum("core_milli"))["milli"] or 0
