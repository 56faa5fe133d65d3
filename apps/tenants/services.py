"""Making and changing organisations and people. Every change leaves an audit row with before and after."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Membership, Organisation, PlatformAssignment, User


@dataclass(frozen=True, slots=True)
class Person:
    """Who to make an account for. Without a password one is generated and returned once."""

    username: str
    email: str = ""
    name: str = ""
    password: str | None = None


def create_organisation(actor: Actor, *, name: str, slug: str = "") -> Organisation:
    """An active organisation; raises `Invalid` for a name or short name that is taken or empty."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    cleaned = " ".join(name.split())
    if not 1 <= len(cleaned) <= 80:
        raise Invalid.field("name", _("A name has 1 to 80 characters."))
    short = slugify(slug or cleaned)[:40] or f"org-{secrets.token_hex(4)}"
    if Organisation.objects.filter(name__iexact=cleaned).exists():
        raise Invalid.field("name", _("Another organisation has this name."))
    if Organisation.objects.filter(slug=short).exists():
        if slug:
            raise Invalid.field("slug", _("Another organisation has this short name."))
        short = f"{short[:31]}-{secrets.token_hex(4)}"
    with transaction.atomic():
        organisation: Organisation = Organisation.objects.create(name=cleaned, slug=short)
        record(
            actor,
            action="organisation.created",
            organisation_id=organisation.pk,
            target=target_of(organisation),
            after={"name": cleaned, "slug": short},
        )
    return organisation


def set_organisation_status(actor: Actor, *, organisation_id: UUID, status: OrganisationStatus) -> Organisation:
    """Freeze an organisation (its people may read and nothing else) or let it work again."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    with transaction.atomic():
        organisation: Organisation | None = Organisation.objects.select_for_update().filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        if organisation.status == status:
            raise Conflict(_("The organisation is in this state already."))
        before, organisation.status = organisation.status, status
        organisation.save(update_fields=["status"])
        record(
            actor,
            action=f"organisation.{status}",
            organisation_id=organisation.pk,
            target=target_of(organisation),
            before={"status": before},
            after={"status": status.value},
        )
    return organisation


def target_of(organisation: Organisation) -> Target:
    return Target("organisation", str(organisation.pk), organisation.name)


def create_user(actor: Actor, *, person: Person) -> tuple[User, str | None]:
    """An account and, where none was given, its generated password (shown once, kept nowhere)."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    generated = secrets.token_urlsafe(12) if person.password is None else None
    password = person.password or generated or ""
    user = User(username=person.username.strip(), email=person.email.strip().lower(), name=person.name.strip())
    _validate_person(user, password)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            record(
                actor,
                action="user.created",
                target=Target("user", str(user.pk), user.username),
                after={"username": user.username, "email": user.email, "name": user.name},
            )
    except IntegrityError as error:
        taken = "email" if "user_email_once" in str(error) else "username"
        raise Invalid.field(taken, _("Another account uses this already.")) from error
    return user, generated


def _validate_person(user: User, password: str) -> None:
    try:
        user.clean_fields(exclude=["password", "current_organisation", "date_joined", "language"])
        if user.email:
            validate_email(user.email)
    except ValidationError as error:
        fields = {name: texts[0] for name, texts in getattr(error, "message_dict", {"email": error.messages}).items()}
        raise Invalid(next(iter(fields.values())), fields=fields) from error
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid.field("password", " ".join(error.messages)) from error


def add_member(
    actor: Actor, *, organisation_id: UUID, user: User, role: Role = Role.MEMBER, priority: int = 3
) -> Membership:
    """Make a person a member; `Conflict` where they are one already."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    if not 1 <= priority <= 5:
        raise Invalid.field("priority", _("Priority is a number from 1 to 5."))
    try:
        with transaction.atomic():
            membership: Membership = Membership.objects.create(
                organisation_id=organisation_id, user=user, role=role, priority=priority
            )
            record(
                actor,
                action="member.added",
                organisation_id=organisation_id,
                target=Target("user", str(user.pk), user.username),
                after={"role": role.value, "priority": priority},
            )
    except IntegrityError as error:
        raise Conflict(_("This person is a member already.")) from error
    return membership


def assign_platform_role(actor: Actor, *, user: User, role: PlatformRole) -> None:
    """Give a person a role among the platform's staff; giving it twice changes nothing."""
    actor.require(Permission.PLATFORM_ROLES_MANAGE)
    with transaction.atomic():
        _assignment, made = PlatformAssignment.objects.get_or_create(user=user, role=role)
        if made:
            record(
                actor,
                action="platform_role.assigned",
                target=Target("user", str(user.pk), user.username),
                after={"role": role.value},
            )


def choose_organisation(actor: Actor, *, organisation_id: UUID) -> None:
    """Work in another of one's organisations from now on."""
    if (
        not Membership.objects.with_scopes_disabled()
        .filter(user_id=actor.user_id, organisation_id=organisation_id)
        .exists()
    ):
        raise NotFound
    User.objects.filter(pk=actor.person()).update(current_organisation_id=organisation_id)


def update_profile(actor: Actor, *, name: str, email: str, language: str) -> User:
    """Change one's own name, e-mail and language."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=actor.person())
        before = {"name": user.name, "email": user.email, "language": user.language}
        user.name, user.email, user.language = name.strip()[:80], email.strip().lower(), language
        if user.email:
            try:
                validate_email(user.email)
            except ValidationError as error:
                raise Invalid.field("email", _("This is not an e-mail address.")) from error
            if User.objects.exclude(pk=user.pk).filter(email__iexact=user.email).exists():
                raise Invalid.field("email", _("Another account uses this already."))
        try:
            with transaction.atomic():
                user.save(update_fields=["name", "email", "language"])
        except IntegrityError as error:  # somebody took the address at this moment
            raise Invalid.field("email", _("Another account uses this already.")) from error
        after = {"name": user.name, "email": user.email, "language": user.language}
        if after != before:
            record(
                actor,
                action="user.updated",
                target=Target("user", str(user.pk), user.username),
                before=before,
                after=after,
            )
    return user
