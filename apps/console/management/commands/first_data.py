"""Fill a fresh database; on the first run print the admin as one line of JSON."""

import json
import os
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from apps.common.actor import Channel, system_actor
from apps.common.scoping import acting
from apps.console import first_data


class Command(BaseCommand):
    help = "Make what a fresh installation starts with; harmless when repeated."

    def handle(self, *args: Any, **options: Any) -> None:
        username = os.environ.get("PLSTACK_ADMIN") or first_data.ADMIN
        # All or nothing: a half-made installation would never say its password.
        with acting(system_actor(Channel.COMMAND)) as actor, transaction.atomic():
            password = first_data.ensure(actor, username=username, password=os.environ.get("PLSTACK_ADMIN_PASSWORD"))
        if password is not None:
            self.stdout.write(json.dumps({"username": username, "password": password}))
