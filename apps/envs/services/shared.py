"""What every write to an environment needs: its locked row, its line in the log, the checks of what was typed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.live import organisation_group, publish_on_commit, workload_group
from apps.envs.choices import KIND, StepStatus
from apps.envs.models import Environment, Operation
from apps.envs.program import PORTS
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.submission import choose_package
from apps.workloads.offers.quoting import resources_of
from apps.workloads.ports.declaring import as_rows, checked, from_rows
from apps.workloads.spec import Port
from apps.workloads.validation import refuse_nonsense

LONGEST_NAME = 60


def locked(environment: Environment) -> Environment:
    """The row as it stands, kept from others until the transaction ends; `NotFound` once it is gone for good."""
    rows: QuerySet[Environment] = Environment.objects.select_for_update(of=("self",)).filter(pk=environment.pk)
    row = rows.select_related("workload", "image", "package", "cpu_package", "home", "owner").first()
    if row is None:
        raise NotFound
    return row


def refuse_binned(environment: Environment) -> None:
    if environment.deleted_at is not None:
        raise Conflict(_("It is in the recycle bin."), hint=_("Restore it first."))


def refuse_busy(environment: Environment) -> None:
    """`Conflict` while an operation is under way: it would start or change what that one is about to use."""
    waiting = Operation.objects.filter(environment=environment, status=StepStatus.WAITING).first()
    if waiting is not None:
        raise Conflict(
            _("Something else is being done to this environment: %(what)s.") % {"what": waiting.get_step_display()},
            hint=_("Try again when that has ended."),
        )


def clean_name(name: str) -> str:
    return clean_launch_name(name, longest=LONGEST_NAME, missing=_("Give the environment a name."))


def launch_of(environment: Environment, *, key: str = "") -> Launch:
    """What each of its starts asks."""
    return Launch(
        name=environment.name,
        image_id=environment.image_id,
        package_id=environment.package_id,
        key=key,
        note=environment.note,
        preemptible=environment.preemptible,
        cluster_id=environment.cluster_id,
        also_ids=tuple(environment.also_packages),
        cap_fen=environment.cap_fen,
        tags=tuple(environment.tags),
        expected_s=environment.expected_s,
        longest_s=environment.longest_s,
        gpu_idle_minutes=environment.gpu_idle_minutes,
        ports=from_rows(environment.ports),
    )


def check_cluster(actor: Actor, package: Package, cluster_id: UUID | None) -> UUID | None:
    """None for any. Raises `Invalid` where it is gone, of others, or not where the package is for."""
    if cluster_id is not None:
        refuse_nonsense(replace(resources_of(package), cluster=str(cluster_id)), actor.organisation())
    return cluster_id


def port_rows(ports: Sequence[Port]) -> list[dict[str, Any]]:
    """Ports of its own, beside those of its tools. Raises `Invalid`, also for members that an environment has not."""
    return as_rows(checked(ports, PORTS, members=1))


def choose_cpu_package(actor: Actor, package_id: int) -> Package:
    package = choose_package(actor, package_id, field="cpu_package")
    if package.gpu_count:
        raise Invalid.field("cpu_package", _("Choose a package without a GPU for working without one."))
    return package


def log(
    actor: Actor,
    environment: Environment,
    action: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    record(
        actor,
        action=f"environment.{action}",
        target=Target("environment", str(environment.pk), environment.name),
        organisation_id=environment.organisation_id,
        before=before,
        after=after,
    )


def tell_pages(environment: Environment) -> None:
    """Something about it changed that is no event of its workload: pages that show it look again."""
    groups = [organisation_group(environment.organisation_id)]
    if environment.workload_id is not None:
        groups.append(workload_group(environment.workload_id))
    message = {"type": "workload.event", "id": 0, "workload": str(environment.workload_id), "kind": "environment"}
    whose = {"about": str(environment.pk), "of": KIND, "owner": environment.owner_id}
    publish_on_commit(groups, {**message, "status": "", **whose})
