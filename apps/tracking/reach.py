"""Which tracked runs a request reaches: those of workloads that its person sees, or a program's own."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.tracking.artifacts import RunEnded
from apps.tracking.models import TrackedRun
from apps.tracking.run_tokens import RunGrant
from apps.workloads import kinds
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.permissions import may_change


@dataclass(frozen=True, slots=True)
class Reach:
    """`grant`: of a program that speaks of its own run; None for people."""

    actor: Actor
    grant: RunGrant | None = None

    def runs(self) -> "QuerySet[TrackedRun]":
        rows = TrackedRun.objects.filter(deleted_at__isnull=True).select_related("workload", "workload__owner")
        if self.grant is not None:
            return rows.filter(workload_id=self.grant.workload_id)
        seen = workloads.bare(self.actor).order_by().values("pk")
        found: QuerySet[TrackedRun] = rows.filter(workload_id__in=seen)
        return found

    def readable(self, run_id: UUID) -> UUID:
        """The id of a run that may be read, whether or not it has said anything yet; raises `NotFound`."""
        if self.runs().filter(pk=run_id).exists() or self.workload(run_id) is not None:
            return run_id
        raise NotFound

    def writable(self, run_id: UUID) -> UUID:
        """The id of a run that may be written to: a program's own, and people's as they may change the work."""
        workload = self.workload_of(run_id)
        if self.grant is None:
            may_change(self.actor, workload)
        return run_id

    def workload_of(self, run_id: UUID) -> Workload:
        """The workload of a run, or of a run nested in it, that may be read; raises `NotFound`."""
        run = self.runs().filter(pk=run_id).first()
        workload = run.workload if run is not None else self.workload(run_id)
        if workload is None:
            raise NotFound
        return workload

    def admit_files(self, workload: Workload) -> None:
        """Raise unless files may be added to the output: by its program while its attempt lives, or by its owner.

        Nobody else, whatever they manage: what a run loads from its output runs in its owner's name.
        """
        if self.grant is not None:
            if not Attempt.objects.filter(pk=self.grant.attempt_id, ended_at=None).exists():
                raise RunEnded
            return
        may_change(self.actor, workload)
        if workload.owner_id != self.actor.user_id:
            raise Denied(kinds.kind_of(workload).rights.use)
        if not Workload.objects.filter(pk=workload.pk, status__in=(Status.RUNNING, Status.STOPPING)).exists():
            raise RunEnded

    def workload(self, workload_id: UUID) -> Workload | None:
        if self.grant is not None and self.grant.workload_id != workload_id:
            return None
        found: Workload | None = workloads.bare(self.actor).filter(pk=workload_id).first()
        return found
