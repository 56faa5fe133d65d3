"""A run made by a colleague from the passport of another: their own from the start, with what they may have of it.

Who may see the run itself, or finds its code shared, gets the code. Values of variables, secrets, checkpoints and what
is mounted follow the rights of who forks; `missing` names what they do not get.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.storage.choosing import DATASETS, VOLUMES, Chosen, chosen_mounts, mounts_of
from apps.training import selectors
from apps.training.continuing import continuation_of
from apps.training.models import Run


def forked(actor: Actor, run_id: UUID | None) -> Run | None:
    """Any run of the actor's organisation, as its passport. Raises `NotFound`."""
    return None if run_id is None else selectors.of_organisation(actor, run_id)


def sees(actor: Actor, run: Run) -> bool:
    """Whether the actor sees the run itself, and not only its passport."""
    return selectors.runs(actor).filter(pk=run.pk).exists()


def takes_code(actor: Actor, run: Run) -> bool:
    return run.code_shared or sees(actor, run)


def share_code(actor: Actor, run: Run, *, shared: bool) -> None:
    """Let colleagues fork it with its code, or not any more. Its owner decides that alone; `NotFound` for others."""
    actor.require(Permission.TRAINING_SUBMIT)
    if run.owner_id != actor.user_id:
        raise NotFound
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk).exclude(code_shared=shared).update(code_shared=shared):
            record(
                actor,
                action="run.code_shared",
                organisation_id=run.organisation_id,
                target=Target("run", str(run.pk), run.name),
                before={"code_shared": not shared},
                after={"code_shared": shared},
            )
    run.code_shared = shared


def usable_mounts(actor: Actor, run: Run) -> tuple[Chosen, ...]:
    """Of its volumes and dataset versions, those that the actor may mount."""
    return tuple(each for each in chosen_mounts(run.workload.frozen_spec.mounts) if _may_mount(actor, each))


def _may_mount(actor: Actor, chosen: Chosen) -> bool:
    try:
        return bool(mounts_of(actor, (chosen,)))
    except Invalid:
        return False


def missing(actor: Actor, run: Run, *, image_ids: Collection[UUID], package_ids: Collection[int]) -> list[str]:
    """What the fork does not get, in sentences that say what to do. Nothing that the passport does not show."""
    told, package, secrets = [], run.workload.package, len(run.workload.frozen_spec.secrets)
    if run.image_id not in image_ids:
        told.append(_("You may not use its image %(name)s: choose another one.") % {"name": run.image.name})
    if package.pk not in package_ids:
        words = _("You are not offered its package %(name)s: choose another one.")
        told.append(words % {"name": package.name(get_language() or "")})
    if not takes_code(actor, run):
        told.append(_("Its code is not shared: upload yours. The digest in its passport says whether it is the same."))
    if run.environment and not sees(actor, run):
        names = ", ".join(name for name, _value in run.environment)
        told.append(_("Values of its variables are not shown, fill in yours: %(names)s.") % {"names": names})
    if secrets:
        words = ngettext(
            "It was given %(n)s secret: choose your own.", "It was given %(n)s secrets: choose your own.", secrets
        )
        told.append(words % {"n": secrets})
    if lost := _lost_mounts(actor, run):
        told.append(_("You may not use what it mounted: %(names)s.") % {"names": ", ".join(lost)})
    if continuation_of(run) is not None:
        told.append(_("It went on from a checkpoint, which stays with its owner: yours starts from the beginning."))
    return told


def _lost_mounts(actor: Actor, run: Run) -> list[str]:
    """Where they were mounted, which the passport says."""
    mounts = [each for each in run.workload.frozen_spec.mounts if each.target.startswith((VOLUMES, DATASETS))]
    return [each.target for each in mounts if not all(_may_mount(actor, one) for one in chosen_mounts((each,)))]
