"""A real JupyterLab in an environment of a container image: the image's own Python runs cells, and it is saved as one.

Nothing is downloaded but what `test_jupyter` keeps: the image is made of this machine's files.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.envs.services import changing, images, running, tools
from apps.registry.models import Image
from apps.workloads.references import Reference
from tests.browser.test_jupyter import a_terminal_opens, cells_run, jupyter, start, stop
from tests.browser.test_jupyter import home as home
from tests.browser.test_jupyter import world as world
from tests.builders import World, make_package, platform
from tests.drivers import host_images
from tests.drivers.conftest import obstacle
from tests.drivers.registries import BUSYBOX, busybox, registry
from tests.envs import kit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BUSYBOX is None or not host_images.has_python(), reason="needs busybox-static and a Python"),
]


@pytest.fixture
def base(settings: LazySettings, tmp_path: Path) -> Iterator[Reference]:
    if obstacle():
        pytest.skip(obstacle())
    with registry(tmp_path) as pushed:
        settings.IMAGE_PULL_RULES = replace(pushed.rules, most_mib=1024)
        applets = busybox("sh", "cat", "which", "mkdir", "rm", "ls")
        yield pushed.image(
            applets, host_images.python_layer(), host_images.libraries_layer(), Env=["PATH=/usr/bin:/bin"]
        )


def test_cells_run_on_the_images_python_and_changes_are_saved(world: World, base: Reference) -> None:
    with acting(platform()):
        package = make_package(memory_mib=2048)
        image = Image.objects.create(key="box", name="Box", description_en="B", description_zh="B", reference=base.name)
    made = start(kit.make(world, package_id=package.pk, image_id=image.pk))
    lab = jupyter(made)
    with acting(world.actor):
        notebook = tools.running(world.actor, made)["notebook"]
    assert notebook["kernel"], notebook
    kernel = lab.ask("POST", "/api/kernels", {})["id"]
    cells_run(lab, kernel)
    assert lab.run(kernel, "import sys; print(sys._base_executable)").startswith("/usr/bin/python3")
    a_terminal_opens(lab)
    lab.run(
        kernel, "import os; os.makedirs('/srv/own'); open('/srv/own/file', 'w').write('kept'); os.remove('/bin/rm')"
    )
    with acting(world.actor):
        mine = images.save(world.actor, kit.again(made), name="mine")
    stop(world, made)
    with acting(world.actor):
        changing.change(world.actor, kit.again(made), changing.Change(image_id=mine.pk))
        again = start(running.start(world.actor, kit.again(made)))
    lab = jupyter(again)
    kernel = lab.ask("POST", "/api/kernels", {})["id"]
    assert lab.run(kernel, "import os; print(open('/srv/own/file').read(), os.path.exists('/bin/rm'))").strip() == (
        "kept False"
    )
    assert lab.run(kernel, "print(open('work.txt').read())").strip() == "from a cell"
    stop(world, again)
