"""Words about acts that need a second person: why, and what to do where nobody else may approve."""

from django.utils.translation import gettext as _

from apps.billing.payments.alone import Why, granted_today
from apps.billing.payments.settings import PaymentSettings
from apps.common.actor import Actor
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.tenants import settings
from apps.tenants.selectors import staff_with


def why_words(why: Why, actor: Actor | None = None) -> str:
    """The rule that asks for a second person; `actor`: who would act, for what they granted today."""
    rules = settings.get(PaymentSettings)
    limit = yuan(rules.alone_fen)
    if why is Why.AMOUNT:
        return _("It is more than the %(limit)s that one person alone may grant.") % {"limit": limit}
    if why is Why.DAY and actor is not None:
        names = {"limit": limit, "granted": yuan(granted_today(actor))}
        return _("With the %(granted)s that you have granted today it is more than %(limit)s a day.") % names
    if why is Why.DAY:
        return _("What the same person granted that day comes to more than %(limit)s with it.") % {"limit": limit}
    if why is Why.RECEIPT:
        return _("The receipt is booked for another organisation.")
    if why is Why.DISCOUNT:
        most = {"percent": rules.discount_percent}
        return _("It is more than the %(percent)s %% that one person alone may take off.") % most
    if why is Why.PRICE:
        most = {"percent": rules.price_drop_percent}
        return _("It is more than the %(percent)s %% by which one person alone may lower a price in 30 days.") % most
    return _("It lets one person do more alone; that takes two people in any case.")


def nobody_else(actor: Actor, permission: Permission) -> bool:
    """Whether the actor alone may approve such requests, so that theirs would wait for nobody."""
    return not staff_with(permission, but=actor.user_id)
