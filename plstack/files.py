"""Run file jobs in their own process: `python -m plstack.files`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.envs.reconcile.chores import OPERATIONS  # noqa: E402  needs the app registry
from apps.storage.chores import CHORES  # noqa: E402
from apps.storage.runner import serve  # noqa: E402


def main() -> None:
    """Serve until the process is told to end."""
    serve((*CHORES, OPERATIONS))


if __name__ == "__main__":
    main()
