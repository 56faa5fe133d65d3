"""The platform's files as this machine sees them: their marker, and what they are mounted from."""

from pathlib import Path
from typing import Any

import psutil

from plstack.agent.identity import AgentError, read_marker


def find(data: Path) -> dict[str, Any]:
    """For a heartbeat. `marker` is "" where the folder is not a platform's, as after its mount was lost."""
    try:
        marker = read_marker(data)
    except AgentError:
        marker = ""
    root = data.resolve()
    mounts = [each for each in psutil.disk_partitions(all=True) if root.is_relative_to(each.mountpoint)]
    # The last of several at one place covers those before it.
    nearest = max(enumerate(mounts), key=lambda each: (len(each[1].mountpoint), each[0]), default=None)
    kind, source = (nearest[1].fstype, nearest[1].device) if nearest else ("", "")
    return {"marker": marker, "kind": kind, "source": source, "root": str(root)}
