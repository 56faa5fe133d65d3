"""The one family of domain errors. Each carries a code, a sentence for the person and what to do next."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.formatting import sentences

Text = str | Promise


class DomainError(Exception):
    """An error that the person can understand and act on. Nothing was changed.

    `fields` maps a form field to what is wrong with it, so that the words stand beside the input. `leads_to` names the
    page on which it can be fixed, if there is one: that page is shown instead of the error. `retry_after_s`: whole
    seconds after which the same may succeed.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[HTTPStatus] = HTTPStatus.BAD_REQUEST
    leads_to: ClassVar[str] = ""
    retry_after_s: ClassVar[int | None] = None

    def __init__(self, message: Text, *, hint: Text = "", fields: Mapping[str, Text] | None = None) -> None:
        super().__init__(str(message))
        self.message = message
        self.hint = hint
        self.fields: Mapping[str, Text] = fields or {}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response."""
        return {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}

    @property
    def sentences(self) -> str:
        """Message and hint in the reader's language, for places that show one text."""
        return sentences(self.message, self.hint)


class Invalid(DomainError):
    """Input that cannot be accepted."""

    code = "invalid"
    status = HTTPStatus.BAD_REQUEST

    @classmethod
    def field(cls, name: str, message: Text, *, hint: Text = "") -> "Invalid":
        return cls(message, hint=hint, fields={name: message})


class NotFound(DomainError):
    """The object does not exist for this actor; another tenant's object looks exactly the same."""

    code = "not_found"
    status = HTTPStatus.NOT_FOUND

    def __init__(self, message: Text = _("This does not exist, or you cannot see it.")) -> None:
        super().__init__(message)


class Denied(DomainError):
    code = "denied"
    status = HTTPStatus.FORBIDDEN

    def __init__(self, permission: str) -> None:
        hint = _("Ask an administrator of your organisation for the right role.")
        if permission.startswith("platform."):
            hint = _("Ask whoever manages the platform's staff for the right role.")
        super().__init__(_("Your role does not allow this."), hint=hint)
        self.permission = permission


class NoMember(Denied):
    """The person works in no organisation, or not in the one that is asked for."""

    def __init__(self, permission: str) -> None:
        DomainError.__init__(
            self,
            _("You are not, or no longer, a member of an organisation here."),
            hint=_("Ask its administrator for an invitation."),
        )
        self.permission = permission


class Frozen(Denied):
    """The actor's role allows it, but their organisation is frozen."""

    def __init__(self, permission: str) -> None:
        DomainError.__init__(
            self,
            _("Your organisation is frozen."),
            hint=_("You can read everything; starting and changing waits until the platform's staff unfreeze it."),
        )
        self.permission = permission


class SignedOut(DomainError):
    """The session or token that opened a connection has ended, or its account is disabled."""

    code = "signed_out"
    status = HTTPStatus.UNAUTHORIZED

    def __init__(self) -> None:
        super().__init__(_("You are signed out."), hint=_("Sign in again."))


class InPersonOnly(DomainError):
    """API tokens may never change the account that they belong to, whatever their permissions."""

    code = "in_person_only"
    status = HTTPStatus.FORBIDDEN

    def __init__(self) -> None:
        super().__init__(_("An API token cannot do this."), hint=_("Sign in in a browser and do it there."))


class Conflict(DomainError):
    """The object changed meanwhile, or is in a state in which this cannot be done."""

    code = "conflict"
    status = HTTPStatus.CONFLICT


class QuotaExceeded(DomainError):
    code = "quota_exceeded"
    status = HTTPStatus.CONFLICT


class InsufficientFunds(DomainError):
    code = "insufficient_funds"
    status = HTTPStatus.PAYMENT_REQUIRED


class Unavailable(DomainError):
    """Something the platform needs cannot be reached now; trying again may help."""

    code = "unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after_s = 10
