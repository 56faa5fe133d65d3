"""The kernel and its neighbours know no kind of work by name: they ask the kind's rules."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from apps.tenants.choices import Resource
from apps.workloads import kinds

HOUSE = Path(__file__).parents[2]
# Of each kind its app and its templates; what is composed of all of them stands in `plstack`.
FOLDERS = {"boards", "builds", "envs", "serving", "training"}
# What is about one kind and no kind itself: schedules, pipelines and searches on tables start runs, tuning judges them.
ABOUT_ONE = {"automl", "pipelines", "schedules", "tabular", "tuning"}
NEIGHBOURS = sorted(
    path
    for path in (HOUSE / "apps").iterdir()
    if path.is_dir() and path.name not in {*FOLDERS, *ABOUT_ONE, "__pycache__"}
)
PAGES = sorted(
    path for path in (HOUSE / "templates").iterdir() if path.is_dir() and path.name not in FOLDERS | ABOUT_ONE
)

PUBLISHED = "Published names, stored and in the API in this order; a further kind brings its own with its rules."
OVERVIEW = "The overview's panes of runs and environments: each is a reading of that kind's own app."
ALLOWED: Mapping[str, Mapping[str, str]] = {
    "apps/notifications/kinds.py": {"run.…": PUBLISHED, "environment.…": PUBLISHED},
    "apps/notifications/words/storage.py": {"envs:…": "A home folder's notice leads to the list of who has homes."},
    "apps/storage/roots.py": {
        "TRAINING_MANAGE_ALL": "Folders of code and outputs, kinds of folders that storage has in its own table.",
        "ENVIRONMENTS_MANAGE_ALL": "Home folders, a kind of folder that storage has in its own table.",
    },
    "apps/console/navigation.py": {"TRAINING_VIEW": "Tuning is about runs: whoever sees these finds it."},
    "apps/console/portal/capacity.py": {"apps.training.choices": "The card of free packages offers to start training."},
    "apps/console/portal/environments.py": {"ENVIRONMENTS_VIEW": OVERVIEW},
    "apps/console/portal/views.py": {
        "TRAINING_VIEW": OVERVIEW,
        "TRAINING_MANAGE_ALL": OVERVIEW,
        "TRAINING_SUBMIT": OVERVIEW,
        "ENVIRONMENTS_USE": OVERVIEW,
    },
    "templates/registry/list.html": {"builds:…": "The list of images leads to where one is built."},
    "templates/registry/detail.html": {
        "envs:…": "An image's page offers to make an environment of it.",
        "builds:…": "And to build one of it, or what its recipe says.",
    },
    "templates/registry/recipe.html": {"builds:…": "A recipe is there to be built."},
    "templates/registry/cells/actions.html": {
        "envs:…": "An image's row offers to make an environment of it.",
        "builds:…": "And to build one of it that has what environments need.",
    },
    "templates/models/version.html": {"serving:…": "A version of a model is there to be served, too."},
    "templates/portal/overview.html": {"training:…": OVERVIEW, "envs:…": OVERVIEW},
    "templates/portal/parts/runs.html": {"training:…": OVERVIEW},
    "templates/portal/parts/run.html": {"training:…": OVERVIEW},
    "templates/portal/parts/free.html": {"training:…": OVERVIEW},
    "templates/portal/parts/environments.html": {"envs:…": OVERVIEW},
}
# The console stands above the kinds' apps and has pages about some: it may read them, but not tell them apart.
READS_KINDS = {"console"}


def rules() -> tuple[kinds.KindRules, ...]:
    return kinds.every()


def names() -> set[str]:
    return {str(each.name) for each in rules()}


def prefixes() -> dict[str, str]:
    """How a string begins that names a kind's notice or page, and how that is written above."""
    subjects = {f"{each.notices.subject}.": f"{each.notices.subject}.…" for each in rules()}
    sections = {f"{each.page.partition(':')[0]}:": f"{each.page.partition(':')[0]}:…" for each in rules()}
    return subjects | sections


def members() -> set[str]:
    """Names by which Python reaches what is one kind's: its permissions, its line of quota, itself."""
    permissions = {permission.permission.name for each in rules() for permission in each.permissions}
    lines = {each.quota_line.name for each in rules() if each.quota_line in Resource}
    return permissions | lines | {name.upper() for name in names()}


def named_in(tree: ast.AST, *, may_import: bool) -> Iterator[str]:
    owners = {"Resource", "Kind"}
    reached, named, begun = members(), names(), prefixes().items()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in reached:
            of = getattr(node.value, "id", "")
            if of in owners or of in {"P", "Permission"}:
                yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in named:
                yield node.value
            yield from (shown for begins, shown in begun if node.value.startswith(begins))
        elif isinstance(node, ast.ImportFrom) and is_of_kind(node.module or ""):
            module = node.module or ""
            names_it = module.endswith(".kind") or "KIND" in {alias.name for alias in node.names}
            yield from [module] if names_it or not may_import else []


def is_of_kind(module: str) -> bool:
    return module.split(".")[:2] in [["apps", folder] for folder in FOLDERS]


def found_in(path: Path) -> set[str]:
    text = path.read_text()
    if path.suffix == ".html":
        literals = re.findall(r"""["']([\w.:-]+)["']""", text)
        return {shown for word in literals for begins, shown in prefixes().items() if word.startswith(begins)} | (
            {word for word in literals if word in names()}
        )
    may_import = path.relative_to(HOUSE / "apps").parts[0] in READS_KINDS
    return set(named_in(ast.parse(text), may_import=may_import))


def files() -> Iterator[Path]:
    for folder in NEIGHBOURS:
        yield from (path for path in sorted(folder.rglob("*.py")) if path.parent.name != "migrations")
    for folder in PAGES:
        yield from sorted(folder.rglob("*.html"))


def test_no_kind_is_named_outside_its_folder() -> None:
    found = {str(path.relative_to(HOUSE)): names_there for path in files() if (names_there := found_in(path))}
    strange = {path: sorted(there - set(ALLOWED.get(path, {}))) for path, there in found.items()}
    assert {path: there for path, there in strange.items() if there} == {}, "ask apps.workloads.kinds instead"
    unused = {path: sorted(set(there) - found.get(path, set())) for path, there in ALLOWED.items()}
    assert {path: there for path, there in unused.items() if there} == {}, "not there any more: take it off the list"


def test_what_looks_for_names_finds_them() -> None:
    source = """
from apps.training.choices import KIND
from apps.envs import selectors
def count(kind="training"):
    return Resource.RUNS, P.TRAINING_VIEW, reverse("envs:list"), f"run.{kind}", Kind.ENVIRONMENT
"""
    assert set(named_in(ast.parse(source), may_import=True)) == {
        *("apps.training.choices", "training", "RUNS", "TRAINING_VIEW", "envs:…", "run.…", "ENVIRONMENT")
    }
    assert "apps.envs" in set(named_in(ast.parse(source), may_import=False))


def test_each_folder_of_a_kind_has_its_rules() -> None:
    assert {path.parent.name for path in (HOUSE / "apps").glob("*/kind.py")} == FOLDERS
    assert len(rules()) == len(FOLDERS)
