"""Run the SSH server in its own process: `python -m plstack.ssh`."""

import asyncio
import os
from pathlib import Path

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.common.heartbeats import Heartbeat, LoopEvidence  # noqa: E402  needs the app registry
from apps.envs.ssh.server import serve  # noqa: E402


def main() -> None:
    """Serve until the process ends, which cuts off all clients and ends what they started."""
    host = os.environ.get("PLSTACK_HOST") or "127.0.0.1"
    asyncio.run(_serve(host))


async def _serve(host: str) -> None:
    loop = LoopEvidence()
    Heartbeat("ssh", loop).start()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(loop.turn_forever())
        tasks.create_task(serve(host, settings.PLSTACK_SSH_PORT, Path(settings.PLSTACK_HOME)))


if __name__ == "__main__":
    main()
