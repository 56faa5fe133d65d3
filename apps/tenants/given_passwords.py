"""A password that somebody else has given: its person replaces it at their first sign-in, before anything else."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _

from apps.common.errors import DomainError
from apps.tenants.models import User


class PasswordGiven(DomainError):
    """Somebody else knows the password. Pages lead to where it is changed."""

    code = "password_change_required"
    status = HTTPStatus.FORBIDDEN
    leads_to = "account_change_password"

    def __init__(self) -> None:
        super().__init__(
            _("Your password was given to you."),
            hint=_("Choose one that only you know; then go on."),
        )


def admit(user: User) -> None:
    """Raise `PasswordGiven` until the person has chosen a password. API tokens and SSH keys are their own already."""
    if user.password_given:
        raise PasswordGiven
