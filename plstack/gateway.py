"""ASGI entry of the gateway: what people run, each on an origin of its own, and the way out of their programs."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.workloads.gateway.application import Gateway  # noqa: E402  needs the app registry
from plstack.heartbeats import Beating  # noqa: E402

application = Beating("gateway", Gateway(), has_lifespan=True)
