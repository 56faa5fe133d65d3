"""The API of people and organisations."""

from django.urls import path

from apps.tenants.api import credentials, me

urlpatterns = [
    path("me/", me.MeView.as_view(), name="api-me"),
    path("me/tokens/", credentials.TokenListView.as_view(), name="api-me-tokens"),
    path("me/tokens/<uuid:token_id>/", credentials.TokenView.as_view(), name="api-me-token"),
    path("me/ssh-keys/", credentials.SshKeyListView.as_view(), name="api-me-ssh-keys"),
    path("me/ssh-keys/<uuid:ssh_key_id>/", credentials.SshKeyView.as_view(), name="api-me-ssh-key"),
]
