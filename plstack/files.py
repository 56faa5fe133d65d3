"""Run file jobs in their own process: `python -m plstack.files`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.envs.reconcile.chores import OPERATIONS  # noqa: E402  needs the app registry
from apps.registry.transfers import working as transfers  # noqa: E402
from apps.storage.chores import CHORES  # noqa: E402
from apps.storage.runner import Chore, serve  # noqa: E402
from apps.storage.turns import Piece  # noqa: E402

# Images that are pulled into the registry, which knows nothing of storage: a child for each.
TRANSFERS = Chore(
    "transfer",
    transfers.EVERY_S,
    transfers.DEADLINE_H * 3600.0,
    lambda: [Piece(*row) for row in transfers.due()],
    transfers.advance,
    slots=transfers.SLOTS,
    killed=transfers.give_up,
)


def main() -> None:
    """Serve until the process is told to end."""
    serve((*CHORES, OPERATIONS, TRANSFERS))


if __name__ == "__main__":
    main()
