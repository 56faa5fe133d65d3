"""What the shims of a cluster's pods have written, on the storage that the platform sees, too.

A pod may be deleted, evicted or lost with its node: the journal is not, and says as much as on a machine.
"""

import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from apps.workloads.drivers.base import Exit, ExitReason, LogChunk, Observation, Phase, Usage
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster
from apps.workloads.drivers.local import accounts, preemption_notice, stopping
from apps.workloads.drivers.local.access import FolderAccess
from apps.workloads.drivers.local.linux import remove_tree, write_atomic
from apps.workloads.drivers.local.records import (
    RunDirectory,
    decode_observation,
    decode_spec,
    encode_observation,
    last_state,
)
from apps.workloads.drivers.local.volumes import resolve
from apps.workloads.drivers.said import Code, Said

SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The folder of one attempt. All methods raise OSError or ValueError where it cannot be read."""

    cluster: Cluster
    directory: RunDirectory

    @property
    def ref(self) -> str:
        return self.directory.path.name

    @property
    def exists(self) -> bool:
        return self.directory.path.is_dir()

    @property
    def has_begun(self) -> bool:
        """Whether a shim has, and answers or has ended."""
        return self.directory.state.exists()

    def has_ended(self) -> bool:
        return self.directory.exit.exists()

    def observe(self) -> Observation:
        """Of one that has ended."""
        seen = decode_observation(self.directory.exit.read_bytes())
        if seen.exit is not None and seen.exit.reason is ExitReason.LOST:
            seen = replace(seen, phase=Phase.LOST)
        return self._with_checkpoint(seen)

    def lose(self, said: Said) -> None:
        """Nothing of it is known to run, and nothing will write a record; what might run all the same is to stop."""
        self.ask_to_stop(0.0)
        last = last_state(self.directory) if self.has_begun else Observation(Phase.LOST)
        seen = replace(last, phase=Phase.LOST, progress=None)
        self.write(replace(seen, exit=Exit(None, None, ExitReason.LOST, said)))

    def may_be_out_of_memory(self) -> bool:
        """Whether something killed the program: the shim cannot see whether that was the kernel, for its memory."""
        ended = decode_observation(self.directory.exit.read_bytes()).exit
        return ended is not None and ended.reason is ExitReason.SIGNALLED and ended.signal == signal.SIGKILL

    def blame_memory(self) -> None:
        """Once the cluster has said so; of an end that the shim has told from others nothing is changed."""
        if not self.may_be_out_of_memory():
            return
        seen = decode_observation(self.directory.exit.read_bytes())
        limit = decode_spec(self.directory.spec.read_bytes()).request.memory_mib
        said = Said(Code.MEMORY_EXCEEDED, {"limit_mib": limit})
        ended = replace(seen.exit or Exit(None, None, ExitReason.OOM), reason=ExitReason.OOM, said=said)
        write_atomic(self.directory.exit, encode_observation(replace(seen, exit=ended)))

    def blame_cluster(self, cause: Said) -> None:
        """Say by whom an attempt that was lost was ended; of any other end nothing is changed."""
        seen = decode_observation(self.directory.exit.read_bytes())
        if seen.exit is not None and seen.exit.reason is ExitReason.LOST and seen.exit.said != cause:
            write_atomic(self.directory.exit, encode_observation(replace(seen, exit=replace(seen.exit, said=cause))))

    @property
    def is_settled(self) -> bool:
        """Whether the record is the last word, and nothing is left on the cluster."""
        return (self.directory.path / SETTLED).exists()

    def settle(self) -> None:
        (self.directory.path / SETTLED).touch(mode=0o600)

    def write(self, seen: Observation) -> None:
        """A record where no shim could write one; one that has been written meanwhile stays."""
        self.directory.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.has_ended():
            write_atomic(self.directory.exit, encode_observation(seen))

    def ask_to_stop(self, grace_s: float) -> None:
        """Lasts until a shim sees it, should it not be there yet."""
        if self.exists:
            stopping.ask(self.directory.stop, grace_s)

    def logs(self, offset: int, limit: int) -> LogChunk:
        return self._access().logs(offset, limit)

    def metrics(self, since_s: float) -> list[Usage]:
        return self._access().metrics(since_s)

    def remove(self) -> None:
        remove_tree(self.directory.path)

    def _access(self) -> FolderAccess:
        return FolderAccess(self.directory, self.observe, self.has_ended)

    def _with_checkpoint(self, seen: Observation) -> Observation:
        """Looked for where the platform sees the mounts."""
        if seen.ran_for_s is None or not self.directory.spec.exists():
            return seen
        spec = decode_spec(self.directory.spec.read_bytes())
        roots = {name: source.root for name, source in self.cluster.volumes.items()}
        folder = preemption_notice.checkpoint_folder(replace(spec, mounts=resolve(spec.request.mounts, roots)))
        age = None if folder is None else preemption_notice.newest_age_s(folder)
        return seen if age is None else replace(seen, checkpoint_age_s=age)


def run_below(own: Path, ref: str) -> RunDirectory | None:
    """The attempt's folder, whichever organisation's it is; None where nothing of it was ever launched."""
    found = next((path for path in _folders_below(own) if (path / ref).is_dir()), None)
    return None if found is None else RunDirectory(found / ref)


def _folders_below(own: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        yield from (entry / "runs" for entry in own.iterdir())


class Journals:
    """Where they are: `<volume>/<own>/<tenant>/runs/<attempt>`."""

    def run(self, cluster: Cluster, ref: str) -> StoredRun:
        found = run_below(_own(cluster), ref)
        return StoredRun(cluster, found or RunDirectory(_own(cluster) / "unknown" / "runs" / ref))

    def provide(self, cluster: Cluster, tenant: UUID, uid: int) -> Path:
        """The organisation's own folders, in which its shims write. Raises OSError."""
        for name in ("runs", "runtimes"):
            folder = _own(cluster) / tenant.hex / name
            if not folder.is_dir():
                folder.mkdir(mode=0o711, parents=True, exist_ok=True)
                accounts.give(folder, uid)
        return _own(cluster) / tenant.hex / "runs"

    def refs(self, cluster: Cluster) -> list[str]:
        found: set[str] = set()
        for folder in _folders_below(_own(cluster)):
            with suppress(FileNotFoundError):
                found |= {entry.name for entry in folder.iterdir() if entry.is_dir() and entry.name.count("-") == 4}
        return sorted(found)


def _own(cluster: Cluster) -> Path:
    source = cluster.volumes[names.CLAIM]
    return source.root / source.own
