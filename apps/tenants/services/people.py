"""Accounts. Every change leaves an audit row with before and after."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.tenants.models import User
from apps.tenants.services.former_names import was_erased


@dataclass(frozen=True, slots=True)
class Person:
    """The person to create an account for. Without a password one is generated and returned once."""

    username: str
    email: str = ""
    name: str = ""
    password: str | None = None


def create_user(actor: Actor, *, person: Person) -> tuple[User, str | None]:
    """An account and, where none was given, its generated password: shown once, kept nowhere, replaced at first use."""
    if not actor.may(Permission.PLATFORM_ROLES_MANAGE):  # who makes the platform's staff makes their accounts
        actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    generated = secrets.token_urlsafe(12) if person.password is None else None
    password = person.password or generated or ""
    user = User(username=person.username.strip(), email=person.email.strip().lower(), name=clean_name(person.name))
    if actor.channel is Channel.WEB:  # colleagues read the language of who adds them, until they open a page
        user.last_language = get_language() or ""
    _validate_person(user, password)
    user.set_password(password)
    user.password_given = generated is not None
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
    if was_erased(user.username):
        raise Invalid.field("username", _("Another account uses this already."))
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
