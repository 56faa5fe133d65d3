from django.apps import AppConfig


class AutomlConfig(AppConfig):
    name = "apps.automl"
