"""Confirm a phone number: a code is sent by SMS and typed in."""

import re
import secrets
from datetime import timedelta

from django.conf import settings as installation
from django.db import transaction
from django.db.models import Sum
from django.utils import translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, Unavailable
from apps.notifications.branding import BrandingSettings
from apps.notifications.choices import Channel
from apps.notifications.composing import language_of
from apps.notifications.gateways.base import Message, Outcome
from apps.notifications.gateways.chosen import gateway
from apps.notifications.models import Phone
from apps.tenants import settings
from apps.tenants.models import User

GOOD_FOR = timedelta(minutes=10)
AGAIN_AFTER = timedelta(seconds=60)
DAY = timedelta(days=1)
CODES_A_DAY = 5  # to one person, and to one number whoever asks
TRIES = 5
E164 = re.compile(r"\+[1-9]\d{6,14}\Z", re.ASCII)
MAINLAND = re.compile(r"1\d{10}\Z", re.ASCII)


def normalize_number(number: str) -> str:
    """The number in E.164; numbers of mainland China may omit +86. Raises `Invalid`."""
    digits = re.sub(r"[\s()\-.]", "", number)
    digits = f"+86{digits}" if MAINLAND.match(digits) else digits
    if not E164.match(digits):
        raise Invalid.field("number", _("Give the number with its country, as in +86 138 0013 8000."))
    return digits


def send_code(actor: Actor, *, number: str) -> Phone:
    """Send a code to `number`; the old number stays until this one is confirmed. Raises `Invalid`, `Conflict`."""
    wanted, code = normalize_number(number), f"{secrets.randbelow(10**6):06d}"
    phone = _prepare(actor.person(), wanted, code)
    way = gateway(Channel.SMS)
    if way is None:
        raise Unavailable(_("SMS are not set up on this platform."))
    result = way.send(Message(to=wanted, subject="", text=_text(phone.user, code), key=f"code-{phone.pk}-{code}"))
    if result.outcome in (Outcome.LATER, Outcome.REFUSED):
        raise Unavailable(_("The code could not be sent."), hint=_("Check the number, or try again later."))
    return phone


def _prepare(user_id: int, wanted: str, code: str) -> Phone:
    """Save the code's hash, and count it to limit codes sent to strangers."""
    if gateway(Channel.SMS) is None:
        raise Unavailable(_("SMS are not set up on this platform."))
    with transaction.atomic():
        Phone.objects.get_or_create(user_id=user_id)
        phone = Phone.objects.select_for_update().select_related("user").get(user_id=user_id)
        now = db_now()
        if phone.code_sent_at and phone.code_sent_at > now - AGAIN_AFTER:
            raise Conflict(_("A code was sent a moment ago."), hint=_("Wait a minute before you ask for another one."))
        if phone.counted_from < now - DAY:
            phone.counted_from, phone.sent_count = now, 0
        others = Phone.objects.filter(wanted=wanted, counted_from__gt=now - DAY).exclude(pk=phone.pk)
        to_number = others.aggregate(total=Sum("sent_count"))["total"] or 0
        if phone.sent_count >= CODES_A_DAY or to_number >= CODES_A_DAY:
            raise Conflict(_("No more codes are sent today."), hint=_("Try again tomorrow."))
        phone.wanted, phone.code_hash, phone.tries = wanted, _hash(user_id, wanted, code), 0
        phone.code_sent_at, phone.sent_count = now, phone.sent_count + 1
        phone.save()
    return phone


def confirm(actor: Actor, *, code: str) -> Phone:
    """Confirm the number by the code. Raises `Invalid` with the code's field."""
    person = actor.person()
    with transaction.atomic():
        phone = Phone.objects.select_for_update().filter(user_id=person).first()
        right = phone is not None and _is_right(phone, code)
        if phone is not None and right:
            _accept(actor, phone)
    if phone is None or not right:
        raise Invalid.field("code", _("This code is wrong or has expired. Request a new one."))
    return phone


def _is_right(phone: Phone, code: str) -> bool:
    """Check the code; every try counts."""
    if not phone.code_hash or not phone.code_sent_at or phone.tries >= TRIES:
        return False
    phone.tries += 1
    phone.save(update_fields=["tries"])
    fresh = phone.code_sent_at > db_now() - GOOD_FOR
    typed = re.sub(r"\D", "", code)
    return fresh and constant_time_compare(phone.code_hash, _hash(phone.user_id, phone.wanted, typed))


def _accept(actor: Actor, phone: Phone) -> None:
    before = phone.number
    phone.number, phone.wanted, phone.code_hash = phone.wanted, "", ""
    phone.verified_at = db_now()
    phone.save()
    User.objects.filter(pk=phone.user_id).update(phone=phone.number)
    _log(actor, "user.phone_proved", before=before, after=phone.number)


def remove(actor: Actor) -> None:
    """Remove the number: no more SMS are sent."""
    with transaction.atomic():
        phone = Phone.objects.select_for_update().filter(user_id=actor.person()).first()
        if phone is None or not phone.number:
            return
        _log(actor, "user.phone_removed", before=phone.number, after="")
        User.objects.filter(pk=phone.user_id, phone=phone.number).update(phone="")
        phone.number, phone.verified_at, phone.wanted, phone.code_hash = "", None, "", ""
        phone.save()  # the row stays: it counts the codes of the day


def _text(user: User, code: str) -> str:
    with translation.override(language_of(user)):
        name = settings.get(BrandingSettings).portal.name
        return _("[%(name)s] Your code is %(code)s. It is valid for 10 minutes.") % {"name": name, "code": code}


def _hash(user_id: int, number: str, code: str) -> str:
    key = f"phone-code:{user_id}:{number}"
    return str(salted_hmac(key, code, secret=installation.SECRET_KEY, algorithm="sha256").hexdigest())


def _log(actor: Actor, action: str, *, before: str, after: str) -> None:
    target = Target("user", str(actor.person()), actor.label)
    record(actor, action=action, target=target, before={"phone": masked(before)}, after={"phone": masked(after)})


def masked(number: str) -> str:
    """All but the first and the last digits hidden, for logs."""
    return f"{number[:3]}…{number[-2:]}" if number else ""
