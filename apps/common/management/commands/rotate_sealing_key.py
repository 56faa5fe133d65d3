"""Seal secrets under a new key from now on. What was sealed before still opens: former keys are kept."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from apps.common.sealing import rotate


class Command(BaseCommand):
    help = "Add a key to secrets/sealing; the processes seal under it from their next start."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            number = rotate()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Secrets are sealed under key {number} from the next start on.")
