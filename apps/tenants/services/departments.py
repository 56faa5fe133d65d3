"""The tree of departments. It changes only under the lock of the organisation's books, which are summed along it."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.text import clean_name
from apps.tenants import quotas, tree
from apps.tenants.authority import department_in, organisation_for
from apps.tenants.models import Department, Membership, Quota

NAME_MAX = 80


def create_department(
    actor: Actor, *, name: str, parent_id: UUID | None = None, organisation_id: UUID | None = None
) -> Department:
    """A department, below `parent_id` or at the top. Raises `Invalid` for a name that is empty or taken there."""
    organisation_id = organisation_for(actor, organisation_id)
    cleaned = _name(name)
    with transaction.atomic():
        quotas.lock(organisation_id)
        parent = department_in(organisation_id, parent_id)
        department = _saved(Department(organisation_id=organisation_id, parent=parent, name=cleaned))
        _log(actor, department, "created", after={"name": cleaned, "parent": _path(parent)})
    return department


def rename_department(actor: Actor, *, department_id: UUID, name: str, organisation_id: UUID | None = None) -> None:
    organisation_id = organisation_for(actor, organisation_id)
    cleaned = _name(name)
    with transaction.atomic():
        department = _locked(organisation_id, department_id)
        before, department.name = department.name, cleaned
        if before != cleaned:
            _saved(department)
            _log(actor, department, "renamed", before={"name": before}, after={"name": cleaned})


def move_department(
    actor: Actor, *, department_id: UUID, parent_id: UUID | None, organisation_id: UUID | None = None
) -> None:
    """Move a department with everything below it. What it holds counts at the new place, even above a limit.

    Raises `Invalid` for a place inside itself and if the name is taken there.
    """
    organisation_id = organisation_for(actor, organisation_id)
    with transaction.atomic():
        department = _locked(organisation_id, department_id)
        parent = department_in(organisation_id, parent_id)
        if department.parent_id == parent_id:
            return
        if department.pk in tree.ancestors(parent_id):
            raise Invalid.field("parent", _("A department cannot stand below itself."))
        before = _path(department.parent)
        quotas.move_department(organisation_id=organisation_id, department_id=department.pk, parent_id=parent_id)
        department.parent = parent
        _saved(department)
        _log(actor, department, "moved", before={"parent": before}, after={"parent": _path(parent)})


def delete_department(actor: Actor, *, department_id: UUID, organisation_id: UUID | None = None) -> None:
    """Remove an empty department with its limits; `Conflict` says what is still in it."""
    organisation_id = organisation_for(actor, organisation_id)
    with transaction.atomic():
        department = _locked(organisation_id, department_id)
        _must_be_empty(department)
        _log(actor, department, "deleted", before={"name": department.name, "parent": _path(department.parent)})
        try:
            department.delete()
        except ProtectedError as error:
            raise Conflict(
                _("Something is limited to its people, a secret for one."), hint=_("Change or delete that first.")
            ) from error


def _must_be_empty(department: Department) -> None:
    if department.children.exists():
        raise Conflict(_("It has departments below it."), hint=_("Move or delete those first."))
    if Membership.objects.filter(department=department).exists():
        raise Conflict(_("It has members."), hint=_("Move them to another department first."))
    if Quota.objects.filter(department=department, used__gt=0).exists():
        raise Conflict(
            _("Work or storage is still counted in it."),
            hint=_("It can be deleted once that has ended or was removed."),
        )


def _locked(organisation_id: UUID, department_id: UUID) -> Department:
    quotas.lock(organisation_id)
    found: Department | None = (
        Department.objects.select_for_update(of=("self",))
        .select_related("parent")
        .filter(pk=department_id, organisation_id=organisation_id)
        .first()
    )
    if found is None:
        raise NotFound
    return found


def _name(name: str) -> str:
    cleaned = clean_name(name)
    if not 1 <= len(cleaned) <= NAME_MAX:
        raise Invalid.field("name", _("A name has 1 to 80 characters."))
    return cleaned


def _saved(department: Department) -> Department:
    try:
        with transaction.atomic():
            department.save()
    except IntegrityError as error:
        raise Invalid.field("name", _("There is a department of this name at this place already.")) from error
    return department


def _path(department: Department | None) -> str:
    return tree.paths([department.pk])[department.pk] if department else ""


def _log(
    actor: Actor,
    department: Department,
    verb: str,
    *,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    record(
        actor,
        action=f"department.{verb}",
        organisation_id=department.organisation_id,
        target=Target("department", str(department.pk), department.name),
        before=before,
        after=after,
    )
