"""Homes and kits of the local driver."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import CannotSee, Handle, IsolationLevel
from apps.workloads.drivers.local import cgroups, processes, sandbox
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from tests.drivers.channels import KINDS, FakeShim, Line, lines
from tests.drivers.kit import VOLUMES, Kit

MakeKit = Callable[[IsolationLevel, bool], Kit]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all, so that the runtime is built once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def make_kit(home: Path, tmp_path: Path) -> Iterator[MakeKit]:
    """Makes kits of a level; whatever their workloads leave running is ended with the test."""
    before = set(LocalDriver(home, IsolationLevel.L0).known())
    code, output = tmp_path / "code", tmp_path / "output"
    code.mkdir()
    output.mkdir()

    def make(level: IsolationLevel, use_cgroups: bool) -> Kit:
        if level is IsolationLevel.L1 and obstacle():
            pytest.skip(obstacle())
        if use_cgroups and not control_groups_work():
            pytest.skip("control groups are not writable here")
        return Kit(LocalDriver(home, level, use_cgroups, volumes=VOLUMES), code, output)

    yield make
    driver = LocalDriver(home, IsolationLevel.L0)
    for ref in set(driver.known()) - before:
        processes.end_marked(MARKER, ref, 5)
        with suppress(CannotSee):
            driver.observe(Handle("local", "node-1", ref))


@cache
def obstacle() -> str:
    return str(sandbox.obstacle() or "")


@cache
def control_groups_work() -> bool:
    group = cgroups.create(f"test-{uuid4().hex}", 64, 1000)
    if group is not None:
        group.remove()
    return group is not None


@pytest.fixture
def isolated(make_kit: MakeKit) -> Kit:
    return make_kit(IsolationLevel.L1, False)


@pytest.fixture
def plain(make_kit: MakeKit) -> Kit:
    return make_kit(IsolationLevel.L0, False)


@pytest.fixture
def fake_shim() -> FakeShim:
    return FakeShim()


@pytest.fixture(params=KINDS)
def line(request: pytest.FixtureRequest, fake_shim: FakeShim) -> Iterator[Line]:
    """A channel to it, over each kind of stream."""
    with lines(request.param, fake_shim) as found:
        yield found
