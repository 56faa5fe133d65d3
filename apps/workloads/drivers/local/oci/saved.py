"""Images that runs were saved as: `saved/<digest>/`, an OCI image layout of what no registry has of them.

OCI Image Format Specification, "Image Layout". A saved image is its base and one layer more. It goes by the repository
of its base, from which the other layers are fetched; to these the machine adds those that it keeps itself.
Standard library only.
"""

import errno
import json
import os
import re
import tarfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import DriverError, PullRules, Reference
from apps.workloads.drivers.images import Making
from apps.workloads.drivers.local.disk_floor import Pressure, Space
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.oci import confined, entering, kept, manifest, streams
from apps.workloads.drivers.local.oci.changes import Changes, Unsaved, left_out
from apps.workloads.drivers.local.oci.layers import TooManyFiles
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.local.tree_store import sync_files
from apps.workloads.drivers.said import Code, Said

FOLDER = kept.FOLDER
MIB = 1024 * 1024
MOST_MIB = 4096
"""Of one layer: somebody waits for it."""
PLACES = "places.json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
NAMED = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
CONFIG = "application/vnd.oci.image.config.v1+json"
_OF_DOCKER = {"application/vnd.docker.image.rootfs.diff.tar.gzip": f"{LAYER}+gzip",
              "application/vnd.docker.image.rootfs.diff.tar": LAYER}  # fmt: skip


def blob(home: Path, image: Reference, digest: str) -> Path | None:
    """What the layout of this image has under this digest; not checked yet."""
    path = _blobs(home / FOLDER / _hex(image.digest)) / _hex(digest)
    return path if path.is_file() else None


def note_places(run: RunDirectory, folders: list[str], files: list[str], links: list[str]) -> None:
    """What the platform puts into the root of a run, and so is no change of the run's. Raises OSError."""
    (run.root / PLACES).write_text(json.dumps([*folders, *files, *links]))


def save(run: RunDirectory, spec: RunSpec, making: Making) -> Reference:
    """The image of a run as it is now. The same changes make the same image. Files may all be as they were where
    `making` changes something.

    Raises `DriverError`: nothing was changed, nothing can be, it is too large, a file that no layer holds; or OSError.
    """
    image, home = spec.request.image, Path(spec.home)
    if not isinstance(image, Reference) or not (run.root / PLACES).exists():
        raise DriverError(Said(Code.ROOT_NOT_KEPT))
    if any((run.root / "merged").iterdir()):  # hard links stand in for an overlay, which nobody may change
        raise DriverError(Said(Code.ROOT_NOT_KEPT))
    documents = Store(home).documents(image)
    if documents is None:
        raise DriverError(Said(Code.BASE_NOT_KEPT, {"image": image.name}))
    if len(documents[0].get("layers", ())) >= spec.request.pull.most_layers:
        most = {"count": spec.request.pull.most_layers + 1, "most": spec.request.pull.most_layers}
        raise DriverError(Said(Code.IMAGE_TOO_MANY_LAYERS, {"image": image.name, **most}))
    if Space.of(home).pressure >= Pressure.LOW:
        raise DriverError(Said(Code.IMAGE_NO_ROOM, {"image": image.name}))
    draft = home / FOLDER / f".new-{uuid.uuid4().hex}"
    _blobs(draft).mkdir(mode=0o700, parents=True)
    try:
        layers = _write_layer(run, image, spec.request.pull, draft, bool(making.config or making.env))
        return _write_image(image, home, draft, documents, layers, making)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DriverError(Said(Code.IMAGE_NO_ROOM, {"image": image.name})) from error
        raise
    finally:
        remove_tree(draft)


