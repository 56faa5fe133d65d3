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
from apps.tenants.emails import forget_others
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


def update_profile(actor: Actor, *, name: str, email: str, language: str) -> User:
    """Change one's own name, e-mail and language."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=actor.person())
        before = {"name": user.name, "email": user.email, "language": user.language}
        user.name, user.email, user.language = clean_name(name)[:80], email.strip().lower(), language
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
        if user.email != before["email"]:
            forget_others(user)
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
