"""The API of aliases and stages."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.modelhub import selectors, stages
from apps.modelhub.choices import PromotionState, Stage
from apps.modelhub.models import ModelAlias, Promotion
from apps.modelhub.serializers import ModelVersionSerializer

VIEW = in_organisation(Permission.MODELS_VIEW)
USE = in_organisation(Permission.MODELS_USE)


class AliasSerializer(serializers.ModelSerializer[ModelAlias]):
    version = serializers.UUIDField(source="version_id")
    number = serializers.IntegerField(source="version.number")
    set_by = serializers.CharField(source="set_by.username")

    class Meta:
        model = ModelAlias
        fields = ("name", "version", "number", "set_by", "set_at")


class SetAliasSerializer(serializers.Serializer[Any]):
    """`number` of the version that the alias names from now on."""

    number = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class PromotionSerializer(serializers.ModelSerializer[Promotion]):
    version = serializers.UUIDField(source="version_id")
    stage = serializers.ChoiceField(choices=Stage.choices)
    state = serializers.ChoiceField(choices=PromotionState.choices)
    asked_by = serializers.CharField(source="asked_by.username")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)

    class Meta:
        model = Promotion
        fields = (
            *("id", "version", "stage", "state", "reason", "asked_by", "asked_at"),
            *("answer", "decided_by", "decided_at"),
        )


class AskSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class DecideSerializer(serializers.Serializer[Any]):
    """`withdraw` is for who asked."""

    decision = serializers.ChoiceField(choices=("approve", "reject", "withdraw"))
    answer = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class AliasList(ScopedView):
    access = VIEW

    @extend_schema(responses=AliasSerializer(many=True))
    def get(self, request: Request, model_id: UUID) -> Response:
        """The aliases of a model, by name."""
        rows = stages.aliases_of(selectors.get(self.actor, model_id))
        return Response(AliasSerializer(rows, many=True).data)


class AliasDetail(ScopedView):
    access = {"get": VIEW, "put": USE, "delete": USE}

    @extend_schema(responses=ModelVersionSerializer)
    def get(self, request: Request, model_id: UUID, alias: str) -> Response:
        """The version that the alias names now."""
        version = stages.version_named(self.actor, selectors.get(self.actor, model_id), alias)
        return Response(ModelVersionSerializer(version).data)

    @extend_schema(request=SetAliasSerializer, responses=AliasSerializer)
    def put(self, request: Request, model_id: UUID, alias: str) -> Response:
        """Let it name a version of the model; `production` changes by review."""
        model = selectors.get_writable(self.actor, model_id)
        asked = SetAliasSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        version = selectors.versions(model).filter(number=asked.validated_data["number"]).first()
        if version is None:
            raise Invalid.field("number", _("The model has no such version."))
        return Response(AliasSerializer(stages.set_alias(self.actor, version, alias)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, model_id: UUID, alias: str) -> Response:
        """Take the name away; the version stays."""
        stages.remove_alias(self.actor, selectors.get(self.actor, model_id), alias)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PromotionList(ScopedView):
    access = {"get": VIEW, "post": USE}

    @extend_schema(responses=PromotionSerializer(many=True))
    def get(self, request: Request, version_id: UUID) -> Response:
        """Who asked for a stage and who decided, newest first."""
        rows = stages.promotions_of(selectors.version(self.actor, version_id))[:100]
        return Response(PromotionSerializer(rows, many=True).data)

    @extend_schema(request=AskSerializer, responses={201: PromotionSerializer})
    def post(self, request: Request, version_id: UUID) -> Response:
        """Ask that the version goes into production; 409 where somebody has asked already."""
        version = selectors.version(self.actor, version_id)
        asked = AskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = stages.ask(self.actor, version, **asked.validated_data)
        found = stages.promotion(self.actor, made.pk)
        return Response(PromotionSerializer(found).data, status=status.HTTP_201_CREATED)


class PromotionDecision(ScopedView):
    access = VIEW

    @extend_schema(request=DecideSerializer, responses=PromotionSerializer)
    def post(self, request: Request, promotion_id: UUID) -> Response:
        """Approve, reject or withdraw; 409 once it was decided."""
        found = stages.promotion(self.actor, promotion_id)
        asked = DecideSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        decision, answer = asked.validated_data["decision"], asked.validated_data["answer"]
        if decision == "withdraw":
            stages.withdraw(self.actor, found)
        else:
            stages.decide(self.actor, found, approve=decision == "approve", answer=answer)
        return Response(PromotionSerializer(stages.promotion(self.actor, promotion_id)).data)
