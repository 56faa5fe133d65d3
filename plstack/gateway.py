"""ASGI entry of the gateway: ports of workloads and model services on origins of their own, programs' egress proxy."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.serving.door.application import ServiceDoor  # noqa: E402  needs the app registry
from apps.workloads.gateway.application import Gateway  # noqa: E402
from plstack.heartbeats import WithHeartbeat  # noqa: E402

application = WithHeartbeat("gateway", ServiceDoor(Gateway()), has_lifespan=True)
