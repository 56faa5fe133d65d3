"""What a workload's programs come from: a runtime of pinned requirements, or a container image by reference."""

from dataclasses import dataclass
from enum import StrEnum

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
