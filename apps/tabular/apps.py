from django.apps import AppConfig


class TabularConfig(AppConfig):
    name = "apps.tabular"
