"""ASGI entry of the gateway: each port of a workload and each model service on an origin of its own, and the egress proxy of programs."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.serving.door.application import ServiceDoor  # noqa: E402  needs the app registry
from apps.workloads.gateway.application import Gateway  # noqa: E402
from plstack.heartbeats import WithHeartbeat  # noqa: E402

application = WithHeartbeat("gateway", ServiceDoor(Gateway()), has_lifespan=True)
