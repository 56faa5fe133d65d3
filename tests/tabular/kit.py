"""Tables, and searches on them, for tests."""

from typing import Any
from uuid import uuid4

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.registry.recipes.catalogue import find
from apps.storage import datasets, versions, volumes, working
from apps.storage.choices import RootKind
from apps.storage.models import DatasetVersion
from apps.storage.roots import resolve
from apps.tabular import selectors, services
from apps.tabular.choices import RUNTIME, Metric, Task
from apps.tabular.models import TableSearch
from apps.tabular.wanted import NewSearch
from apps.training.models import Run
from tests.builders import World, actor_of, make_image, platform

CITIES = ("Berlin", "Paris", "上海")


def iris(rows: int = 40) -> str:
    """A small table: an id, a number, a category with gaps, a constant, and a class that is told twice."""
    lines = ["row,width,city,unit,species,code"]
    for at in range(rows):
        city = CITIES[at % 3] if at % 5 else ""
        lines.append(f"{at},{at % 17 / 10},{city},cm,{'setosa' if at % 2 else 'virginica'},{at % 2}")
    return "\n".join(lines) + "\n"


TABLES = {"iris.csv": iris(), "small.csv": iris(3), "notes.csv": "just one column\nand no other\n"}


def make_runtime() -> Image:
    recipe = find(RUNTIME)
    assert recipe is not None
    return make_image(RUNTIME, recipe.requirements)


def make_version(
    world: World, files: dict[str, str] | None = None, name: str = "flowers", actor: Actor | None = None
) -> DatasetVersion:
    """A version of a new dataset, with these files."""
    who = actor or world.actor
    with acting(who):
        volume = volumes.create(who, name=name, size_mib=20)
        for path, text in (files or TABLES).items():
            (volumes.root_of(volume) / path).write_text(text)
        dataset = datasets.create(who, name=name)
        versions.start(who, dataset, resolve(who, RootKind.VOLUME, volume.pk))
    with acting(platform()):
        working.run_due_jobs()
    with acting(who):
        return datasets.choosable(who).get(dataset=dataset)


def wanted_for(world: World, version: DatasetVersion, **changes: Any) -> NewSearch:
    """What would be accepted, but for `changes`."""
    values: dict[str, Any] = {
        "name": "flowers species",
        "key": uuid4().hex,
        "image_id": version.pk,
        "version_id": version.pk,
        "package_id": world.package.pk,
        "file": "iris.csv",
        "target": "species",
        "task": Task.CLASSIFICATION,
        "metric": Metric.ROC_AUC,
        "left_out": ("code",),
    }
    return NewSearch(**{**values, **changes})


def start(world: World, version: DatasetVersion, actor: Actor | None = None, **changes: Any) -> TableSearch:
    """As the actor sees it."""
    who = actor or world.actor
    with acting(who):
        return selectors.get(who, services.start(who, wanted_for(world, version, **changes)).pk)


def run_of(world: World, search: TableSearch) -> Run:
    with acting(world.actor):
        return selectors.run_of(world.actor, search)


def search_values(world: World, secret: str) -> dict[str, Any]:
    """A search of the world's member, by the names of paths."""
    make_runtime()
    actor = actor_of(world.alice, world.organisation)
    version = make_version(world, {"iris.csv": iris()}, f"{secret}-tables", actor)
    return {"search_id": start(world, version, actor, name=f"{secret} search", note=f"{secret} note").pk}
