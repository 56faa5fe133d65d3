"""Models that a program logs: a folder among the artifacts of its run, and a file beside it with what was said of it.

MLflow 3 asks the server for each model before it uploads one. Nothing of it is in the database: a model is kept, copied
and deleted as the output that it is part of. Its id names its run, so that it is found without a list of all.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid, NotFound
from apps.tracking import artifacts
from apps.tracking.artifacts import Place

FOLDER = "models"
LARGEST = 1 << 20  # bytes of what is said of one model
PENDING, READY, FAILED = "LOGGED_MODEL_PENDING", "LOGGED_MODEL_READY", "LOGGED_MODEL_UPLOAD_FAILED"
STATUSES = frozenset({PENDING, READY, FAILED})
_ID = re.compile(r"m-([0-9a-f]{32})[0-9a-f]{12}", re.ASCII)
Admit = Callable[[], None]


@dataclass(frozen=True, slots=True)
class LoggedModel:
    """Times in Unix milliseconds."""

    id: str
    name: str
    kind: str = ""
    status: str = PENDING
    created_ms: int = 0
    updated_ms: int = 0
    tags: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return f"{FOLDER}/{self.id}"


def run_of(model_id: str) -> UUID:
    """The run that the id names; raises `NotFound` for what is no id of a model."""
    found = _ID.fullmatch(model_id)
    if found is None:
        raise NotFound
    return UUID(hex=found[1])


def create(
    place: Place, *, run_id: UUID, name: str, kind: str, tags: Mapping[str, str], parameters: Mapping[str, str],
    admit: Admit,
) -> LoggedModel:  # fmt: skip
    now = _now()
    model = LoggedModel(f"m-{run_id.hex}{token_hex(6)}", name, kind, PENDING, now, now, tags, parameters)
    _keep(place, model, admit)
    return model


def get(place: Place, model_id: str) -> LoggedModel:
    """Raises `NotFound`, also for a file that its program has broken."""
    run_of(model_id)
    descriptor = artifacts.opened(place, f"{FOLDER}/{model_id}.json")
    try:
        text = os.read(descriptor, LARGEST + 1)
    finally:
        os.close(descriptor)
    try:
        return _model(model_id, json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotFound from error


def every(place: Place) -> list[LoggedModel]:
    """Of this run, oldest first."""
    names = [each.name.removesuffix(".json") for each in artifacts.listing(place, FOLDER) if not each.is_folder]
    found: list[LoggedModel] = []
    for name in names:
        with suppress(NotFound):
            found.append(get(place, name))
    return sorted(found, key=lambda model: (model.created_ms, model.id))


def change(
    place: Place,
    model_id: str,
    *,
    status: str = "",
    tags: Mapping[str, str | None] | None = None,
    parameters: Mapping[str, str] | None = None,
    admit: Admit,
) -> LoggedModel:
    """`tags`: None as a value removes one."""
    model = get(place, model_id)
    if status and status not in STATUSES:
        raise Invalid.field("status", _("There is no status “%(status)s”.") % {"status": status[:40]})
    left = {name: value for name, value in {**model.tags, **(tags or {})}.items() if value is not None}
    changed = replace(
        model,
        status=status or model.status,
        tags=left,
        parameters={**model.parameters, **(parameters or {})},
        updated_ms=_now(),
    )
    _keep(place, changed, admit)
    return changed


def _keep(place: Place, model: LoggedModel, admit: Admit) -> None:
    text = json.dumps(asdict(model), ensure_ascii=True).encode()
    if len(text) > LARGEST:
        raise Invalid(_("Tags and parameters of one model may take 1 MiB at most."))
    artifacts.store(place, f"{model.folder}.json", size=len(text), chunks=[text], admit=admit)


def _model(model_id: str, said: Mapping[str, object]) -> LoggedModel:
    if said["status"] not in STATUSES:
        raise ValueError(said["status"])
    return LoggedModel(
        id=model_id,
        name=str(said["name"]),
        kind=str(said["kind"]),
        status=str(said["status"]),
        created_ms=int(str(said["created_ms"])),
        updated_ms=int(str(said["updated_ms"])),
        tags=_texts(said["tags"]),
        parameters=_texts(said["parameters"]),
    )


def _texts(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        raise TypeError("not an object")
    return {str(name): str(value) for name, value in values.items()}


def _now() -> int:
    return int(time.time() * 1000)
