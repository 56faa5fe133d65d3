"""Fill a fresh database; on the first run print the admin as one line of JSON."""

import json
import os
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.common.actor import Channel, system_actor
from apps.common.scoping import acting
from apps.console import first_data


def first_language(environment: Mapping[str, str]) -> str:
    """What `PLSTACK_LANGUAGE` says, else Chinese on a machine that is set to Chinese; empty: as browsers ask."""
    named = environment.get("PLSTACK_LANGUAGE", "").strip().lower()
    if named not in first_data.FIRST_NAMES:
        known = ", ".join(filter(None, first_data.FIRST_NAMES))
        raise CommandError(f"PLSTACK_LANGUAGE is {named!r}: give one of {known}, or leave it out.")
    if named:
        return named
    machine = environment.get("LC_ALL") or environment.get("LC_MESSAGES") or environment.get("LANG") or ""
    return "zh-hans" if machine.startswith("zh") else ""


class Command(BaseCommand):
    help = "Make what a fresh installation starts with; harmless when repeated."

    def handle(self, *args: Any, **options: Any) -> None:
        username = os.environ.get("PLSTACK_ADMIN") or first_data.ADMIN
        # All or nothing: a half-made installation would never say its password.
        with acting(system_actor(Channel.COMMAND)) as actor, transaction.atomic():
            password = first_data.create_missing(
                actor,
                username=username,
                password=os.environ.get("PLSTACK_ADMIN_PASSWORD"),
                language=first_language(os.environ),
            )
        if password is not None:
            self.stdout.write(json.dumps({"username": username, "password": password}))
