"""Secrets of work from its submission to the driver: references are kept, values are opened at the launch only."""

import json
from typing import Any

import pytest

from apps.common import sealing
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.secrets import services
from apps.secrets.choosing import ChosenSecret
from apps.secrets.models import Secret
from apps.tenants.models import Department, Membership, OrganisationRole
from apps.tracking.run_tokens import token_of
from apps.training.models import Run
from apps.workloads import faults, start_rights
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Attempt
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, make_world, platform, reload
from tests.secrets.making import VALUE, colleague, make_secret, make_shared, placed, submit, take_away

pytestmark = pytest.mark.django_db

TOKENS = ["PLSTACK_TRACKING_TOKEN", "MLFLOW_TRACKING_TOKEN"]  # with which its program logs metrics


class TestReferences:
    def test_the_frozen_spec_names_the_secret_and_holds_no_value(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk), ChosenSecret(secret.pk, file="token"))
        spec = reload(run.workload).spec
        assert spec["secrets"] == [
            {"secret": str(secret.pk), "name": "HF_TOKEN", "variable": "HF_TOKEN", "file": ""},
            {"secret": str(secret.pk), "name": "HF_TOKEN", "variable": "", "file": "token"},
        ]
        assert VALUE not in json.dumps(spec)
        assert "HF_TOKEN" not in spec["env"]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"variable": "1X"},
            {"variable": "PLSTACK_X"},
            {"variable": "LEVEL"},
            {"file": "../x"},
            {"file": ".x"},
            {"file": "/"},
            {"variable": "A", "file": "b"},
        ],
    )
    def test_places_that_cannot_be_are_refused(self, world: World, wrong: dict[str, str]) -> None:
        secret = make_secret(world)
        with pytest.raises(Invalid) as refusal:
            submit(world, ChosenSecret(secret.pk, **wrong), environment=(("LEVEL", "1"),))
        assert "secrets" in refusal.value.fields

    def test_two_under_one_name_are_refused(self, world: World) -> None:
        first, second = make_secret(world), make_secret(world, name="OTHER")
        with pytest.raises(Invalid):
            submit(world, ChosenSecret(first.pk, "TOKEN"), ChosenSecret(second.pk, "TOKEN"))

    @pytest.mark.parametrize("whose", ["colleague", "stranger", "nobody"])
    def test_what_is_not_ones_own_is_refused(self, world: World, whose: str) -> None:
        owner = {"colleague": lambda: make_secret(world, colleague(world)).pk}
        if whose == "stranger":
            with acting(platform()):
                other = make_world()
            secret_id = make_secret(other).pk
        else:
            secret_id = owner[whose]() if whose in owner else world.organisation.pk
        with pytest.raises(Invalid) as refusal:
            submit(world, ChosenSecret(secret_id))
        assert "secrets" in refusal.value.fields


class TestTheLaunch:
    def test_values_are_opened_for_the_driver_alone(self, world: World) -> None:
        secret, shared = make_secret(world), make_shared(world, value="wandb-value")
        run = submit(world, ChosenSecret(secret.pk), ChosenSecret(shared.pk, file="wandb"))
        attempt = placed(run.workload)
        with acting(platform()):
            request = launch_request(attempt)
        assert [(each.variable, each.file, each.value) for each in request.secrets] == [
            ("HF_TOKEN", "", VALUE),
            ("", "wandb", "wandb-value"),
            *((name, "", token_of(attempt.pk)) for name in TOKENS),
        ]
        assert VALUE not in repr(request)
        with acting(platform()):
            assert Secret.objects.get(pk=secret.pk).last_used_at is not None

    def test_a_rotated_value_is_the_one_that_is_given(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk))
        with acting(world.actor):
            services.rotate(world.actor, secret.pk, "rotated value")
        attempt = placed(run.workload)
        with acting(platform()):
            assert launch_request(attempt).secrets[0].value == "rotated value"

    def test_one_that_goes_after_the_last_question_is_withheld(self, world: World) -> None:
        secret = make_secret(world)
        attempt = placed(submit(world, ChosenSecret(secret.pk)).workload)
        take_away(world, secret)
        with acting(platform()):
            [given, *tokens] = launch_request(attempt).secrets
        assert [each.name for each in tokens] == TOKENS
        assert (given.name, given.value) == ("HF_TOKEN", None)

    def test_one_that_cannot_be_read_is_withheld(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        secret = make_secret(world)
        attempt = placed(submit(world, ChosenSecret(secret.pk)).workload)
        monkeypatch.setattr(sealing, "_keys", lambda: {1: b"x" * 32})
        with acting(platform()):
            assert launch_request(attempt).secrets[0].value is None

    def test_work_without_secrets_asks_for_none(self, world: World, django_assert_num_queries: Any) -> None:
        attempt = placed(submit(world).workload)
        with acting(platform()), django_assert_num_queries(2):  # its cards, and where packages come from
            assert [each.variable for each in launch_request(attempt).secrets] == TOKENS


class TestRightsThatEnd:
    def ends(self, world: World, run: Run, words: str) -> None:
        """It is stopped in words before anything starts, and its owner is told."""
        with acting(platform()):
            run_pass(platform())
            workload = reload(run.workload)
            assert (workload.status, workload.reason) == (Status.STOPPED, Reason.SECRET_LOST)
            assert not Attempt.objects.filter(workload=workload).exists()
            shown = faults.card(workload, None)
            assert shown is not None
            assert words in shown["text"]
            notice = Notice.objects.get(user=run.owner, kind="run.not_started")
            assert notice.data["reason"] == "secret_lost"

    def test_a_deleted_secret(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk))
        take_away(world, secret)
        self.ends(world, run, "The secret HF_TOKEN was deleted.")

    def test_a_secret_of_the_same_name_does_not_take_its_place(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk))
        take_away(world, secret)
        make_secret(world)
        self.ends(world, run, "was deleted")

    @pytest.mark.parametrize("leaves", [False, True])
    def test_a_person_who_leaves_the_department(self, world: World, leaves: bool) -> None:
        with acting(platform()):
            research = Department.objects.create(organisation=world.organisation, name="Research")
            vision = Department.objects.create(organisation=world.organisation, name="Vision", parent=research)
            Membership.objects.filter(user=world.alice).update(department=vision)
        secret = make_shared(world, department_id=research.pk)
        run = submit(world, ChosenSecret(secret.pk))
        if leaves:
            with acting(platform()):
                Membership.objects.filter(user=world.alice).update(department=None)
            self.ends(world, run, "may not use the secret WANDB_API_KEY any more")
        else:
            placed(run.workload)

    def test_a_role_without_secrets(self, world: World) -> None:
        secret = make_shared(world)
        run = submit(world, ChosenSecret(secret.pk))
        with acting(platform()):
            allowed = ["training.view", "training.submit", "storage.view", "storage.use", "images.use"]
            own = OrganisationRole.objects.create(organisation=world.organisation, name="plain", permissions=allowed)
            Membership.objects.filter(user=world.alice).update(own_role=own)
        self.ends(world, run, "may not use the secret WANDB_API_KEY any more")

    def test_what_is_asked_of_many_takes_as_many_queries_as_of_one(
        self, world: World, django_assert_max_num_queries: Any
    ) -> None:
        secret = make_shared(world)
        runs = [submit(world, ChosenSecret(secret.pk)) for _ in range(4)]
        with acting(platform()):
            asked = [reload(run.workload) for run in runs]
            with django_assert_max_num_queries(8):
                assert start_rights.refusals(asked) == {}
