"""The API of people and organisations."""

from django.urls import path

from apps.tenants.api import credentials, me, sessions

urlpatterns = [
    path("me/", me.MeView.as_view(), name="api-me"),
    path("me/tokens/", credentials.TokenListView.as_view(), name="api-me-tokens"),
    path("me/tokens/<uuid:token_id>/", credentials.TokenView.as_view(), name="api-me-token"),
    path("me/sessions/", sessions.SessionListView.as_view(), name="api-me-sessions"),
    path("me/sessions/end-others/", sessions.OtherSessionsView.as_view(), name="api-me-sessions-end-others"),
    path("me/sessions/<int:session_id>/", sessions.SessionView.as_view(), name="api-me-session"),
    path("me/ssh-keys/", credentials.SshKeyListView.as_view(), name="api-me-ssh-keys"),
    path("me/ssh-keys/<uuid:ssh_key_id>/", credentials.SshKeyView.as_view(), name="api-me-ssh-key"),
]
