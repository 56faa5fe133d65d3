"""Create, change and delete models; start to add versions, which `copying` carries out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.modelhub import selectors, uses
from apps.modelhub.choices import Source, VersionState
from apps.modelhub.models import Model, ModelVersion, TrainingData
from apps.storage import disk, jobs, listings, owned, trees
from apps.storage import services as storage
from apps.storage.choices import JobKind
from apps.storage.models import DatasetVersion
from apps.storage.naming import clean_name, name_taken
from apps.storage.roots import Root
from apps.storage.safe_open import open_file, open_folder, split_path
from apps.storage.sharing import require_manage
from apps.tenants import quotas
from apps.tenants.choices import HolderKind, Resource
from apps.workloads.models import Workload

MOST_CARD = 20_000


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a version comes from. `name`: of the run or volume, as people read it."""

    source: Source
    name: str = ""
    workload: Workload | None = None
    parent: ModelVersion | None = None
    datasets: Sequence[DatasetVersion] = ()
    code_digest: str = ""
    metrics: dict[str, Any] = field(default_factory=dict)


def create(actor: Actor, *, name: str, note: str = "", open_to_all: bool = False) -> Model:
    """A model of the actor's own, without a version yet. Raises `Invalid`."""
    actor.require(Permission.MODELS_USE)
    try:
        with transaction.atomic():
            model: Model = Model.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                department_id=actor.department_id,
                name=clean_name(name),
                note=note[:200],
                open_to_all=open_to_all,
            )
            owned.log(actor, model, "created", after={"name": model.name, "open_to_all": open_to_all})
    except IntegrityError as error:
        raise name_taken() from error
    model.refresh_from_db()
    return model


def change(
    actor: Actor, model: Model, *, name: str | None = None, note: str | None = None, open_to_all: bool | None = None
) -> None:
    """Rename it, and decide whether every colleague may read it. Raises `Invalid`, `Denied`."""
    with transaction.atomic():
        owned.rename(actor, model, name=model.name if name is None else name, note=note)
        if open_to_all is not None and open_to_all != model.open_to_all:
            Model.objects.filter(pk=model.pk).update(open_to_all=open_to_all)
            owned.log(actor, model, "opened" if open_to_all else "closed")


def add_version(
    actor: Actor, model: Model, source: Root, path: str = "", *, lineage: Lineage, note: str = "", framework: str = ""
) -> ModelVersion:
    """Queue the next version, of a folder or a single file of a tree; its row says when its contents are there.

    Raises `Invalid` beside `path`, `Denied`, `NotFound`, `Conflict`.
    """
    model = selectors.get_writable(actor, model.pk)
    disk.require_free_space()
    folder, only = _split(source.path, path)
    with transaction.atomic():
        row = Model.objects.select_for_update().get(pk=model.pk)
        version: ModelVersion = ModelVersion.objects.create(
            organisation_id=row.organisation_id,
            model=row,
            number=row.newest + 1,
            note=note[:200],
            card=_card_before(row),
            framework=framework[:60],
            source=lineage.source,
            source_name=lineage.name[:200],
            source_path=path,
            workload=lineage.workload,
            parent=lineage.parent,
            code_digest=lineage.code_digest,
            metrics=lineage.metrics,
            made_by_id=actor.person(),
        )
        Model.objects.filter(pk=row.pk).update(newest=version.number)
        _keep_datasets(version, lineage.datasets)
        _start_copying(actor, version, source, folder, only)
    version.refresh_from_db()
    return version


def _card_before(model: Model) -> str:
    """A new version begins with the card of the one before."""
    return selectors.versions(model).values_list("card", flat=True).first() or ""


def write_card(actor: Actor, version: ModelVersion, text: str) -> None:
    """Raises `Invalid` beside `card`, `Denied`."""
    selectors.get_writable(actor, version.model_id)
    if len(text) > MOST_CARD:
        raise Invalid.field("card", _("A model card has %(count)s characters at most.") % {"count": f"{MOST_CARD:,}"})
    with transaction.atomic():
        ModelVersion.objects.filter(pk=version.pk).update(card=text)
        record(
            actor,
            action="model.card",
            organisation_id=version.organisation_id,
            target=Target("model", str(version.model_id), version.model.name),
            after={"number": version.number, "characters": len(text)},
        )


