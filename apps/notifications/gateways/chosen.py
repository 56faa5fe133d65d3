"""The channels as configured in the present settings."""

from django.conf import settings as installation
from django.core.mail import get_connection

from apps.notifications.choices import Channel
from apps.notifications.gateways.base import Gateway
from apps.notifications.gateways.mail import MailGateway
from apps.notifications.gateways.sms import HttpSmsGateway
from apps.notifications.settings import MailSettings, SmsSettings
from apps.tenants import settings


def gateway(channel: Channel) -> Gateway | None:
    """The channel's gateway; None if it is not set up."""
    if channel is Channel.SMS:
        chosen = settings.get(SmsSettings)
        return HttpSmsGateway(chosen) if chosen.on else None
    return MailGateway(settings.get(MailSettings), get_connection(installation.EMAIL_BACKEND))


def hourly_limit(channel: Channel) -> int:
    if channel is Channel.SMS:
        return settings.get(SmsSettings).hourly_limit
    return settings.get(MailSettings).hourly_limit
