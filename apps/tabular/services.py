"""Starting a search on a table. Stopping it, going on with it and deleting it are acts on its run."""

import json
from pathlib import Path
from typing import Any

from django.db import IntegrityError
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.storage import datasets
from apps.storage import services as storage
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.storage.models import DatasetVersion, Folder, FolderKind
from apps.tabular import preview
from apps.tabular.choices import RUNTIME
from apps.tabular.models import TableSearch
from apps.tabular.wanted import NewSearch, check, place_of
from apps.training import services as runs
from apps.training.choices import KIND
from apps.training.models import Entry, Run
from apps.workloads import services as workloads
from apps.workloads.launching.submission import choose_package

PROGRAM = Path(__file__).resolve().parent / "program"
SCRIPT = "search.py"
STARTER = '''"""Starts the search of the folder `tables`, with what `search.json` says."""

from tables.main import main

main()
'''
# Beside the search itself: reading the table, and judging the best model at the end.
AROUND_S = 300
LONGEST_AROUND_S = 3600


def start(actor: Actor, wanted: NewSearch) -> TableSearch:
    """Check the table's head, write the program, and submit its run, all or nothing.

    Raises `Invalid` with every field at fault, and whatever a run's start raises.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    made = _made(actor, wanted.key)
    if made is not None:
        return made
    version = chosen_version(actor, wanted)
    package = choose_package(actor, wanted.package_id)
    check(wanted, preview.read(actor, version, wanted.file), package.memory_mib)
    image = runtime(actor)
    try:
        with storage.new_folders() as folders:
            code = _write_code(actor, wanted, version, package, folders)
            run = runs.submit(actor, _request(wanted, image, code, version))
            return _insert(actor, wanted, version, run)
    except IntegrityError:  # perhaps the same key, sent twice at once
        made = _made(actor, wanted.key)
        if made is None:
            raise
        return made


def chosen_version(actor: Actor, wanted: NewSearch) -> DatasetVersion:
    try:
        return datasets.get_version(actor, wanted.version_id)
    except NotFound as error:
        raise Invalid.field("version", _("Choose a version of a dataset that you can see.")) from error


def runtime(actor: Actor) -> Image:
    """The platform's image in which searches run. Raises `Conflict` where the actor is not offered it."""
    found = registry.images(actor).filter(key=RUNTIME).first()
    if found is None:
        raise Conflict(
            _("The runtime for searches on tables is not on offer to you."),
            hint=_("An administrator can put the image FLAML for tables on offer."),
        )
    return found


def _made(actor: Actor, key: str) -> TableSearch | None:
    """What the key has started before. Raises `Conflict` where that was another run."""
    workload = workloads.submitted(actor, KIND, key)
    if workload is None:
        return None
    found = TableSearch.objects.filter(family=Run.objects.get(workload=workload).family).first()
    if found is None:
        raise Conflict(_("This key has started something else."), hint=_("Send the request with a key of its own."))
    return found


def _write_code(
    actor: Actor, wanted: NewSearch, version: DatasetVersion, package: Package, folders: list[Folder]
) -> Folder:
    """The program with what it is told, added to `folders`."""
    code = storage.create_folder(actor, kind=FolderKind.CODE)
    folders.append(code)
    for each in sorted(PROGRAM.glob("*.py")):
        storage.write_text(actor, folder=code, path=f"tables/{each.name}", text=each.read_text())
    told: dict[str, Any] = {
        **wanted.told(),
        "file": place_of(version, wanted.file),
        "cpus": max(1, package.cpu_milli // 1000),
    }
    storage.write_text(actor, folder=code, path="search.json", text=json.dumps(told, indent=2, ensure_ascii=False))
    storage.write_text(actor, folder=code, path=SCRIPT, text=STARTER)
    return code


def _request(wanted: NewSearch, image: Image, code: Folder, version: DatasetVersion) -> runs.Request:
    expected_s = 60 * wanted.minutes + AROUND_S
    return runs.Request(
        name=wanted.name,
        note=wanted.note,
        key=wanted.key,
        tags=wanted.tags,
        image_id=image.pk,
        package_id=wanted.package_id,
        also_ids=wanted.also_ids,
        preemptible=wanted.preemptible,
        cluster_id=wanted.cluster_id,
        cap_fen=wanted.cap_fen,
        expected_s=wanted.expected_s or expected_s,
        longest_s=wanted.longest_s or expected_s + LONGEST_AROUND_S,
        entry=Entry.PYTHON,
        script=SCRIPT,
        code_id=code.pk,
        mounts=(Chosen(RootKind.VERSION, version.pk),),
    )


def _insert(actor: Actor, wanted: NewSearch, version: DatasetVersion, run: Run) -> TableSearch:
    search: TableSearch = TableSearch.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        family=run.family,
        version=version,
        dataset_name=version.dataset.name,
        dataset_number=version.number,
        path=wanted.file,
        target=wanted.target,
        task=wanted.task,
        metric=wanted.metric,
        settings=wanted.told(),
    )
    record(
        actor,
        action="table_search.started",
        target=Target("table_search", str(search.pk), run.name),
        after={"run": str(run.pk), "dataset": version.dataset.name, "number": version.number, "target": wanted.target},
    )
    return search
