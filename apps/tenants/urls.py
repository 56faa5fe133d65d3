"""Pages about oneself."""

from django.urls import path

from apps.tenants.views import organisations, profile, security

app_name = "account"

urlpatterns = [
    path("", profile.profile, name="profile"),
    path("security/", security.security, name="security"),
    path("security/sign-out-others/", security.sign_out_others, name="sign_out_others"),
    path("organisations/", organisations.organisations, name="organisations"),
]
