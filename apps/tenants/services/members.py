"""Who belongs to an organisation, and as what. Every change leaves an audit row."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.live import recheck_rights_on_commit
from apps.tenants import quotas, tree
from apps.tenants.authority import department_in, organisation_for, own_role_in, require_above, require_grantable
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.tenants.services.accounts import require_not_erased

PRIORITIES, WEIGHTS = range(1, 6), range(1, 101)


@dataclass(frozen=True, slots=True)
class Place:
    """A member's place: base role and with it the rank, own role, department, priority in the queue (5 goes first),
    weight: the share of what the department gets, relative to the people beside them.
    """

    role: Role = Role.MEMBER
    own_role_id: UUID | None = None
    department_id: UUID | None = None
    priority: int = 3
    weight: int = 1


def add_member(
    actor: Actor,
    *,
    organisation_id: UUID,
    user: User,
    role: Role = Role.MEMBER,
    priority: int = 3,
    department_id: UUID | None = None,
) -> Membership:
    """Make a person a member; `Conflict` if they are one already."""
    organisation_id = organisation_for(actor, organisation_id)
    require_grantable(actor, organisation_id, role, None)
    place = Place(role=role, priority=priority, department_id=department_id)
    return join(actor, organisation_id=organisation_id, user=user, place=place)


def join(actor: Actor, *, organisation_id: UUID, user: User, place: Place) -> Membership:
    """Add a member without checking rights, which the caller has done; `Conflict` for somebody who is one already."""
    _check_priority_and_weight(place)
    require_not_erased(user)
    try:
        with transaction.atomic():
            quotas.lock(organisation_id)
            department_in(organisation_id, place.department_id)
            membership: Membership = Membership.objects.create(
                organisation_id=organisation_id, user=user, **_columns(place)
            )
            record(
                actor,
                action="member.added",
                organisation_id=organisation_id,
                target=_target(user),
                after=_audit_values(membership),
            )
    except IntegrityError as error:
        raise Conflict(_("This person is a member already.")) from error
    return membership


def change_member(actor: Actor, *, user_id: int, place: Place, organisation_id: UUID | None = None) -> Membership:
    """Give a member another place. What they hold of the quotas moves with them to another department.

    Only people of lower rank can be changed, to roles that allow no more than the actor may do; the last
    administrator stays one. Raises `NotFound`, `Invalid`, `Conflict`.
    """
    organisation_id = organisation_for(actor, organisation_id)
    _check_priority_and_weight(place)
    with transaction.atomic():
        member = _locked(organisation_id, user_id)
        require_above(actor, member)
        _check_place(actor, member, place)
        before = _audit_values(member)
        if member.department_id != place.department_id:
            quotas.move_person(organisation_id=organisation_id, user_id=user_id, department_id=place.department_id)
        for name, value in _columns(place).items():
            setattr(member, name, value)
        member.save(update_fields=list(_columns(place)))
        member.refresh_from_db()
        after = _audit_values(member)
        if after != before:
            _log(actor, member, "changed", before, after)
            recheck_rights_on_commit(user_id)
    return member


def _check_place(actor: Actor, member: Membership, place: Place) -> None:
    """Check the new place. A member's present role may stay, even if the actor could not grant it."""
    if (place.role, place.own_role_id) != (member.role, member.own_role_id):
        own_role = own_role_in(member.organisation_id, place.own_role_id)
        require_grantable(actor, member.organisation_id, place.role, own_role)
    department_in(member.organisation_id, place.department_id)
    if not _administers(place.role, place.own_role_id):
        _require_remaining_admin(member)


def remove_member(actor: Actor, *, user_id: int, organisation_id: UUID | None = None) -> User:
    """End a membership: the person sees nothing of the organisation from then on. What they made stays in it, what they
    run goes on, and what they have queued does not start.
    """
    organisation_id = organisation_for(actor, organisation_id)
    with transaction.atomic():
        member = _locked(organisation_id, user_id)
        require_above(actor, member)
        _leave(actor, member, "removed")
    return member.user


def leave_organisation(actor: Actor, *, organisation_id: UUID) -> None:
    """End one's own membership; `Conflict` for the last administrator."""
    with transaction.atomic():
        _leave(actor, _locked(organisation_id, actor.person()), "left")


def end_memberships(actor: Actor, user: User) -> None:
    """Of an account that is being deleted; the caller holds the locks of all its organisations."""
    mine = Membership.objects.filter(user=user).select_related("user", "department", "own_role")
    for member in mine.order_by("organisation_id"):
        _end(actor, member, "removed")


def _leave(actor: Actor, member: Membership, verb: str) -> None:
    _require_remaining_admin(member)
    _end(actor, member, verb)


def _end(actor: Actor, member: Membership, verb: str) -> None:
    _log(actor, member, verb, _audit_values(member), {})
    User.objects.filter(pk=member.user_id, current_organisation_id=member.organisation_id).update(
        current_organisation=None
    )
    member.delete()
    recheck_rights_on_commit(member.user_id)


def _locked(organisation_id: UUID, user_id: int) -> Membership:
    """Under the organisation's lock: two administrators who step down at once must see each other."""
    quotas.lock(organisation_id)
    found: Membership | None = (
        Membership.objects.select_for_update(of=("self",))
        .select_related("user", "department", "own_role")
        .filter(organisation_id=organisation_id, user_id=user_id)
        .first()
    )
    if found is None:
        raise NotFound
    return found


def _administers(role: str, own_role_id: UUID | None) -> bool:
    return role == Role.ADMIN and own_role_id is None


def is_last_admin(member: Membership) -> bool:
    """Whether nobody else administers the organisation."""
    if not _administers(member.role, member.own_role_id):
        return False
    others = Membership.objects.with_scopes_disabled().filter(
        organisation_id=member.organisation_id, role=Role.ADMIN, own_role__isnull=True, user__is_active=True
    )
    return not others.exclude(pk=member.pk).exists()


def _require_remaining_admin(member: Membership) -> None:
    if is_last_admin(member):
        raise Conflict(
            _("This is the organisation's last administrator."), hint=_("Make somebody else an administrator first.")
        )


def _check_priority_and_weight(place: Place) -> None:
    if place.priority not in PRIORITIES:
        raise Invalid.field("priority", _("Priority is a number from 1 to 5."))
    if place.weight not in WEIGHTS:
        raise Invalid.field("weight", _("A weight is a number from 1 to 100."))


def _columns(place: Place) -> dict[str, Any]:
    return {**asdict(place), "role": place.role.value}


def _audit_values(member: Membership) -> dict[str, Any]:
    words: dict[str, Any] = {"role": str(member.role), "priority": member.priority}
    if member.weight != 1:
        words["weight"] = member.weight
    if member.own_role is not None:
        words["own_role"] = member.own_role.name
    if member.department_id is not None:
        words["department"] = tree.paths([member.department_id]).get(member.department_id, "")
    return words


def _target(user: User) -> Target:
    return Target("user", str(user.pk), user.username)


def _log(actor: Actor, member: Membership, verb: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    record(
        actor,
        action=f"member.{verb}",
        organisation_id=member.organisation_id,
        target=_target(member.user),
        before=before,
        after=after,
    )
