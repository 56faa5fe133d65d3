"""What staff do to other people's accounts, together with the notice to whom it happened."""

from django.db import transaction

from apps.common.actor import Actor
from apps.notifications.services.telling import notify_user
from apps.tenants import second_factor, sessions
from apps.tenants.actors import current_membership
from apps.tenants.models import User
from apps.tenants.services import accounts


def reset_second_factor(actor: Actor, *, user_id: int) -> User:
    """Take the second factor of somebody who lost it; they are told who did it. Errors as of `second_factor.reset`."""
    with transaction.atomic():
        user = second_factor.reset(actor, user_id=user_id)
        _tell(actor, user, "security.second_factor_reset")
    return user


def reset_password(actor: Actor, *, user_id: int) -> str:
    """A generated password, returned once; the person is told and signed out everywhere."""
    with transaction.atomic():
        password = accounts.reset_password(actor, user_id=user_id)
        sessions.end_all_of(actor, user_id=user_id)
        _tell(actor, User.objects.get(pk=user_id), "security.password_reset")
    return password


def _tell(actor: Actor, user: User, kind: str) -> None:
    """Notices belong to an organisation; of people without one only the operation log speaks."""
    membership = current_membership(user)
    if membership is not None:
        notify_user(organisation_id=membership.organisation_id, user_id=user.pk, kind=kind, data={"by": actor.label})
