"""Versions of a service: made once, never changed, mounted anew at each start."""

from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.modelhub import selectors as models
from apps.modelhub.models import ModelVersion
from apps.modelhub.mounted import mount
from apps.registry import selectors as registry
from apps.serving.choices import Runtime
from apps.serving.drafts import Draft
from apps.serving.models import Service, ServiceVersion
from apps.serving.program import MODEL, SCRIPT
from apps.storage import services as storage
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen, mounts_of
from apps.storage.models import Folder, FolderKind
from apps.workloads.spec import DataMount


def add_version(owner: Actor, service: Service, draft: Draft, folders: list[Folder]) -> ServiceVersion:
    """Needs the service's lock, or its insertion. `folders`: as `storage.new_folders` has them."""
    columns, image = draft.columns(), registry.choosable_image(owner, draft.image_id, containers=True)
    newest = ServiceVersion.objects.filter(service=service).aggregate(newest=Max("number"))["newest"] or 0
    mounts_of(owner, draft.mounts)
    model = _model(owner, draft.model_id)
    code = None
    if draft.runtime == Runtime.SCRIPT:
        code = storage.create_folder(owner, kind=FolderKind.CODE)
        folders.append(code)
        storage.write_text(owner, folder=code, path=SCRIPT, text=draft.script)
        storage.seal(code)
    version: ServiceVersion = ServiceVersion.objects.create(
        organisation_id=service.organisation_id,
        service=service,
        number=newest + 1,
        author_id=owner.person(),
        image=image,
        code=code,
        model=model,
        mounts=[_mount_row(each) for each in draft.mounts],
        **columns,
    )
    return version


def _model(owner: Actor, model_id: UUID | None) -> ModelVersion | None:
    """Raises `Invalid` beside `model` for one that cannot be mounted."""
    if model_id is None:
        return None
    try:
        found = models.version(owner, model_id)
        mount(owner, found, MODEL)
    except NotFound as error:
        raise Invalid.field("model", _("There is no such version of a model that you may use.")) from error
    except Conflict as error:
        raise Invalid.field("model", error.message, hint=error.hint) from error
    return found


def mounts_for(owner: Actor, version: ServiceVersion) -> tuple[DataMount, ...]:
    """Asked anew at each start, as rights may have gone since."""
    mounts = mounts_of(owner, chosen_of(version))
    return (*mounts, mount(owner, version.model, MODEL)) if version.model is not None else mounts


def _mount_row(choice: Chosen) -> dict[str, Any]:
    return {"kind": str(choice.kind), "id": str(choice.id), "read_only": choice.read_only}


def chosen_of(version: ServiceVersion) -> tuple[Chosen, ...]:
    """The volumes and dataset versions that it mounts."""
    return tuple(Chosen(RootKind(row["kind"]), UUID(row["id"]), row["read_only"]) for row in version.mounts)
