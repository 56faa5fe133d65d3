"""The stages of a Containerfile, before it is built and in what is queued."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.registry.models import Image
from tests.builders import World, platform
from tests.builds.kit import build
from tests.builds.test_submitting import counts, refused

pytestmark = pytest.mark.django_db

STAGES = """FROM debian AS build
RUN make
FROM debian AS unused
RUN never
FROM debian
COPY --from=build /out /out
COPY --from=debian /etc/motd /motd
"""


class TestPreviewing:
    def test_the_api_says_what_would_be_carried_out_and_keeps_nothing(
        self, world: World, debian: Image, alice: Client
    ) -> None:
        with acting(platform()):
            Image.objects.filter(pk=debian.pk).update(name="debian")
        before = counts()
        answer = alice.post("/api/v1/builds/preview/", {"containerfile": STAGES}, content_type="application/json")
        assert answer.json() == [
            {"name": "build", "base": "debian", "steps": 1, "takes_of": []},
            {"name": "debian", "base": "debian", "steps": 0, "takes_of": []},
            {"name": "2", "base": "debian", "steps": 2, "takes_of": ["build", "debian"]},
        ]
        told = alice.post(
            "/api/v1/builds/preview/", {"containerfile": STAGES, "target": "unused"}, content_type="application/json"
        )
        assert [stage["name"] for stage in told.json()] == ["unused"]
        assert counts() == before

    def test_the_api_names_the_line_that_is_wrong(self, world: World, debian: Image, alice: Client) -> None:
        for text, words in (
            ("FROM debian\nCOPY --from=absent:1 /x /x\n", "Line 2: there is no container image “absent:1”"),
            ("FROM debian\nCOPY --from=1 /x /x\n", "Line 2: there is no stage 1"),
        ):
            answer = alice.post("/api/v1/builds/preview/", {"containerfile": text}, content_type="application/json")
            assert answer.status_code == 400
            assert words in str(answer.json())
            assert words in refused(world, text)

    def test_the_form_shows_the_stages_while_one_types(self, world: World, debian: Image, alice: Client) -> None:
        form = {"source": "containerfile", "containerfile": STAGES}
        page = alice.post("/builds/preview/", form).content.decode()
        assert page.count("<li>") == 3
        assert "takes files of build, debian" in page
        page = alice.post("/builds/preview/", {**form, "containerfile": "FROM debian\nRUNN x\n"}).content.decode()
        assert "Line 2: RUNN is not an instruction" in page
        for quiet in ({"source": "form"}, {"containerfile": " "}, {"containerfile": "FROM debian\nRUN x\n"}):
            assert not alice.post("/builds/preview/", {**form, **quiet}).content.decode().strip()

    def test_images_of_different_architectures_do_not_go_together(self, world: World, debian: Image) -> None:
        with acting(platform()):
            Image.objects.filter(pk=debian.pk).update(architectures=["x86_64"])
            row = {"description_en": "x", "description_zh": "x", "architectures": ["aarch64"]}
            Image.objects.create(key="arm", name="arm", reference=f"hub.lab/a/arm@sha256:{'d' * 64}", **row)
        text = "FROM arm AS a\nRUN x\nFROM debian\nCOPY --from=a /x /x\n"
        assert "Line 3: “debian” is for another architecture" in refused(world, text)

    def test_each_stage_is_a_program_of_its_own_with_folders_that_it_alone_writes_to(
        self, world: World, debian: Image
    ) -> None:
        made = build(world, STAGES.replace("--from=debian", f"--from={debian.reference}"))
        spec = made.workload.frozen_spec
        own = "/opt/plstack-build"
        assert [stage.argv[-1] for stage in spec.stages] == ["0", "1"]
        assert spec.argv[-1] == "2"
        assert [sorted(stage.writes) for stage in spec.stages] == [
            [f"{own}/answers", f"{own}/kept/{number}", f"{own}/stages/{number}"] for number in (0, 1)
        ]
        writable = {mount.target for mount in spec.mounts if not mount.read_only}
        assert writable == {f"{own}/answers", f"{own}/kept/2"}
        assert [stage["name"] for stage in made.stages] == ["build", debian.reference, "2"]
