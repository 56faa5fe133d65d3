"""Pages about oneself."""

from django.urls import path

from apps.tenants import views

app_name = "account"

urlpatterns = [
    path("", views.profile, name="profile"),
    path("security/", views.security, name="security"),
    path("security/sign-out-others/", views.sign_out_others, name="sign_out_others"),
    path("organisations/", views.organisations, name="organisations"),
]
