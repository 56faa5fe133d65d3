"""What the settings' endpoints read and write."""

from typing import Any

from django.conf import settings as installation
from rest_framework import serializers

from apps.billing.review_settings import Approvers
from apps.notifications.settings import BodyFormat, MailSecurity
from apps.workloads.hardware.policy import MOST_MINUTES
from apps.workloads.queueing.policy import MAX_SECONDS


def _words(values: Any) -> list[tuple[str, str]]:
    return [(each.value, each.value) for each in values]


class MailOut(serializers.Serializer[Any]):
    """Without a host, mail goes as the installation's environment says."""

    host = serializers.CharField(max_length=200, allow_blank=True)
    port = serializers.IntegerField(min_value=1, max_value=65535)
    security = serializers.ChoiceField(choices=_words(MailSecurity))
    username = serializers.CharField(max_length=200, allow_blank=True)
    password = serializers.CharField(max_length=400, allow_blank=True, write_only=True, trim_whitespace=False)
    password_set = serializers.BooleanField(read_only=True)
    from_address = serializers.CharField(max_length=254, allow_blank=True)
    from_name = serializers.CharField(max_length=80, allow_blank=True)
    site_url = serializers.CharField(max_length=200, allow_blank=True)
    language = serializers.ChoiceField(choices=installation.LANGUAGES, allow_blank=True)
    hourly_limit = serializers.IntegerField(min_value=1, max_value=1000)

    def validate_security(self, value: str) -> MailSecurity:
        return MailSecurity(value)


class SmsOut(serializers.Serializer[Any]):
    on = serializers.BooleanField()
    url = serializers.CharField(max_length=500, allow_blank=True)
    format = serializers.ChoiceField(choices=_words(BodyFormat))
    body = serializers.CharField(max_length=2000, allow_blank=True, help_text="Lines `name: value`.")
    headers = serializers.CharField(max_length=2000, allow_blank=True, help_text="Lines `name: value`.")
    authorization = serializers.CharField(max_length=2000, allow_blank=True, write_only=True, trim_whitespace=False)
    authorization_set = serializers.BooleanField(read_only=True)
    signature_header = serializers.CharField(max_length=60, allow_blank=True)
    signing_key = serializers.CharField(max_length=400, allow_blank=True, write_only=True, trim_whitespace=False)
    signing_key_set = serializers.BooleanField(read_only=True)
    success = serializers.CharField(max_length=100, allow_blank=True)
    hourly_limit = serializers.IntegerField(min_value=1, max_value=100)

    def validate_format(self, value: str) -> BodyFormat:
        return BodyFormat(value)


class BrandingOut(serializers.Serializer[Any]):
    portal_name = serializers.CharField(max_length=40, allow_blank=True)
    portal_logo = serializers.CharField(read_only=True, help_text="Below /brand/; empty: the product's own.")
    console_name = serializers.CharField(max_length=40, allow_blank=True)
    console_logo = serializers.CharField(read_only=True)
    favicon = serializers.CharField(read_only=True)


class RegistrationOut(serializers.Serializer[Any]):
    """Limits of the organisation that a new person gets, in the units of quota; null: none."""

    open = serializers.BooleanField()
    own_organisation = serializers.BooleanField()
    verify_email = serializers.BooleanField()
    domains = serializers.ListField(child=serializers.CharField(max_length=253), max_length=100)
    cpu_milli = serializers.IntegerField(min_value=0, allow_null=True)
    memory_mib = serializers.IntegerField(min_value=0, allow_null=True)
    gpu_milli = serializers.IntegerField(min_value=0, allow_null=True)
    runs = serializers.IntegerField(min_value=0, allow_null=True)
    environments = serializers.IntegerField(min_value=0, allow_null=True)
    storage_mib = serializers.IntegerField(min_value=0, allow_null=True)
    volumes = serializers.IntegerField(min_value=0, allow_null=True)


class EnvironmentsOut(serializers.Serializer[Any]):
    """Minutes, days and MiB; 0: no limit, or never."""

    idle_minutes = serializers.IntegerField(min_value=0, max_value=527_040)
    max_idle_minutes = serializers.IntegerField(min_value=0, max_value=527_040)
    durations_days = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=3660), max_length=20)
    duration_days = serializers.IntegerField(min_value=0, max_value=3660)
    unlimited = serializers.BooleanField()
    bin_days = serializers.IntegerField(min_value=1, max_value=3660)
    home_mib = serializers.IntegerField(min_value=0, max_value=1 << 30)
    automatic_snapshots = serializers.IntegerField(min_value=0, max_value=1000)


class QueueOut(serializers.Serializer[Any]):
    """Seconds: notice before work is asked to end, time to save, and how long it is left alone at first."""

    notice_s = serializers.IntegerField(min_value=0, max_value=MAX_SECONDS)
    save_s = serializers.IntegerField(min_value=10, max_value=MAX_SECONDS)
    min_runtime_s = serializers.IntegerField(min_value=0, max_value=MAX_SECONDS)
    firm_over_guarantee = serializers.BooleanField(
        help_text="Work that must not be interrupted is spared beyond its organisation's guarantee too."
    )


class NodesOut(serializers.Serializer[Any]):
    lost_after_minutes = serializers.IntegerField(
        min_value=0,
        max_value=MOST_MINUTES,
        help_text="Minutes of unbroken silence after which a machine is declared lost, at least 2; 0: by hand only.",
    )


class ReviewOut(serializers.Serializer[Any]):
    approvers = serializers.ChoiceField(choices=_words(Approvers))
    days = serializers.IntegerField(min_value=0, allow_null=True, help_text="How long an approval holds.")

    def validate_approvers(self, value: str) -> Approvers:
        return Approvers(value)


class PaymentOut(serializers.Serializer[Any]):
    alone_fen = serializers.IntegerField(
        min_value=0, help_text="Fen that one person alone may recharge, refund or grant; more needs a second person."
    )


class TriedOut(serializers.Serializer[Any]):
    worked = serializers.BooleanField()
    text = serializers.CharField()
    detail = serializers.CharField(help_text="What the other side said.", allow_blank=True)
