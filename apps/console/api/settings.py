"""/api/v1/console/settings/: the groups of settings, in the units that they are stored in."""

from dataclasses import asdict, replace
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.payments.settings import PaymentSettings
from apps.billing.review_settings import ReviewSettings
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.api.setting_serializers import (
    BrandingOut,
    EnvironmentsOut,
    MailOut,
    NodesOut,
    PaymentOut,
    QueueOut,
    RegistrationOut,
    ReviewOut,
    SmsOut,
    TriedOut,
)
from apps.envs.policy import EnvironmentSettings
from apps.notifications.branding import BrandingSettings
from apps.notifications.services.trying import try_mail, try_sms
from apps.notifications.settings import MailSettings, SmsSettings
from apps.tenants import settings
from apps.tenants.models import User
from apps.tenants.registration import RegistrationSettings
from apps.tenants.settings import Group
from apps.workloads.hardware.policy import NodeSettings
from apps.workloads.queueing.policy import QueueSettings

VIEW = on_platform(P.PLATFORM_SETTINGS_VIEW)
MANAGE = on_platform(P.PLATFORM_SETTINGS_MANAGE)
TAGS = ["console: settings"]


class SettingsView(ScopedView):
    """One group. Secrets are written and never read; `<name>_set` says whether there is one."""

    access = {"get": VIEW, "patch": MANAGE}
    group: ClassVar[type[Group]]
    serializer: ClassVar[type[serializers.Serializer[Any]]]

    def get(self, request: Request) -> Response:
        return Response(self._shown(settings.get(self.group)))

    def patch(self, request: Request) -> Response:
        """What is left out stays as it is."""
        asked = self.serializer(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        settings.put(self.actor, self._changed(asked.validated_data))
        return Response(self._shown(settings.get(self.group)))

    def _changed(self, values: dict[str, Any]) -> Group:
        lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        current: Any = settings.get(self.group)
        changed: Group = replace(current, **lists)
        return changed

    def _shown(self, value: Any) -> Any:
        stored = asdict(value)
        return self.serializer({**stored, **{f"{name}_set": bool(stored[name]) for name in stored}}).data


@extend_schema(tags=TAGS, request=MailOut, responses=MailOut)
class Mail(SettingsView):
    group, serializer = MailSettings, MailOut


@extend_schema(tags=TAGS, request=SmsOut, responses=SmsOut)
class Sms(SettingsView):
    group, serializer = SmsSettings, SmsOut


@extend_schema(tags=TAGS, request=BrandingOut, responses=BrandingOut)
class Branding(SettingsView):
    """Pictures are uploaded in the console."""

    group, serializer = BrandingSettings, BrandingOut


@extend_schema(tags=TAGS, request=RegistrationOut, responses=RegistrationOut)
class Registration(SettingsView):
    group, serializer = RegistrationSettings, RegistrationOut


@extend_schema(tags=TAGS, request=EnvironmentsOut, responses=EnvironmentsOut)
class Environments(SettingsView):
    group, serializer = EnvironmentSettings, EnvironmentsOut


@extend_schema(tags=TAGS, request=PaymentOut, responses=PaymentOut)
class Payment(SettingsView):
    group, serializer = PaymentSettings, PaymentOut


@extend_schema(tags=TAGS, request=QueueOut, responses=QueueOut)
class Queue(SettingsView):
    group, serializer = QueueSettings, QueueOut


@extend_schema(tags=TAGS, request=NodesOut, responses=NodesOut)
class Nodes(SettingsView):
    group, serializer = NodeSettings, NodesOut


@extend_schema(tags=TAGS, request=ReviewOut, responses=ReviewOut)
class Review(SettingsView):
    group, serializer = ReviewSettings, ReviewOut


@extend_schema(tags=TAGS, request=None, responses=TriedOut)
class MailTest(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """A mail to oneself by the stored settings, at once; the answer says what the server said."""
        user = User.objects.get(pk=self.actor.person())
        return Response(TriedOut(try_mail(settings.get(MailSettings), user)).data)


@extend_schema(tags=TAGS, request=None, responses=TriedOut)
class SmsTest(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """An SMS to oneself by the stored settings."""
        user = User.objects.get(pk=self.actor.person())
        return Response(TriedOut(try_sms(settings.get(SmsSettings), user)).data)
