"""What a driver has to say: a code with parameters. Sentences are made where they are read, in the reader's language.

Each code has one English template, for logs and for whoever does not know the code. What is stored or sent carries that
English as well: text of before there were codes, and the code of a newer or older version, are shown as they came.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Param = str | int | float
COLUMN_LIMIT = 400


class Code(StrEnum):
    """All that drivers say. `TEXT` is foreign text: the words of an installer, of the kernel or of another version."""

    TEXT = "text"

    # Progress
    WAITING_FOR_INSTALLATION = "waiting_for_installation"
    CREATING_ENVIRONMENT = "creating_environment"
    COLLECTING = "collecting"
    DOWNLOADING = "downloading"
    INSTALLING = "installing"
    BUILDING_IMAGE = "building_image"
    BUILDING_PACKAGE = "building_package"
    SIMULATED = "simulated"

    # Ends
    BUILD_TOOLS_MISSING = "build_tools_missing"
    INSTALLER_FAILED = "installer_failed"
    FOLDERS_NOT_PREPARED = "folders_not_prepared"
    MOUNT_TOO_DEEP = "mount_too_deep"
    MOUNT_MISSING = "mount_missing"
    MOUNT_THROUGH_LINK = "mount_through_link"
    FIRST_PROCESS_SILENT = "first_process_silent"
    KILLED_AFTER_GRACE = "killed_after_grace"
    MEMORY_EXCEEDED = "memory_exceeded"
    DISK_EXCEEDED = "disk_exceeded"
    FILE_TOO_LARGE = "file_too_large"
    TOO_MANY_FILES = "too_many_files"
    FOLDERS_TOO_DEEP = "folders_too_deep"
    DISK_FULL = "disk_full"
    DISK_FULL_OF_FILES = "disk_full_of_files"
    STOPPED = "stopped"
    RECORD_GONE = "record_gone"
    RUN_DIRECTORY_GONE = "run_directory_gone"
    SHIM_KILLED = "shim_killed"
    MACHINE_RESTARTED = "machine_restarted"

    # Refusals of a launch
    NO_COMMAND = "no_command"
    TOO_LITTLE_MEMORY = "too_little_memory"
    NO_DISK = "no_disk"
    ZERO_BYTE = "zero_byte"
    BAD_VARIABLE = "bad_variable"
    BAD_WORKDIR = "bad_workdir"
    BAD_TARGET = "bad_target"
    SAME_TARGET = "same_target"
    BAD_SUBPATH = "bad_subpath"
    NO_SUCH_VOLUME = "no_such_volume"
    NOT_SHARED = "not_shared"
    UID_TAKEN = "uid_taken"
    GIVEN_UP = "given_up"
    NO_REFERENCES = "no_references"
    NO_LIMITER = "no_limiter"
    PARTITION_TAKEN = "partition_taken"
    NO_SUCH_PARTITION = "no_such_partition"

    # Cards
    NO_MIG = "no_mig"
    CARD_IN_USE = "card_in_use"
    RESET_NEEDED = "reset_needed"
    MAY_NOT_SWITCH = "may_not_switch"
    MAY_NOT_CUT = "may_not_cut"
    NO_NVIDIA_DRIVER = "no_nvidia_driver"
    NVIDIA_DRIVER_SILENT = "nvidia_driver_silent"
    NVML = "nvml"
    PARTITION_IN_USE = "partition_in_use"
    PARTITION_ENDING = "partition_ending"
    PARTITION_NOT_SHOWN = "partition_not_shown"
    NO_ROOM_FOR_PARTITION = "no_room_for_partition"
    NO_COMPUTE_INSTANCE = "no_compute_instance"

    # Not now
    NOT_RUNNING = "not_running"
    NOT_LISTENING = "not_listening"
    NOT_ANSWERING = "not_answering"
    NOT_ENDED = "not_ended"
    TOO_MANY_OPEN = "too_many_open"
    NOT_OURS = "not_ours"
    STARTING = "starting"
    ENDING = "ending"
    SHIM_SILENT = "shim_silent"
    SHIM_FAILED = "shim_failed"
    FOLDER_GONE = "folder_gone"
    UNREADABLE = "unreadable"
    MACHINE_BUSY = "machine_busy"
    STUB = "stub"
    SWITCHED_OFF = "switched_off"
    NODE_UNKNOWN = "node_unknown"
    NODE_UNREACHABLE = "node_unreachable"
    NODE_SILENT = "node_silent"
    NODE_RESTING = "node_resting"
    NODE_FORGED = "node_forged"
    NODE_UNINTELLIGIBLE = "node_unintelligible"
    NO_STREAM = "no_stream"
    UNKNOWN_VERB = "unknown_verb"

    # Isolation
    ISOLATION_OFF = "isolation_off"
    BUBBLEWRAP_USER_IDS = "bubblewrap_user_ids"
    BUBBLEWRAP_NAMESPACES = "bubblewrap_namespaces"
    BUBBLEWRAP_MISSING = "bubblewrap_missing"
    BUBBLEWRAP_FAILS = "bubblewrap_fails"
    FILES_READABLE = "files_readable"
    LIMITED_BY_GROUPS = "limited_by_groups"
    MEMORY_BY_GROUPS = "memory_by_groups"
    MEMORY_WATCHED = "memory_watched"


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, not yet in any language. Its English is `str()`; amounts say their unit in their name."""

    code: Code
    params: Mapping[str, Param] = field(default_factory=dict)

    @classmethod
    def plain(cls, text: object) -> "Said":
        """Foreign text, shown as it came."""
        return cls(Code.TEXT, {"text": str(text)})

    def __str__(self) -> str:
        return _ENGLISH[self.code].format(**self.params)

    def as_json(self) -> dict[str, Any]:
        """`text` is for readers that do not know the code."""
        return {"code": self.code.value, "params": dict(self.params), "text": str(self)}

    @classmethod
    def from_json(cls, data: object) -> "Said":
        """What `as_json` wrote, here or elsewhere; plain text for anything else."""
        if not isinstance(data, Mapping):
            return cls.plain(data)
        try:
            found = cls(Code(data["code"]), {str(name): value for name, value in data["params"].items()})
            str(found)  # whether the parameters are the ones that the code has here
        except (KeyError, ValueError, TypeError, AttributeError, IndexError):
            return cls.plain(data.get("text") or data.get("code", ""))
        return found


