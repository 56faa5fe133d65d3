"""Proof that an e-mail address belongs to a person: following a link that was sent there."""

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core.ratelimit import consume
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict
from apps.tenants.models import User


def is_confirmed(user: User) -> bool:
    """Whether the account's present address was proven."""
    return bool(user.email) and EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True).exists()


def discard_other_proofs(user: User) -> None:
    """Discard proofs of former addresses and unused links that were sent to them."""
    EmailAddress.objects.filter(user=user).exclude(email__iexact=user.email).delete()


def send_link(request: HttpRequest, user: User) -> None:
    """Send the link that proves the address. Raises `Conflict` without one, once it is proven, and after too many."""
    if not user.email:
        raise Conflict(_("Give an e-mail address first."))
    if is_confirmed(user):
        raise Conflict(_("This address is confirmed already."))
    if not consume(request, action="confirm_email", key=user.email):
        raise Conflict(_("Several links went there already. Look in the spam folder, or wait ten minutes."))
    discard_other_proofs(user)
    address, _made = EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"primary": True})
    address.send_confirmation(request)


def notify_former_address(request: HttpRequest, user: User, former: str) -> None:
    """Tell the former address about the change: whoever made it may not be the owner."""
    if former and former != user.email:
        get_adapter(request).send_notification_mail("account/email/email_changed", user, email=former)
