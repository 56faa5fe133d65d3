"""What a workload's programs come from: a runtime of pinned requirements, or a container image by reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apps.workloads.references import Reference as Reference


class RuntimeKind(StrEnum):
    """Where a runtime's requirements come from: PyPI (`numpy==2.3.5`), or npm (`code-server@4.139.1`)."""

    PYTHON = "python"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class RuntimeImage:
    """A runtime made of pinned requirements, shared by all workloads of a machine.

    Content-addressed by Python version, kind and requirements; `name` is shown, and names a tool's variable.
    """

    name: str
    requirements: tuple[str, ...] = ()
    kind: RuntimeKind = RuntimeKind.PYTHON


Image = RuntimeImage | Reference


@dataclass(frozen=True, slots=True)
class Making:
    """What an image that a run is saved as says of itself, beside its files.

    `config`: fields of its configuration (`Entrypoint`, `Labels` …) in place of the base's. `env`: variables beside the
    base's, of which their values may name some as `$NAME` or `${NAME}`. `commands`: what made it, for its history; none
    for one that was changed by hand.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullRules:
    """How images are fetched, and the most that one may be. `plain_http`: registries (`host:port`) without TLS.

    `most_mib` and `most_files` count what its layers hold, `cache_mib` what a machine keeps of images that do not run.
    """

    plain_http: tuple[str, ...] = ()
    most_mib: int = 65_536
    most_files: int = 1_000_000
    most_layers: int = 128
    cache_mib: int = 204_800


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a saved image is sent. `repository`: with its host. `bearer`: pushes there, and pulls from its base's."""

    repository: str
    tag: str
    bearer: str = field(default="", repr=False)
