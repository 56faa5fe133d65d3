"""The API of notices, of what is sent to people, and of webhooks."""

from django.urls import path

from apps.notifications.api import notices, preferences, webhooks

urlpatterns = [
    path("notices/", notices.NoticeList.as_view(), name="api-notices"),
    path("notices/read/", notices.ReadView.as_view(), name="api-notices-read"),
    path("notices/preferences/", preferences.PreferencesView.as_view(), name="api-notice-preferences"),
    path("notices/phone/", preferences.PhoneView.as_view(), name="api-notice-phone"),
    path("notices/phone/confirm/", preferences.PhoneConfirmView.as_view(), name="api-notice-phone-confirm"),
    path("webhooks/", webhooks.Hooks.as_view(), name="api-webhooks"),
    path("webhooks/<uuid:webhook_id>/", webhooks.HookDetail.as_view(), name="api-webhook"),
    path("webhooks/<uuid:webhook_id>/secret/", webhooks.HookSecret.as_view(), name="api-webhook-secret"),
    path("webhooks/<uuid:webhook_id>/test/", webhooks.HookTest.as_view(), name="api-webhook-test"),
    path("webhooks/<uuid:webhook_id>/deliveries/", webhooks.HookDeliveries.as_view(), name="api-webhook-deliveries"),
    path("webhooks/deliveries/<uuid:delivery_id>/redeliver/", webhooks.Redelivery.as_view(), name="api-redelivery"),
]
