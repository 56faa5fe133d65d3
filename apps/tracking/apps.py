from django.apps import AppConfig


class TrackingConfig(AppConfig):
    name = "apps.tracking"
