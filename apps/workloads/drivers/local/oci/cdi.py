"""The driver's libraries of accelerators in an image that has none, as the machine's CDI files describe them.

Container Device Interface, specification 0.8 (github.com/cncf-tags/container-device-interface, SPEC.md); `nvidia-ctk
cdi generate` writes `nvidia.yaml`. Of a file, its edits for all containers are taken, and those of the devices that
were granted. Where there is no file about NVIDIA's cards, `nvidia_libraries` finds what one would name. Which device
nodes there are stays with `local.devices`. Hooks are not run: the links that `create-symlinks` would make are made
here, and folders of libraries go into LD_LIBRARY_PATH, instead of the image's cache of them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from apps.clusters import nvidia
from apps.workloads.drivers.base import DeviceGrant, LaunchRequest, Reference
from apps.workloads.drivers.local.oci import nvidia_libraries
from apps.workloads.drivers.local.oci.edits import Edits

FOLDERS = (Path("/etc/cdi"), Path("/var/run/cdi"))
MOST_BYTES = 4 * 1024 * 1024
_KINDS = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "huawei": "huawei.com/Ascend"}


def edits_for(request: LaunchRequest) -> Edits:
    """A runtime has the machine's own libraries around it, and needs none."""
    return edits(request.devices) if isinstance(request.image, Reference) else Edits()


def edits(grants: Sequence[DeviceGrant], folders: Sequence[Path] = FOLDERS) -> Edits:
    """For these grants; none where nothing is known of their vendor's libraries."""
    found: list[Mapping[str, Any]] = []
    for vendor in dict.fromkeys(grant.vendor for grant in grants):
        document = next((d for d in _documents(folders) if d.get("kind") == _KINDS.get(vendor)), None)
        if document is not None:
            found += _wanted(document, [grant for grant in grants if grant.vendor == vendor])
        elif vendor == "nvidia":
            found.append(_without_file())
    sources = {inside: source for each in found for source, inside in _mounts(each)}
    libraries = dict.fromkeys(str(Path(inside).parent) for inside in sources if ".so" in Path(inside).name)
    env = dict(pair for each in found for pair in _env(each))
    if libraries:
        env["LD_LIBRARY_PATH"] = ":".join(libraries)
    links = dict(pair for each in found for pair in _links(each))
    mounts = tuple((source, inside) for inside, source in sources.items())
    return Edits(mounts, tuple(links.items()), tuple(env.items()))


def _without_file() -> Mapping[str, Any]:
    pairs = nvidia_libraries.mounts(nvidia.driver_versions().get("nvidia-driver", "none"))
    return {"mounts": [{"hostPath": str(source), "containerPath": inside} for source, inside in pairs]}


def _documents(folders: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
    for folder in folders:
        for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.json")]):
            try:
                if path.stat().st_size > MOST_BYTES:
                    continue
                text = path.read_text()
                document = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
            except (OSError, ValueError, yaml.YAMLError):
                continue
            if isinstance(document, dict):
                yield document


def _wanted(document: Mapping[str, Any], grants: Sequence[DeviceGrant]) -> list[Mapping[str, Any]]:
    """The edits for all, and those of each device that is named by a grant's id or its place among the cards."""
    names = {name for grant in grants for name in (grant.uuid, grant.mig_uuid, str(grant.index)) if name}
    found = [document.get("containerEdits")]
    for device in _dicts(document.get("devices")):
        if str(device.get("name")) in names:
            found.append(device.get("containerEdits"))
    return _dicts(found)


def _mounts(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for mount in _dicts(found.get("mounts")):
        source, inside = mount.get("hostPath"), mount.get("containerPath")
        if isinstance(source, str) and isinstance(inside, str) and inside.startswith("/") and ".." not in inside:
            yield source, inside


def _links(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """`--link <target>::<path>` of the hook `create-symlinks`."""
    for hook in _dicts(found.get("hooks")):
        arguments = [str(argument) for argument in hook.get("args") or ()]
        if "create-symlinks" in arguments:
            for name, value in pairwise(arguments):
                target, separator, path = value.partition("::")
                if name == "--link" and separator and path.startswith("/") and ".." not in path:
                    yield path, target


def _env(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for line in found.get("env") or ():
        name, separator, value = str(line).partition("=")
        if separator:
            yield name, value


def _dicts(found: object) -> list[Mapping[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
