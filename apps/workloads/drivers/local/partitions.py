"""Partitions of MIG cards for attempts: each made once, found again after any crash, taken away with its attempt.

Before anything is made, a claim is written: which attempt, which card, which place. The claim's name is the key, so
a launch that is repeated finds it, and whatever lies at its place on the card is its own. A claim whose attempt is over
is an orphan and is swept. What lies on a card without a claim was made by somebody else: one that is exactly what is
wanted is used and left there, any other is named in the refusal and never touched.
"""

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pynvml

from apps.workloads.drivers.base import DriverError, LaunchRefused
from apps.workloads.drivers.local import mig, modes
from apps.workloads.drivers.local.linux import write_atomic
from apps.workloads.drivers.said import Code, Said

# A claim is written before its attempt has a run directory; younger ones are no orphans.
SETTLE_S = 300.0


@dataclass(frozen=True, slots=True)
class Claim:
    """`made`: the instance is the platform's own, and goes with the attempt."""

    ref: str
    card: str
    profile: str
    start: int
    made: bool

    @property
    def name(self) -> str:
        """The idempotency key: one partition for an attempt, a card and a slot, however often it is asked for."""
        return f"{self.ref}.{self.card}.{self.start}.json"


class Partitions:
    """`folder` holds the claims. `is_over`: whether an attempt has been proved to have ended."""

    def __init__(self, folder: Path, is_over: Callable[[str], bool]) -> None:
        self._folder = folder
        self._is_over = is_over

    def ensure(self, ref: str, card: str, profile: str, start: int) -> mig.Partition:
        """The partition of the attempt, made or found. Raises LaunchRefused where it can never be, DriverError else."""
        with self._locked(), mig.library():
            modes.enter_mig(card)
            handle = mig.card(card)
            place = mig.place_of(handle, profile, start)
            lying = self._make_room(ref, handle, card, place)
            self._write(self._claim(ref, card, place, lying))
            instance = lying or mig.create(handle, place)
            return mig.complete(handle, instance, place.compute_slices)

    def release(self, ref: str) -> None:
        """Take away what was made for the attempt. What is still in use stays claimed, for the next sweep."""
        if not self._folder.is_dir() or not any(self._folder.glob(f"{ref}.*.json")):
            return
        with self._locked():
            for claim in self._claims():
                if claim.ref == ref:
                    self._drop(claim)

    def sweep(self) -> int:
        """Take away what ended attempts have left; how many claims are left."""
        if not self._folder.is_dir():
            return 0
        with self._locked():
            for claim in self._claims():
                if self._is_orphan(claim):
                    self._drop(claim)
            return len(self._claims())

    def clear(self, card: str) -> None:
        """Take away what ended attempts have left on the card, however young: it is about to leave MIG."""
        if not self._folder.is_dir():
            return
        with self._locked():
            for claim in self._claims():
                if claim.card == card and self._is_over(claim.ref):
                    self._drop(claim)

    def _make_room(self, ref: str, handle: Any, card: str, place: mig.Place) -> mig.Instance | None:
        """What lies exactly there already, if anything; what ended attempts left in the way is taken away."""
        owners = {claim.start: claim for claim in self._claims() if claim.card == card}
        for instance in mig.instances(handle):
            if not place.overlaps(instance.start, instance.size):
                continue
            owner = owners.get(instance.start)
            is_it = (instance.start, instance.profile_id) == (place.start, place.profile_id)
            if is_it and (owner is None or owner.ref == ref):
                return instance
            if owner is None:
                raise LaunchRefused("partition_taken", Said(Code.PARTITION_TAKEN, {"start": instance.start}))
            self._evict(owner)
        return None

    def _evict(self, owner: Claim) -> None:
        if not self._is_over(owner.ref):
            raise DriverError(Said(Code.PARTITION_ENDING))
        if not self._drop(owner):
            raise DriverError(Said(Code.PARTITION_IN_USE))

    def _claim(self, ref: str, card: str, place: mig.Place, lying: mig.Instance | None) -> Claim:
        """What lies there is the platform's own if its claim was there first: then a launch has died half-way."""
        wanted = Claim(ref, card, place.profile, place.start, made=lying is None)
        before = _read(self._folder / wanted.name)
        return wanted if before is None or lying is None else before

    def _write(self, claim: Claim) -> None:
        """Before anything is made, and so that a power cut does not lose it."""
        write_atomic(self._folder / claim.name, json.dumps(asdict(claim)).encode())

    def _drop(self, claim: Claim) -> bool:
        """Destroy what was made for the claim, then forget it; False while a process is in it."""
        if claim.made:
            try:
                self._destroy(claim)
            except DriverError:
                return False
        (self._folder / claim.name).unlink(missing_ok=True)
        return True

    def _destroy(self, claim: Claim) -> None:
        with mig.library():
            try:
                handle = mig.card(claim.card)
                place = mig.place_of(handle, claim.profile, claim.start)
            except (pynvml.NVMLError_NotFound, LaunchRefused):  # the card is gone, and the partition with it
                return
            for instance in mig.instances(handle):
                if (instance.start, instance.profile_id) == (place.start, place.profile_id):
                    mig.destroy(instance)

    def _is_orphan(self, claim: Claim) -> bool:
        try:
            age = time.time() - (self._folder / claim.name).stat().st_mtime
        except FileNotFoundError:
            return False
        return age > SETTLE_S and self._is_over(claim.ref)

    def _claims(self) -> list[Claim]:
        found = (_read(path) for path in sorted(self._folder.glob("*.json")))
        return [claim for claim in found if claim is not None]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One change of any card at a time, across all processes of this machine."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self._folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _read(path: Path) -> Claim | None:
    try:
        return Claim(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):  # cut short by a full disk: nothing had been made yet
        return None
