"""The SSH front door as a process of its own: `python -m plstack.ssh`."""

import asyncio
import os
from pathlib import Path

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup()

from apps.common.heartbeats import Heart, Loop  # noqa: E402  needs the app registry
from apps.envs.ssh.server import serve  # noqa: E402


def main() -> None:
    """Until the process ends; whoever is connected is cut off, and what they started ends with it."""
    host = os.environ.get("PLSTACK_HOST") or "127.0.0.1"
    asyncio.run(_serve(host))


async def _serve(host: str) -> None:
    loop = Loop()
    Heart("ssh", loop).start()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(loop.turn_forever())
        tasks.create_task(serve(host, settings.PLSTACK_SSH_PORT, Path(settings.PLSTACK_HOME)))


if __name__ == "__main__":
    main()
