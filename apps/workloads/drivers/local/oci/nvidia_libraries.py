"""The NVIDIA driver's libraries on a machine that no CDI file describes.

They are those of the running driver's version, in the folder that has its libcuda. Which ones programs need to
compute and to look at cards is NVIDIA's own list (libnvidia-container, src/nvc_info.c: utility_libs, compute_libs).
Graphics and video are left out.
"""

from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("usr/local/nvidia/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64",
           "usr/lib/x86_64-linux-gnu/nvidia/current", "usr/lib/aarch64-linux-gnu/nvidia/current",
           "run/opengl-driver/lib", "usr/lib")  # fmt: skip
NAMES = ("cuda", "cudadebugger", "nvidia-ml", "nvidia-cfg", "nvidia-nscq", "nvidia-opencl", "nvidia-gpucomp",
         "nvidia-ptxjitcompiler", "nvidia-fatbinaryloader", "nvidia-allocator", "nvidia-compiler", "nvidia-pkcs11",
         "nvidia-pkcs11-openssl3", "nvidia-nvvm")  # fmt: skip
PROGRAMS = ("usr/local/nvidia/bin/nvidia-smi", "usr/bin/nvidia-smi", "run/current-system/sw/bin/nvidia-smi")
INSIDE = "/usr/local/nvidia/lib64"
"""Where NVIDIA's own images look for them."""


def mounts(version: str, root: Path = Path("/")) -> list[tuple[Path, str]]:
    """Files of the machine with their places in an image; none where the driver of this version has no libcuda."""
    folder = next((root / name for name in FOLDERS if (root / name / f"libcuda.so.{version}").exists()), None)
    if folder is None:
        return []
    found = [(path.resolve(), f"{INSIDE}/{path.name}") for path in _libraries(folder, version)]
    program = next((root / name for name in PROGRAMS if (root / name).is_file()), None)
    return [*found, *([(program.resolve(), "/usr/bin/nvidia-smi")] if program is not None else [])]


def _libraries(folder: Path, version: str) -> Iterator[Path]:
    """Each by all of its names: the loader asks for the one that programs were linked with."""
    for name in NAMES:
        for path in sorted(folder.glob(f"lib{name}.so*")):
            if path.resolve().name.endswith(f".so.{version}"):
                yield path