def english(sentences: Sequence[Said]) -> str:
    """Several of them, one after the other."""
    return " ".join(map(str, sentences))


def dump(sentences: Sequence[Said]) -> str:
    """For a text column of `COLUMN_LIMIT` characters; English, cut to fit, where codes with parameters would not."""
    found = json.dumps([{"code": said.code, "params": dict(said.params)} for said in sentences], ensure_ascii=False)
    return found if len(found) <= COLUMN_LIMIT else english(sentences)[:COLUMN_LIMIT]


def load(column: str) -> tuple[Said, ...]:
    """What `dump` wrote, or text of before there were codes."""
    try:
        found = json.loads(column)
    except ValueError:
        found = None
    if isinstance(found, list):
        return tuple(map(Said.from_json, found))
    return (Said.plain(column),) if column else ()


# `{x:d}` takes integers only: what another machine sends must not become a number by force later.
_ENGLISH: Mapping[Code, str] = {
    Code.TEXT: "{text}",
    Code.WAITING_FOR_INSTALLATION: "Waiting for another installation of {name}",
    Code.CREATING_ENVIRONMENT: "Creating the Python environment of {name}",
    Code.COLLECTING: "Collecting {name}",
    Code.DOWNLOADING: "Downloading {name} ({size})",
    Code.INSTALLING: "Installing {count:d} packages",
    Code.BUILDING_IMAGE: "Downloading and building {name}",
    Code.BUILDING_PACKAGE: "Downloading and building: {name}",
    Code.SIMULATED: "Simulated",
    Code.BUILD_TOOLS_MISSING: "To build {name}, this machine lacks: {packages}",
    Code.INSTALLER_FAILED: "The installer ended with {status:d}",
    Code.FOLDERS_NOT_PREPARED: "The workload's folders could not be prepared: {error}",
    Code.MOUNT_TOO_DEEP: "Folders in what should be mounted are nested too deep",
    Code.MOUNT_MISSING: "What should be mounted on {target} does not exist",
    Code.MOUNT_THROUGH_LINK: "What should be mounted on {target} is reached through a link",
    Code.FIRST_PROCESS_SILENT: "The workload's first process did not answer",
    Code.KILLED_AFTER_GRACE: "It did not end in time and was killed",
    Code.MEMORY_EXCEEDED: "It used more than its {limit_mib:d} MiB of memory",
    Code.DISK_EXCEEDED: "Its files in {place} take more than {limit_mib:d} MiB",
    Code.FILE_TOO_LARGE: "It wrote a file larger than {limit_mib:d} MiB",
    Code.TOO_MANY_FILES: "It holds more than {count:d} files and folders",
    Code.FOLDERS_TOO_DEEP: "Its folders are nested more than {count:d} deep",
    Code.DISK_FULL: "The disk of its machine was full; this run was using most of it",
    Code.DISK_FULL_OF_FILES: "The disk of its machine had no room for further files; this run held most of them",
    Code.STOPPED: "Stopped",
    Code.RECORD_GONE: "Its record is gone",
    Code.RUN_DIRECTORY_GONE: "Its run directory is gone",
    Code.SHIM_KILLED: "Its shim was killed",
    Code.MACHINE_RESTARTED: "The machine was started anew",
    Code.NO_COMMAND: "There is no command to run",
    Code.TOO_LITTLE_MEMORY: "It needs some processor time and at least {least_mib:d} MiB",
    Code.NO_DISK: "It needs some room on disk",
    Code.ZERO_BYTE: "Arguments and variables cannot contain a zero byte",
    Code.BAD_VARIABLE: "{name!r} cannot be the name of an environment variable",
    Code.BAD_WORKDIR: "{path!r} cannot be the working directory",
    Code.BAD_TARGET: "Nothing can be mounted on {target!r}",
    Code.SAME_TARGET: "Two mounts have the same target",
    Code.BAD_SUBPATH: "What belongs on {target} is not a plain path inside its volume",
    Code.NO_SUCH_VOLUME: "There is no volume {volume!r} for {target} on this machine",
    Code.NOT_SHARED: "What belongs on {target} is not in the shared folder",
    Code.UID_TAKEN: "The tenant's user id belongs to somebody else on this machine",
    Code.NO_REFERENCES: "This machine runs no container images, so {image} cannot be started here",
    Code.GIVEN_UP: "The platform has given this attempt up",
    Code.NO_LIMITER: "Nothing on this machine holds a vGPU slice to its memory",
    Code.PARTITION_TAKEN: (
        "The card has a partition at memory slice {start:d} that the platform did not make: "
        "remove it with nvidia-smi mig -dci and -dgi"
    ),
    Code.NO_SUCH_PARTITION: "The card offers no partition {profile} at memory slice {start:d}",
    Code.NO_MIG: "This card cannot be partitioned (MIG).",
    Code.CARD_IN_USE: "A process still uses the card, or it still has MIG instances.",
    Code.RESET_NEEDED: "The card takes the mode with its next reset: reset it or restart the machine, then repeat.",
    Code.MAY_NOT_SWITCH: "The platform may not switch cards on this machine: it has to run as root.",
    Code.MAY_NOT_CUT: "The platform may not cut cards on this machine: it has to run as root.",
    Code.NO_NVIDIA_DRIVER: "There is no NVIDIA driver on this machine.",
    Code.NVIDIA_DRIVER_SILENT: "The NVIDIA driver of this machine does not answer.",
    Code.NVML: "NVML: {error}",
    Code.PARTITION_IN_USE: "A process still uses the partition.",
    Code.PARTITION_ENDING: "What was on this partition is still ending.",
    Code.PARTITION_NOT_SHOWN: "The partition was made, but the driver does not show it yet.",
    Code.NO_ROOM_FOR_PARTITION: "The card has no room for this partition.",
    Code.NO_COMPUTE_INSTANCE: "The driver offers no compute instance of {slices:d} slices.",
    Code.NOT_RUNNING: "The workload is not running",
    Code.NOT_LISTENING: "The workload does not listen on port {port:d} yet",
    Code.NOT_ANSWERING: "The workload does not answer: {error}",
    Code.NOT_ENDED: "The attempt has not ended",
    Code.TOO_MANY_OPEN: "Too many terminals and commands are open in it: at most {count:d} at a time",
    Code.NOT_OURS: "Not an attempt of the local driver: {ref!r}",
    Code.STARTING: "The attempt is being started",
    Code.ENDING: "Its processes are still ending",
    Code.SHIM_SILENT: "The shim did not answer in time",
    Code.SHIM_FAILED: "The shim could not start: {error}",
    Code.FOLDER_GONE: "{path} is not there",
    Code.UNREADABLE: "{error}",
    Code.MACHINE_BUSY: "The machine is too busy to try a sandbox",
    Code.STUB: "A stub on simulated hardware runs no program",
    Code.SWITCHED_OFF: "The simulated machine is switched off",
    Code.NODE_UNKNOWN: "The node {name} is not known any more",
    Code.NODE_UNREACHABLE: "The node cannot be reached: {error}",
    Code.NODE_SILENT: "The node does not answer: {error}",
    Code.NODE_RESTING: "The node did not answer a moment ago",
    Code.NODE_FORGED: "{error}",
    Code.NODE_UNINTELLIGIBLE: "The node's answer makes no sense: {error}",
    Code.NO_STREAM: "The node did not open a stream",
    Code.UNKNOWN_VERB: "Unknown verb {verb!r}",
    Code.ISOLATION_OFF: "Isolation is switched off by the operator.",
    Code.BUBBLEWRAP_USER_IDS: "bubblewrap, a user id per tenant.",
    Code.BUBBLEWRAP_NAMESPACES: "bubblewrap, a user namespace.",
    Code.BUBBLEWRAP_MISSING: "bubblewrap (bwrap) is not installed.",
    Code.BUBBLEWRAP_FAILS: "bubblewrap does not work here: {error}.",
    Code.FILES_READABLE: "Workloads run as the platform's own user and can read its files.",
    Code.LIMITED_BY_GROUPS: "Memory limited by control groups, processor time limited",
    Code.MEMORY_BY_GROUPS: "Memory limited by control groups, processor time not limited",
    Code.MEMORY_WATCHED: "Memory limited by watching, processor time not limited",
}
