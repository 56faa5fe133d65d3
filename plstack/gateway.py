"""ASGI entry of the gateway: each service in a workload on its own origin, and the egress proxy of programs."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.workloads.gateway.application import Gateway  # noqa: E402  needs the app registry
from plstack.heartbeats import WithHeartbeat  # noqa: E402

application = WithHeartbeat("gateway", Gateway(), has_lifespan=True)