def _split(root: Path, path: str) -> tuple[str, str]:
    """The folder, and the name of the one file in it that was meant; "" where the whole folder was."""
    names = split_path(path)
    try:
        with open_folder(root, path):
            return "/".join(names), ""
    except NotFound:
        pass
    try:
        with open(open_file(root, path), "rb"):
            return "/".join(names[:-1]), names[-1]
    except NotFound as error:
        raise Invalid.field("path", _("There is no such file or folder.")) from error


def _keep_datasets(version: ModelVersion, datasets: Sequence[DatasetVersion]) -> None:
    TrainingData.objects.bulk_create(
        TrainingData(
            organisation_id=version.organisation_id,
            version=version,
            dataset_version=each,
            name=f"{each.dataset.name} v{each.number}",
        )
        for each in datasets
    )


def _start_copying(actor: Actor, version: ModelVersion, source: Root, folder: str, only: str) -> None:
    jobs.start(
        actor,
        kind=JobKind.MODEL,
        title=_("Version %(number)s of %(name)s") % {"number": version.number, "name": version.model.name},
        subject_id=version.pk,
        parameters={"source": [source.kind, str(source.id)], "path": folder, "only": only},
        total_bytes=source.used if not folder and not only else 0,
    )


def delete_version(actor: Actor, version: ModelVersion) -> None:
    """For good. `Conflict` with what still uses it, and while it is being copied."""
    require_manage(actor, version.model)
    with transaction.atomic():
        Model.objects.select_for_update().get(pk=version.model_id)
        row = ModelVersion.objects.select_for_update(of=("self",)).select_related("model").get(pk=version.pk)
        if row.state == VersionState.COPYING:
            raise Conflict(_("It is being copied."), hint=_("Wait until it is done, or cancel that."))
        _refuse_used([row])
        _drop(row)
        record(
            actor,
            action="model.version_deleted",
            organisation_id=row.organisation_id,
            target=Target("model", str(row.model_id), row.model.name),
            before={"number": row.number, "digest": row.digest},
        )


def delete(actor: Actor, model: Model) -> None:
    """Move it to the bin with all versions. `Conflict` with what still uses one, and while one is being copied."""
    require_manage(actor, model)
    rows = list(selectors.versions(model))
    if any(row.state == VersionState.COPYING for row in rows):
        raise Conflict(_("A version of this model is being copied."), hint=_("Wait until it is done, or cancel that."))
    _refuse_used(rows, whole=True)
    owned.move_to_bin(actor, model)


def _refuse_used(versions: Sequence[ModelVersion], *, whole: bool = False) -> None:
    """`whole`: the model goes too, and with it what is its own."""
    found = [
        f"v{version.number}: {use}"
        for version in versions
        for use in uses.uses_of(version)
        if use.holds and not (whole and use.own)
    ]
    if found:
        text = _("Something still needs it: %(uses)s.") % {"uses": ", ".join(found[:10])}
        raise Conflict(text, hint=_("End that first, then delete it."))


def restore(actor: Actor, model: Model) -> None:
    """Restore it from the bin. `Conflict` if its name has been taken meanwhile."""
    owned.restore(actor, model, name_taken=_("Another model has this name now."))


def purge(actor: Actor, model: Model) -> None:
    """Remove it for good: versions, rows and their quota. The next collection removes the contents."""
    require_manage(actor, model)
    with transaction.atomic():
        row = owned.locked_in_bin(model)
        for version in selectors.versions(row):
            _drop(version)
        draft = row.draft
        owned.log(actor, row, "purged")
        row.delete()
        if draft is not None:
            storage.remove_folder(draft)


def _drop(version: ModelVersion) -> None:
    """The row, its quota and its files. Call it last in the transaction."""
    manifest, root = version.manifest, disk.data_root() / version.relative_path
    if version.reserved_mib:
        quotas.release(
            organisation_id=version.organisation_id,
            department_id=version.model.department_id,
            user_id=version.model.owner_id,
            amounts={Resource.STORAGE_MIB: version.reserved_mib},
            holder=quotas.Holder(HolderKind.MODEL, version.pk),
        )
    listings.remove_listing(version.organisation_id, version.pk)
    version.delete()
    if manifest is not None:
        trees.drop_manifest(manifest)
    disk.move_to_trash(root)  # of one that failed too: its job may have been killed halfway


def purge_due(actor: Actor) -> int:
    """Purge models that have been in the bin long enough; returns how many."""
    return owned.purge_due(actor, Model.objects.all(), purge)
