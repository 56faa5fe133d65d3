"""Pages of an organisation's webhooks."""

from django.urls import path

from apps.notifications.views import webhooks

app_name = "webhooks"

urlpatterns = [
    path("", webhooks.hook_list, name="list"),
    path("new/", webhooks.new, name="new"),
    path("<uuid:webhook_id>/", webhooks.detail, name="detail"),
    path("<uuid:webhook_id>/edit/", webhooks.edit, name="edit"),
    path("<uuid:webhook_id>/secret/", webhooks.rotate, name="rotate"),
    path("<uuid:webhook_id>/switch/", webhooks.switch, name="switch"),
    path("<uuid:webhook_id>/test/", webhooks.test, name="test"),
    path("<uuid:webhook_id>/delete/", webhooks.delete, name="delete"),
    path("deliveries/<uuid:delivery_id>/redeliver/", webhooks.redeliver, name="redeliver"),
]
