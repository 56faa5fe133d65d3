"""Pages about oneself."""

from django.urls import path

from apps.tenants.views import connected, deletion, organisations, own_data, profile, security, ssh_keys, tokens

app_name = "account"

urlpatterns = [
    path("", profile.profile, name="profile"),
    path("confirm-email/", profile.confirm_email, name="confirm_email"),
    path("security/", security.security, name="security"),
    path("security/sign-out-others/", security.sign_out_others, name="sign_out_others"),
    path("security/sessions/<int:session_id>/end/", security.end_session, name="end_session"),
    path("data/", own_data.copy, name="own_data"),
    path("data/state/", own_data.state, name="own_data_state"),
    path("data/<uuid:export_id>/", own_data.download, name="own_data_download"),
    path("delete/", deletion.delete, name="delete"),
    path("keep/<str:token>/", deletion.withdraw, name="deletion_withdraw"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/new/", tokens.token_new, name="token_new"),
    path("tokens/<uuid:token_id>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("ssh-keys/", ssh_keys.key_list, name="ssh_keys"),
    path("ssh-keys/<uuid:ssh_key_id>/remove/", ssh_keys.key_remove, name="ssh_key_remove"),
    path("connected/", connected.connected, name="connected"),
    path("connected/<int:account_id>/disconnect/", connected.disconnect_account, name="disconnect"),
    path("organisations/", organisations.organisations, name="organisations"),
]
