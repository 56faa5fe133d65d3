"""What a person changes about themselves."""

from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.text import clean_name
from apps.tenants.emails import discard_other_proofs
from apps.tenants.models import Membership, User


def choose_organisation(actor: Actor, *, organisation_id: UUID) -> None:
    """Work in another of one's organisations from now on."""
    if (
        not Membership.objects.with_scopes_disabled()
        .filter(user_id=actor.user_id, organisation_id=organisation_id)
        .exists()
    ):
        raise NotFound
    User.objects.filter(pk=actor.person()).update(current_organisation_id=organisation_id)


def note_language(user: User, language: str) -> None:
    """Remember the language of the page that the person opened."""
    if user.last_language != language:
        User.objects.filter(pk=user.pk).update(last_language=language)


def update_profile(actor: Actor, *, name: str, email: str, language: str) -> User:
    """Change one's own name, e-mail and language."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=actor.person())
        return write_details(actor, user, name=name, email=email, language=language)


def write_details(actor: Actor, user: User, *, name: str, email: str, language: str) -> User:
    """Save what has been checked to be the actor's to change, of a locked row; raises `Invalid`."""
    before = {"name": user.name, "email": user.email, "language": user.language}
    user.name, user.email, user.language = clean_name(name)[:80], email.strip().lower(), language
    _require_own_address(user)
    try:
        with transaction.atomic():
            user.save(update_fields=["name", "email", "language"])
    except IntegrityError as error:  # somebody took the address at this moment
        raise Invalid.field("email", _("Another account uses this already.")) from error
    if user.email != before["email"]:
        discard_other_proofs(user)
    after = {"name": user.name, "email": user.email, "language": user.language}
    if after != before:
        target = Target("user", str(user.pk), user.username)
        record(actor, action="user.updated", target=target, before=before, after=after)
    return user


def _require_own_address(user: User) -> None:
    if not user.email:
        return
    try:
        validate_email(user.email)
    except ValidationError as error:
        raise Invalid.field("email", _("This is not an e-mail address.")) from error
    if User.objects.exclude(pk=user.pk).filter(email__iexact=user.email).exists():
        raise Invalid.field("email", _("Another account uses this already."))
