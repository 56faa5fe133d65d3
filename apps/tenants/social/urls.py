"""Leaving for another account's sign-in, and coming back. The library finds them by these names."""

from django.urls import path

from apps.tenants.social.views import callback_of, leaving_for

urlpatterns = [
    path("weixin/login/", leaving_for("weixin"), name="weixin_login"),
    path("weixin/login/callback/", callback_of("weixin"), name="weixin_callback"),
    path("microsoft/login/", leaving_for("microsoft"), name="microsoft_login"),
    path("microsoft/login/callback/", callback_of("microsoft"), name="microsoft_callback"),
]
