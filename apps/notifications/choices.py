"""Closed sets of values of the notices' tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Topic(models.TextChoices):
    """What a notice is about; people choose by topic what is sent to them."""

    MONEY = "money", _("Balance and payments")
    RUNS = "runs", _("Training results")
    ENVIRONMENTS = "environments", _("Environments")
    STORAGE = "storage", _("Volumes and datasets")
    PEOPLE = "people", _("Members and invitations")
    PACKAGES = "packages", _("Package approvals")
    SECURITY = "security", _("Security of your account")
    PLATFORM = "platform", _("Operation of the platform")


class Channel(models.TextChoices):
    """Channels besides the page, in which every notice appears."""

    EMAIL = "email", _("E-mail")
    SMS = "sms", _("SMS")


class DeliveryState(models.TextChoices):
    """`SENDING` is written before the first byte of the message is sent, so that no crash makes it go out twice."""

    QUEUED = "queued", pgettext_lazy("delivery", "Waiting")
    SENDING = "sending", pgettext_lazy("delivery", "Being sent")
    SENT = "sent", pgettext_lazy("delivery", "Sent")
    GIVEN_UP = "given_up", pgettext_lazy("delivery", "Given up")
    UNKNOWN = "unknown", pgettext_lazy("delivery", "Perhaps sent")


class HookFault(models.TextChoices):
    """Why an attempt to call a webhook failed."""

    NONE = "", ""
    STATUS = "status", _("The receiver answered with an error")
    TIMEOUT = "timeout", _("No answer in time")
    CONNECTION = "connection", _("The connection failed")
    TLS = "tls", _("The certificate of the receiver cannot be trusted")
    ADDRESS = "address", _("The address is not allowed or cannot be found")
    INTERRUPTED = "interrupted", _("The sender was interrupted")
