"""What-if: the past, or a trace, replayed against other nodes, promises and prices."""

from django.apps import AppConfig


class WhatifConfig(AppConfig):
    name = "apps.whatif"
