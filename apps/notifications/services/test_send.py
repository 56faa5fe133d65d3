"""Test a mail server or an SMS gateway: send a message to oneself at once and show the server's answer."""

from dataclasses import dataclass
from uuid import uuid4

from django.utils import translation
from django.utils.translation import gettext as _

from apps.notifications.branding import BrandingSettings
from apps.notifications.composing import language_of
from apps.notifications.gateways.base import Gateway, Message, Outcome, Result, Unreachable
from apps.notifications.gateways.mail import MailGateway, connection_for
from apps.notifications.gateways.sms import HttpSmsGateway
from apps.notifications.models import Phone
from apps.notifications.settings import MailSettings, SmsSettings
from apps.notifications.words import words_of
from apps.tenants import settings
from apps.tenants.models import User


@dataclass(frozen=True, slots=True)
class TrialResult:
    """`detail` is the server's answer, verbatim."""

    worked: bool
    text: str
    detail: str = ""


def send_test_mail(chosen: MailSettings, user: User) -> TrialResult:
    """One mail to the person's own address."""
    if not user.email:
        return TrialResult(False, _("You have no e-mail address yet; give one in your profile."))
    return _send_test(MailGateway(chosen, connection_for(chosen)), user, user.email)


def send_test_sms(chosen: SmsSettings, user: User) -> TrialResult:
    """One SMS to the person's own number."""
    number = test_number(user)
    if not number:
        return TrialResult(False, _("You have no phone number yet; give one in your profile."))
    return _send_test(HttpSmsGateway(chosen), user, number)


def test_number(user: User) -> str:
    """Where a test SMS of this person goes: the confirmed number, else the one in the profile; empty: neither."""
    proved = Phone.objects.filter(user=user, verified_at__isnull=False).first()
    return proved.number if proved else user.phone


def _send_test(way: Gateway, user: User, to: str) -> TrialResult:
    try:
        way.open()
        result = way.send(_message(user, to))
    except Unreachable as error:
        return TrialResult(False, _("The server could not be used."), str(error))
    finally:
        way.close()
    return _trial_result(result, to)


def _message(user: User, to: str) -> Message:
    with translation.override(language_of(user)):
        said, name = words_of("test", {}), settings.get(BrandingSettings).portal.name
        text = f"[{name}] {said.title}. {said.text}"
        return Message(to=to, subject=f"[{name}] {said.title}", text=text, key=str(uuid4()))


def _trial_result(result: Result, to: str) -> TrialResult:
    texts = {
        Outcome.SENT: _("It was taken for %(address)s. Look whether it arrives."),
        Outcome.LATER: _("It was not taken now; the other side may take it later."),
        Outcome.REFUSED: _("It was refused."),
        Outcome.UNKNOWN: _("It was handed over, but the answer is missing."),
    }
    return TrialResult(result.outcome is Outcome.SENT, texts[result.outcome] % {"address": to}, result.detail)