def _write_layer(
    run: RunDirectory, image: Reference, rules: PullRules, draft: Path, may_be_empty: bool
) -> list[dict[str, Any]]:
    """Its descriptor; none where nothing was changed. It is not compressed. Raises DriverError, OSError."""
    path = draft / "layer"
    most_mib = min(rules.most_mib, MOST_MIB)
    mounted = left_out(json.loads((run.root / PLACES).read_text()))
    upper = os.open(entering.upper(run.root), confined.FOLDER)
    try:
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            changes = Changes(archive, mounted, most_mib * MIB, rules.most_files)
            changes.add(upper)
    except Unsaved as error:
        raise DriverError(Said(Code.FILE_NOT_SAVED, {"path": error.path[:200]})) from error
    except streams.TooLarge as error:
        raise DriverError(Said(Code.CHANGES_TOO_LARGE, {"limit_mib": most_mib})) from error
    except TooManyFiles as error:
        params: dict[str, str | int] = {"image": image.name, "count": rules.most_files}
        raise DriverError(Said(Code.IMAGE_TOO_MANY_FILES, params)) from error
    finally:
        os.close(upper)
    if not changes.files:
        if may_be_empty:
            path.unlink()
            return []
        raise DriverError(Said(Code.NOTHING_CHANGED))
    digest = streams.digest_of(path)
    size = path.stat().st_size
    path.rename(_blobs(draft) / _hex(digest))
    return [{"mediaType": LAYER, "digest": digest, "size": size}]


def _write_image(
    image: Reference,
    home: Path,
    draft: Path,
    documents: tuple[Mapping[str, Any], Mapping[str, Any]],
    added: Sequence[Mapping[str, Any]],
    making: Making,
) -> Reference:
    """Manifest and configuration beside the layer, and all of it to where it is kept. Raises OSError."""
    base, config = documents
    rootfs = config.get("rootfs") or {}
    identities = [*rootfs.get("diff_ids", ()), *(each["digest"] for each in added)]
    made = {**config, "rootfs": {"type": "layers", "diff_ids": identities}}
    about_program = config.get("config") or {}
    if making.config or making.env:
        variables = _variables(about_program.get("Env") or (), making.env)
        made["config"] = {**about_program, "Env": variables, **making.config}
    if "history" in config or making.commands:
        made["history"] = [*config.get("history", ()), *_history(making, len(added))]
    layers = [{**each, "mediaType": _OF_DOCKER.get(each.get("mediaType"), each.get("mediaType", LAYER))}
              for each in base["layers"]]  # fmt: skip
    for each in layers:  # those that an earlier saved image added are in no registry either
        if (own := blob(home, image, each["digest"])) is not None:
            os.link(own, _blobs(draft) / own.name)
    about = {
        "schemaVersion": 2,
        "mediaType": manifest.MANIFESTS[0],
        "config": _write_document(draft, made, CONFIG),
        "layers": [*layers, *map(dict, added)],
    }
    described = _write_document(draft, about, manifest.MANIFESTS[0])
    (draft / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (draft / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))
    final = home / FOLDER / _hex(described["digest"])
    sync_files(draft)
    kept.keep(draft, final)
    return Reference(image.repository, described["digest"])


def _variables(base: Sequence[str], added: Mapping[str, str]) -> list[str]:
    """As the configuration has them. Names that nothing defines stay as they are written."""
    found = dict(line.split("=", 1) for line in base if "=" in line)
    for name, value in added.items():
        found[name] = NAMED.sub(lambda match: found.get(match[1] or match[2], match[0]), value)
    return [f"{name}={value}" for name, value in found.items()]


def _history(making: Making, layers: int) -> list[dict[str, Any]]:
    """One entry for each command; the last one of them made the layer, if there is any."""
    commands = making.commands or ("PLStack: saved as image",)
    entries: list[dict[str, Any]] = [{"created_by": command, "empty_layer": True} for command in commands]
    if layers:
        del entries[-1]["empty_layer"]
    return entries


def _write_document(draft: Path, document: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Its descriptor."""
    body = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    digest = manifest.digest_of(body)
    (_blobs(draft) / _hex(digest)).write_bytes(body)
    return {"mediaType": kind, "digest": digest, "size": len(body)}


def _blobs(layout: Path) -> Path:
    return layout / "blobs" / "sha256"


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
