"""Who may decide on a request for a second person: anybody with the right but who asked, and only they take it back."""

from typing import Protocol

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid

REASON_MAX = 500


class Asked(Protocol):
    @property
    def requested_by_id(self) -> int: ...


def check_approval(actor: Actor, found: Asked) -> None:
    if found.requested_by_id == actor.person():
        raise Conflict(_("Who asked for it cannot approve it: a second person has to."))


def check_denial(actor: Actor, found: Asked) -> None:
    if found.requested_by_id == actor.person():
        raise Conflict(_("Take your own request back instead."))


def check_withdrawal(actor: Actor, found: Asked) -> None:
    if found.requested_by_id != actor.person():
        raise Conflict(_("Only who asked for it can take it back."))


def check_answer(answer: str) -> None:
    """The reason of a denial, which the requester reads."""
    if not 1 <= len(answer.strip()) <= REASON_MAX:
        raise Invalid.field("answer", _("Say in up to 500 characters why."))
