"""Change an environment: at once if it does not run, by a restart if it does."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.envs import states
from apps.envs.choices import KIND, Step
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.policy import EnvironmentSettings
from apps.envs.services.create import check_cap, check_interval, refuse_editor
from apps.envs.services.mounts import chosen
from apps.envs.services.places import needs_restart, place_columns
from apps.envs.services.secrets import chosen as chosen_secrets
from apps.envs.services.shared import (
    choose_cpu_package,
    clean_name,
    locked,
    log,
    port_rows,
    refuse_binned,
    refuse_busy,
    tell_pages,
)
from apps.registry import selectors as registry
from apps.registry.distribution.holding import hold_image
from apps.registry.models import Image
from apps.secrets.choosing import ChosenSecret
from apps.storage.choosing import Chosen
from apps.tenants import settings
from apps.workloads.choices import Status
from apps.workloads.gpu_idleness import set_gpu_idle
from apps.workloads.launching.submission import choose_package
from apps.workloads.longest import set_longest
from apps.workloads.run_times import RunTimes
from apps.workloads.services import set_cap
from apps.workloads.spec import Port
from apps.workloads.tagging import tag_columns, write_tags
from apps.workloads.time_limits import carried, refuse_above

TIMES = ("expected_s", "longest_s", "gpu_idle_minutes")


class Same:
    """Leave it as it is."""


SAME = Same()


@dataclass(frozen=True, slots=True)
class Change:
    """The new values; omitted ones stay. None means never (idle, snapshots) or none (package without a GPU)."""

    name: str | Same = SAME
    note: str | Same = SAME
    image_id: UUID | Same = SAME
    package_id: int | Same = SAME
    cpu_package_id: int | Same | None = SAME
    without_gpu: bool | Same = SAME
    vscode: bool | Same = SAME
    idle_minutes: int | Same | None = SAME
    snapshot_minutes: int | Same | None = SAME
    mounts: tuple[Chosen, ...] | Same = SAME
    preemptible: bool | Same = SAME
    cap_fen: int | Same | None = SAME
    tags: tuple[str, ...] | Same = SAME
    cluster_id: UUID | Same | None = SAME
    also_ids: tuple[int, ...] | Same = SAME
    secrets: tuple[ChosenSecret, ...] | Same = SAME
    expected_s: int | Same | None = SAME
    longest_s: int | Same | None = SAME
    gpu_idle_minutes: int | Same | None = SAME
    ports: tuple[Port, ...] | Same = SAME

    def named(self) -> dict[str, Any]:
        """Only what is to change."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if not isinstance(value, Same)}


def change(actor: Actor, environment: Environment, wanted: Change, *, restart: bool = False) -> bool:
    """Apply `wanted`. If needed, a running environment is restarted, which `restart` must allow.

    Returns True if it restarts. Raises `Invalid` (with the field), `Conflict`.
    """
    require_own(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        refuse_binned(row)
        values = _checked(actor, row, wanted.named())
        changed = {name: value for name, value in values.items() if getattr(row, name) != value}
        if not changed:
            return False
        live = row.workload is not None and row.workload.is_live
        restarts = live and needs_restart(row, changed)
        if restarts:
            refuse_busy(row)
            if not restart:
                raise Conflict(_("It runs; this change needs a restart."), hint=_("Confirm the restart, or stop it."))
        before = _logged({name: getattr(row, name) for name in changed})
        Environment.objects.filter(pk=row.pk).update(**changed)
        if "image_id" in changed:
            hold_image(Image.objects.get(pk=changed["image_id"]))
        if "cap_fen" in changed and not restarts:
            _cap_what_runs(actor, row, changed["cap_fen"])
        if not restarts:
            _limit_what_runs(actor, row, changed)
        if "tags" in changed and live and row.workload is not None:
            write_tags(row.workload, changed["tags"])
        log(actor, row, "changed", before=before, after=_logged(changed))
        if restarts:
            states.begin(row, Step.RESTART, by_id=actor.user_id, start_after=True)
        tell_pages(row)
        return restarts


def _cap_what_runs(actor: Actor, row: Environment, cap_fen: int | None) -> None:
    """Apply a new cap to the present start too; `Invalid` if that has cost more, or nearly as much."""
    workload = row.workload
    if workload is not None and workload.is_live and workload.status != Status.STOPPING:
        set_cap(actor, workload, cap_fen)


def _limit_what_runs(actor: Actor, row: Environment, changed: Mapping[str, Any]) -> None:
    """Apply new rules of time to the present start too; `Invalid` if it has run for longer, or nearly."""
    workload = row.workload
    if workload is None or not workload.is_live or workload.status == Status.STOPPING:
        return
    if "longest_s" in changed:
        times = carried(row.organisation_id, KIND, RunTimes(longest_s=changed["longest_s"]))
        set_longest(actor, workload, times.longest_s)
    if "gpu_idle_minutes" in changed and workload.frozen_spec.gpu is not None:  # of a start without one, the next
        set_gpu_idle(actor, workload, changed["gpu_idle_minutes"])


def _image(actor: Actor, image_id: UUID) -> Image:
    return registry.choosable_image(actor, image_id, containers=True)


def _logged(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The values for the audit log, without columns that follow from others."""
    return {
        name: str(value) if isinstance(value, UUID) else value for name, value in columns.items() if name != "tag_keys"
    }


def _checked(actor: Actor, row: Environment, wanted: dict[str, Any]) -> Mapping[str, Any]:
    """The columns and their new values."""
    checks: dict[str, Any] = {
        "name": clean_name,
        "note": lambda value: value[:200],
        "image_id": lambda value: row.image_id if value == row.image_id else _image(actor, value).pk,
        "package_id": lambda value: value if value == row.package_id else choose_package(actor, value).pk,
        "cpu_package_id": lambda value: None if value is None else choose_cpu_package(actor, value).pk,
        "idle_minutes": settings.get(EnvironmentSettings).check_idle,
        "snapshot_minutes": check_interval,
        "cap_fen": check_cap,
        "mounts": lambda value: chosen(actor, value),
        "ports": port_rows,
        "secrets": lambda value: chosen_secrets(actor, value),
    }
    values = {name: checks.get(name, lambda value: value)(value) for name, value in wanted.items()}
    values |= place_columns(actor, row, values)
    image = _image(actor, values["image_id"]) if values.get("image_id", row.image_id) != row.image_id else row.image
    refuse_editor(image, values.get("vscode", row.vscode))
    RunTimes(*(values.get(name, getattr(row, name)) for name in TIMES)).check()
    if values.get("longest_s", row.longest_s) != row.longest_s:
        refuse_above(row.organisation_id, KIND, values["longest_s"])
    if "tags" in values:
        values |= tag_columns(values["tags"])
    without = values.get("without_gpu", row.without_gpu)
    if without and values.get("cpu_package_id", row.cpu_package_id) is None:
        raise Conflict(_("Choose a package without a GPU first."), hint=_("It is used while the GPU is detached."))
    return values


def set_gpu(
    actor: Actor, environment: Environment, *, attached: bool, restart: bool, package_id: int | None = None
) -> bool:
    """Attach the GPU again, or go on (or start next) on the package without one; True where it restarts."""
    cpu = SAME if attached or package_id is None else package_id
    return change(actor, environment, Change(without_gpu=not attached, cpu_package_id=cpu), restart=restart)
