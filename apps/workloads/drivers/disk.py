"""What one attempt may hold on its machine's disk.

One that holds more ends as `DISK_LIMIT` (its bytes) or `FILE_LIMIT` (its inodes, or folders nested too deep to look
into). `DISK_FULL`: the disk itself was full, whatever the limits, and this attempt had filled it or held most of it.
"""

from dataclasses import dataclass

FLOOR_SHARE, FLOOR_BYTES = 0.05, 2 * 1024**3


@dataclass(frozen=True, slots=True)
class DiskLimits:
    """Amounts in MiB, `files` in inodes. What a mount of the attempt's own may hold stands with that mount.

    `scratch_mib`: its /tmp, its working directory where that is in no mount, and deleted files that it holds open.
    `files`: in all of these and in the mounts that have a limit. `log_mib`: output beyond that is dropped.
    """

    scratch_mib: int = 50 * 1024
    files: int = 2_000_000
    log_mib: int = 1024


def floor_bytes(total: int) -> int:
    """Free space below which a disk of this size counts as full."""
    return min(FLOOR_BYTES, int(total * FLOOR_SHARE))
