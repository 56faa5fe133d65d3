"""What the kernel's log says of NVIDIA cards since the machine started, and which start that was.

NVML reports faults as events, and only to whoever waits for them at that moment: a pass that comes by now and then
would miss them. The kernel's log keeps them, for every reader, until its ring is full. Its format is in the kernel's
Documentation/ABI/testing/dev-kmsg: each read gives one record, `prio,sequence,microseconds,flags;text`.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from apps.clusters import xids
from apps.clusters.xids import FATAL, Fault

KMSG, BOOT_ID = Path("/dev/kmsg"), Path("/proc/sys/kernel/random/boot_id")
# The kernel's own limit of a record.
RECORD_BYTES = 8192
MOST_RECORDS = 200_000
MOST_FAULTS = 200


class Unread(StrEnum):
    """Why faults cannot be seen."""

    ABSENT = "absent"  # containers have no log of the kernel
    DENIED = "denied"  # it takes root or CAP_SYSLOG
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CardFaults:
    """Faults of all cards, alike ones as one, the oldest first; `unread`: why they cannot be seen, "" if they can."""

    faults: tuple[Fault, ...] = ()
    unread: str = ""


def boot_id(path: Path = BOOT_ID) -> str:
    """A random id that the kernel chose when it started; "" where it does not tell."""
    try:
        return str(UUID(path.read_text().strip()))
    except (OSError, ValueError):
        return ""


def card_faults(path: Path = KMSG) -> CardFaults:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return CardFaults(unread=Unread.ABSENT)
    except PermissionError:
        return CardFaults(unread=Unread.DENIED)
    except OSError:
        return CardFaults(unread=Unread.FAILED)
    # The kernel's clock stands still while the machine sleeps, as the monotonic one does.
    started = time.time() - time.monotonic()
    try:
        return CardFaults(collect(records(lambda: os.read(descriptor, RECORD_BYTES)), started))
    except PermissionError:
        return CardFaults(unread=Unread.DENIED)
    except OSError:
        return CardFaults(unread=Unread.FAILED)
    finally:
        os.close(descriptor)


def records(read: Callable[[], bytes]) -> Iterator[tuple[int, str]]:
    """(microseconds since the start, text) of what the kernel itself wrote. Raises OSError.

    Programs may write there, too; the kernel marks theirs with a facility other than its own, so nobody forges a fault.
    """
    for _each in range(MOST_RECORDS):
        try:
            record = read()
        except BlockingIOError:  # that was the newest
            return
        except BrokenPipeError:  # the ring went over it in between: the next read gives the oldest that is left
            continue
        if not record:
            return
        head, _, text = record.decode(errors="replace").partition(";")
        with suppress(ValueError):
            priority, _sequence, usec = (int(number) for number in head.split(",")[:3])
            if priority >> 3 == 0:
                yield usec, text.partition("\n")[0]


def collect(found: Iterator[tuple[int, str]], started: float) -> tuple[Fault, ...]:
    """A card in trouble repeats itself by the thousand: of what is alike, the first time and the newest text stay."""
    alike: dict[tuple[str, int, int], Fault] = {}
    for usec, text in found:
        fault = xids.parse(text, usec=usec, started=started)
        if fault is not None:
            first = alike.pop(fault.key, fault)
            alike[fault.key] = first.merged(fault)
    # The newest stay, and fatal ones before all.
    kept = sorted(alike.values(), key=lambda fault: (fault.remedy in FATAL, fault.last_usec))[-MOST_FAULTS:]
    return tuple(sorted(kept, key=lambda fault: fault.last_usec))
