"""Only the composition root knows which drivers there are: everybody else asks a driver what it offers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.workloads import nodes

ROOT = Path(__file__).parents[2]
DRIVERS = ROOT / "apps/workloads/drivers"
NAMES = {path.parent.name for path in DRIVERS.glob("*/driver.py")}
CONCRETE = tuple(f"apps.workloads.drivers.{name}" for name in sorted(NAMES))
OCI = "the manifests and the client of registries, which machines without a container engine bring along"
SCANNING = "a scanner that reads hostile layers runs in the sandbox of tenants' work, beside the worker"
# Whose very purpose one driver is, with the reason.
ALLOWED = {
    "apps/workloads/nodes.py": "the composition root",
    "apps/workloads/hardware/agent_api.py": "the door at which the remote driver's agents join and report",
    "apps/workloads/hardware/simulation.py": "the figures of hardware that the simulated driver makes up",
    "apps/clusters/services/joining.py": "the rows of machines that join as the remote driver's",
    "apps/registry/platforms.py": OCI,
    **{
        f"apps/registry/distribution/{name}.py": OCI
        for name in ("admission", "client", "deleting", "documents", "events")
    },
    **{
        f"apps/registry/transfers/{name}.py": OCI
        for name in ("archived_images", "archives", "copying", "planning", "reading", "sources")
    },
    **{f"apps/registry/scanning/{name}.py": SCANNING for name in ("confinement", "layout", "working")},
    "apps/training/git/confinement.py": "git reads hostile repositories in the sandbox of tenants' work",
    "apps/clusters/services/simulation.py": "the rows of hardware that only the simulated driver has",
}
SOURCES = sorted(
    path
    for folder in ("apps", "plstack")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(DRIVERS)
    and not path.is_relative_to(ROOT / "plstack/agent")  # the other half of the remote driver
    and path.parent.name != "migrations"
)


def test_every_driver_is_a_folder_that_the_composition_root_names() -> None:
    assert set(nodes._DRIVERS) == NAMES


def test_nobody_else_imports_a_driver_or_asks_for_its_name() -> None:
    named = {path: text for path in SOURCES if "driver" in (text := path.read_text())}
    found = {str(path.relative_to(ROOT)): list(offences(ast.parse(text))) for path, text in named.items()}
    guilty = {path for path, lines in found.items() if lines}
    assert not {path: found[path] for path in guilty - ALLOWED.keys()}
    assert guilty == ALLOWED.keys(), "an exception that nobody needs any more"


def test_no_page_asks_for_a_drivers_name() -> None:
    asks = re.compile(r"\bdriver\s*(==|!=)")
    assert not [path for path in (ROOT / "templates").rglob("*.html") if asks.search(path.read_text())]


@pytest.mark.parametrize(
    "source",
    [
        "from apps.workloads.drivers.local import cards",
        "from apps.workloads.drivers.remote.driver import NAME",
        "import apps.workloads.drivers.simulated.figures",
        "node.driver == 'local'",
        "'remote' != attempt.node.driver",
        "node.driver in ('local', 'simulated')",
        "Node.objects.filter(node__driver='remote')",
        "Node.objects.filter(driver__in=['remote'])",
        "DRIVER = 'simulated'",
        "LOCAL_DRIVER: str = 'local'",
    ],
)
def test_an_offence_is_seen(source: str) -> None:
    assert list(offences(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "from apps.workloads.drivers import base, capabilities",
        "isinstance(driver, FencingMixin)",
        "world == 'simulated'",
        "Zone.objects.filter(name='local')",
        "node.driver in asked",
    ],
)
def test_what_is_none_is_let_through(source: str) -> None:
    assert not list(offences(ast.parse(source)))


def offences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            imported = [f"{getattr(node, 'module', None) or ''}.{alias.name}".lstrip(".") for alias in node.names]
            yield from (name for name in imported if name.startswith(CONCRETE))
        elif _is_about_a_driver(node) and any(_names_one(below) for below in ast.walk(node)):
            yield ast.unparse(node)


def _is_about_a_driver(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(side, ast.Attribute) and side.attr == "driver" for side in [node.left, *node.comparators])
    if isinstance(node, ast.keyword):
        return "driver" in (node.arg or "").split("__")
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and "driver" in target.id.lower().split("_") for target in targets)


def _names_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES
