"""The API of an organisation's webhooks."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.notifications import hook_selectors as reads
from apps.notifications.choices import DeliveryState, HookFault
from apps.notifications.kinds import webhook_kinds
from apps.notifications.models import Webhook, WebhookDelivery
from apps.notifications.services import webhooks as services
from apps.notifications.services.hooks import EVERY_KIND
from apps.notifications.services.webhooks import HookSpec

MANAGE = in_organisation(P.WEBHOOKS_MANAGE)
TAGS = ["webhooks"]
KINDS = [(EVERY_KIND, "all of them"), *((kind.name, kind.name) for kind in webhook_kinds())]


class HookOut(serializers.ModelSerializer[Webhook]):
    kinds = serializers.ListField(child=serializers.CharField(), help_text="`*`: all, also those to come.")

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = (
            "id",
            "name",
            "url",
            "kinds",
            "active",
            "failing_since",
            "switched_off_at",
            "old_secret_until",
            "created_at",
        )
        read_only_fields = fields


class HookWithSecret(HookOut):
    """The secret stands in this answer only."""

    secret = serializers.CharField(help_text="`whsec_…`, as the Standard Webhooks libraries take it.")

    class Meta(HookOut.Meta):
        fields = (*HookOut.Meta.fields, "secret")
        read_only_fields = fields


class HookIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    url = serializers.CharField(max_length=500)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=KINDS), min_length=1, default=[EVERY_KIND])

    def spec(self) -> HookSpec:
        data = self.validated_data
        return HookSpec(data["name"], data["url"], tuple(data["kinds"]))


class HookPatch(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    name = serializers.CharField(max_length=60, required=False)
    url = serializers.CharField(max_length=500, required=False)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=KINDS), min_length=1, required=False)
    active = serializers.BooleanField(required=False)


class AttemptOut(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True, help_text="Of the answer; null: there was none.")
    milliseconds = serializers.IntegerField()
    fault = serializers.ChoiceField(choices=HookFault.choices, allow_blank=True)


class DeliveryOut(serializers.ModelSerializer[WebhookDelivery]):
    """`id` is the `Webhook-Id` that the receiver saw."""

    state = serializers.ChoiceField(choices=DeliveryState.choices)
    attempts = AttemptOut(many=True)

    class Meta:
        model = WebhookDelivery
        fields = ("id", "kind", "data", "state", "last_status", "next_try_at", "created_at", "done_at", "attempts")
        read_only_fields = fields


@extend_schema(tags=TAGS)
class Hooks(ScopedView, generics.ListAPIView[Webhook]):
    """The organisation's webhooks, newest first."""

    access = MANAGE
    serializer_class = HookOut
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        return reads.hooks(self.actor)

    @extend_schema(request=HookIn, responses={201: HookWithSecret}, tags=TAGS)
    def post(self, request: Request) -> Response:
        """A new webhook. The answer holds its secret, which is not shown again."""
        asked = HookIn(data=request.data)
        asked.is_valid(raise_exception=True)
        hook, secret = services.create(self.actor, asked.spec())
        hook.refresh_from_db()
        hook.secret = secret
        return Response(HookWithSecret(hook).data, status=status.HTTP_201_CREATED)


class HookDetail(ScopedView):
    access = MANAGE

    @extend_schema(responses=HookOut, tags=TAGS)
    def get(self, request: Request, webhook_id: UUID) -> Response:
        return Response(HookOut(services.find(self.actor, webhook_id)).data)

    @extend_schema(request=HookPatch, responses=HookOut, tags=TAGS)
    def patch(self, request: Request, webhook_id: UUID) -> Response:
        """Change it, or switch it on or off."""
        asked = HookPatch(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        hook = services.find(self.actor, webhook_id)
        if data.keys() & {"name", "url", "kinds"}:
            spec = HookSpec(
                data.get("name", hook.name), data.get("url", hook.url), tuple(data.get("kinds", hook.kinds))
            )
            hook = services.change(self.actor, webhook_id, spec)
        if "active" in data:
            hook = services.switch(self.actor, webhook_id, on=data["active"])
        return Response(HookOut(hook).data)

    @extend_schema(responses={204: None}, tags=TAGS)
    def delete(self, request: Request, webhook_id: UUID) -> Response:
        services.delete(self.actor, webhook_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class HookSecret(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses=HookWithSecret, tags=TAGS)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """A new secret; the old one signs beside it for a day."""
        hook, secret = services.rotate(self.actor, webhook_id)
        hook.secret = secret
        return Response(HookWithSecret(hook).data)


class HookTest(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses={202: DeliveryOut}, tags=TAGS)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Send an event of the kind `test`; it appears among the deliveries."""
        delivery = services.send_test(self.actor, webhook_id)
        delivery.refresh_from_db()
        return Response(DeliveryOut(delivery).data, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=TAGS)
class HookDeliveries(ScopedView, generics.ListAPIView[WebhookDelivery]):
    """What was sent and what is on its way, newest first, with every attempt."""

    access = MANAGE
    serializer_class = DeliveryOut
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = WebhookDelivery.objects.none()

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        hook = services.find(self.actor, self.kwargs["webhook_id"])
        return reads.deliveries(self.actor, hook).prefetch_related("attempts")


class Redelivery(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses={202: DeliveryOut}, tags=TAGS)
    def post(self, request: Request, delivery_id: UUID) -> Response:
        """Send an event again under the same id."""
        delivery = services.redeliver(self.actor, delivery_id)
        return Response(DeliveryOut(delivery).data, status=status.HTTP_202_ACCEPTED)
