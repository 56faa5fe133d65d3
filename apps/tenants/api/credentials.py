"""The API of one's own tokens and SSH keys. A token may read keys; everything else here is done in person."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import IN_PERSON, SELF
from apps.common.api import ScopedView
from apps.common.permissions import Permission
from apps.tenants import ssh_keys, tokens
from apps.tenants.models import ApiToken, SshKey

GONE = {status.HTTP_204_NO_CONTENT: OpenApiResponse(description="Gone.")}
TOKEN_PERMISSIONS = [(permission.value, permission.value) for permission in Permission.every()]


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """`organisation_id` null: a token for the console."""

    organisation_id = serializers.UUIDField(allow_null=True)
    permissions = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ApiToken
        fields = [
            "id",
            "name",
            "prefix",
            "organisation_id",
            "permissions",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]


class NewTokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    organisation_id = serializers.UUIDField(allow_null=True, help_text="Null: for the console.")
    permissions = serializers.ListField(child=serializers.ChoiceField(choices=TOKEN_PERMISSIONS), allow_empty=False)
    lifetime = serializers.ChoiceField(
        choices=[each.value for each in tokens.Lifetime], default=tokens.Lifetime.QUARTER.value, help_text="Days."
    )


class MadeTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="The secret: shown in this answer and never again.")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class TokenListView(ScopedView, generics.GenericAPIView[ApiToken]):
    access = IN_PERSON
    serializer_class = TokenSerializer
    queryset = ApiToken.objects.none()

    @extend_schema(tags=["me"], operation_id="me_tokens_list", responses=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """One's own tokens, newest first, ended ones too."""
        page = self.paginate_queryset(tokens.own_tokens(self.actor))
        return self.get_paginated_response(TokenSerializer(page, many=True).data)

    @extend_schema(tags=["me"], request=NewTokenSerializer, responses={201: MadeTokenSerializer})
    def post(self, request: Request) -> Response:
        """Make a token. Its secret is in this answer only."""
        asked = NewTokenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        draft = tokens.TokenDraft(
            name=values["name"],
            organisation_id=values["organisation_id"],
            permissions=frozenset(Permission(name) for name in values["permissions"]),
            lifetime=tokens.Lifetime(values["lifetime"]),
        )
        token, secret = tokens.create(self.actor, draft=draft)
        token.token = secret  # type: ignore[attr-defined]
        answer = MadeTokenSerializer(token).data
        return Response(answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


class TokenView(ScopedView):
    access = IN_PERSON

    @extend_schema(tags=["me"], operation_id="me_tokens_revoke", responses=GONE)
    def delete(self, request: Request, token_id: UUID) -> Response:
        """Revoke a token at once."""
        tokens.revoke(self.actor, token_id=token_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SshKeySerializer(serializers.ModelSerializer[SshKey]):
    name = serializers.CharField(max_length=60, required=False, allow_blank=True, default="", label=_("Name"))

    class Meta:
        model = SshKey
        fields = ["id", "name", "public_key", "fingerprint", "created_at", "last_used_at"]
        read_only_fields = ["id", "fingerprint", "created_at", "last_used_at"]


class SshKeyListView(ScopedView, generics.GenericAPIView[SshKey]):
    access = SELF
    serializer_class = SshKeySerializer
    queryset = SshKey.objects.none()

    @extend_schema(tags=["me"], operation_id="me_ssh_keys_list", responses=SshKeySerializer(many=True))
    def get(self, request: Request) -> Response:
        """One's own SSH keys, newest first."""
        page = self.paginate_queryset(ssh_keys.own_keys(self.actor))
        return self.get_paginated_response(SshKeySerializer(page, many=True).data)

    @extend_schema(tags=["me"], request=SshKeySerializer, responses={201: SshKeySerializer})
    def post(self, request: Request) -> Response:
        """Add a public key (Ed25519, ECDSA, RSA from 3072 bits, or one on a security key)."""
        asked = SshKeySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = ssh_keys.add(self.actor, **asked.validated_data)
        return Response(SshKeySerializer(key).data, status=status.HTTP_201_CREATED)


class SshKeyView(ScopedView):
    access = SELF

    @extend_schema(tags=["me"], operation_id="me_ssh_keys_remove", responses=GONE)
    def delete(self, request: Request, ssh_key_id: UUID) -> Response:
        """Remove a key; new connections with it are refused."""
        ssh_keys.remove(self.actor, key_id=ssh_key_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
