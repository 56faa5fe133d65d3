"""The page of notices, and what is sent of them."""

from django.urls import path

from apps.notifications.views import notices, preferences

app_name = "notifications"

urlpatterns = [
    path("", notices.notice_list, name="list"),
    path("bell/", notices.bell, name="bell"),
    path("read/", notices.read_all, name="read_all"),
    path("<int:notice_id>/read/", notices.read, name="read"),
    path("preferences/", preferences.preferences, name="preferences"),
    path("preferences/phone/", preferences.phone_code, name="phone_code"),
    path("preferences/phone/confirm/", preferences.phone_confirm, name="phone_confirm"),
    path("preferences/phone/remove/", preferences.phone_remove, name="phone_remove"),
]
