"""The API of secrets."""

from django.urls import path

from apps.secrets import api

urlpatterns = [
    path("secrets/", api.Secrets.as_view(), name="api-secrets"),
    path("secrets/<uuid:secret_id>/", api.SecretDetail.as_view(), name="api-secret"),
    path("secrets/<uuid:secret_id>/rotate/", api.SecretRotation.as_view(), name="api-secret-rotate"),
]
