"""The platform's code as an archive that pods import from: what shim and first process need, and nothing else."""

import hashlib
import io
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.said import Code, Said

PROJECT = Path(__file__).resolve().parents[4]
LIST_S = 60
# Asked of a Python without site-packages, as the pod's is: so nothing is overlooked, and nothing else can be needed.
_LIST = (
    "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.kubernetes.pod import first, lend, shim; "
    "files = [getattr(m, '__file__', None) or '' for m in list(sys.modules.values())]; "
    "[print(file) for file in files if file.startswith(sys.argv[1])]"
)
EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Archive:
    content: bytes

    @property
    def name(self) -> str:
        """Of the ConfigMap: after what is in it, so that pods of before an upgrade keep theirs."""
        return f"code-{hashlib.sha256(self.content).hexdigest()[:16]}"


@lru_cache(maxsize=1)
def archive() -> Archive:
    """The same bytes for the same files. Raises CannotSee."""
    try:
        told = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LIST, str(PROJECT)],
            stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=LIST_S, text=True,
        )  # fmt: skip
    except subprocess.SubprocessError as error:
        raise CannotSee(Said(Code.SHIM_FAILED, {"error": str(error)[:300]})) from error
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(set(map(Path, told.stdout.split("\n")[:-1]))):
            packed.writestr(
                zipfile.ZipInfo(str(path.relative_to(PROJECT)), EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED
            )
    return Archive(data.getvalue())
