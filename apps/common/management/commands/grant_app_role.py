"""Give the processes' database role exactly its rights; run as the owner after each migration."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.common.database_role import grant_app_role


class Command(BaseCommand):
    help = "Grant the application's database role its rights (run as the owner, after migrate)."

    def handle(self, *args: Any, **options: Any) -> None:
        grant_app_role()
