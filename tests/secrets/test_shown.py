"""Secrets in what people see of runs and environments: names to their owner, values to nobody."""

import json

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.envs.models import Environment
from apps.envs.services import changing, running
from apps.envs.services import create as environments
from apps.secrets import selectors, services
from apps.secrets.choosing import ChosenSecret, carried
from apps.tenants.choices import Role
from apps.training import services as training
from apps.workloads.models import Workload
from tests.builders import World, actor_of, platform, signed_in, unique
from tests.secrets.making import VALUE, colleague, make_secret, make_shared, submit

pytestmark = pytest.mark.django_db

CHOICES = "/secrets/choices/"


class TestReruns:
    def test_ones_own_rerun_has_the_same_secrets(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk, file="token"))
        with acting(world.actor):
            again = training.rerun(world.actor, run, key="again")
        assert again.workload.frozen_spec.secrets == run.workload.frozen_spec.secrets

    def test_somebody_elses_rerun_is_told_which_to_choose_anew(self, world: World) -> None:
        mine, shared = make_secret(world), make_shared(world)
        run = submit(world, ChosenSecret(mine.pk), ChosenSecret(shared.pk))
        dora = colleague(world, "dora", Role.ADMIN)
        with acting(actor_of(dora, world.organisation)) as actor:
            with pytest.raises(Invalid) as refusal:
                training.rerun(actor, run, key="again")
            assert "HF_TOKEN" in str(refusal.value.message)
            assert "WANDB" not in str(refusal.value.message)
            kept, anew = carried(actor, run.workload.frozen_spec.secrets)
        assert [each.secret_id for each in kept] == [shared.pk]
        assert [each.name for each in anew] == ["HF_TOKEN"]

    def test_the_clone_form_says_so(self, world: World) -> None:
        mine, shared = make_secret(world), make_shared(world)
        run = submit(world, ChosenSecret(mine.pk), ChosenSecret(shared.pk, "WB"))
        dora = signed_in(colleague(world, "dora", Role.ADMIN))
        page = dora.get(f"/training/new/?from={run.pk}").content.decode()
        assert "Choose these again" in page
        assert "<code>HF_TOKEN</code>" in page
        assert str(mine.pk) not in page
        assert str(shared.pk) in page
        own = signed_in(world.alice).get(f"/training/new/?from={run.pk}").content.decode()
        assert "Choose these again" not in own
        assert str(mine.pk) in own


class TestShown:
    def test_no_page_and_no_api_of_a_run_shows_the_value(self, world: World, alice: Client) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk))
        for tab in ("", "overview", "settings", "events", "log", "cost"):
            assert VALUE not in alice.get(f"/training/{run.pk}/?tab={tab}").content.decode()
        assert "$HF_TOKEN" in alice.get(f"/training/{run.pk}/?tab=settings").content.decode()
        told = alice.get(f"/api/v1/training/runs/{run.pk}/").content.decode()
        assert VALUE not in told
        assert "HF_TOKEN" not in told
        with acting(platform()):
            assert VALUE not in json.dumps(list(Entry.objects.values()), default=str)

    def test_the_api_takes_references(self, world: World, alice: Client) -> None:
        secret = make_secret(world)
        body = {
            "name": "digits",
            "image": str(world.image.pk),
            "package": world.package.pk,
            "script": "train.py",
            "text": "print(1)",
            "secrets": [{"secret": str(secret.pk), "file": "token"}],
        }
        made = alice.post(
            "/api/v1/training/runs/", json.dumps(body), content_type="application/json", HTTP_IDEMPOTENCY_KEY="k1"
        )
        assert made.status_code == 201, made.content
        with acting(platform()):
            [given] = Workload.objects.get(pk=made.json()["workload"]).frozen_spec.secrets
        assert given.file == "token"

    def test_the_page_takes_rows(self, world: World, alice: Client) -> None:
        secret = make_secret(world)
        data = {
            "name": "digits",
            "image": world.image.pk,
            "package": world.package.pk,
            "source": "write",
            "text": "print(1)",
            "entry": "python",
            "script": "train.py",
            "key": "k2",
            "priority": "3",
            "secrets_key": [str(secret.pk), str(secret.pk), ""],
            "secrets_value": ["", "/run/secrets/hub.token", "IGNORED"],
        }
        answer = alice.post("/training/new/", data)
        assert answer.status_code == 302, answer.content.decode()[-3000:]
        with acting(platform()):
            given = Workload.objects.get().frozen_spec.secrets
        assert [each.place for each in given] == ["$HF_TOKEN", "/run/secrets/hub.token"]
        bad = alice.post("/training/new/", {**data, "key": "k3", "secrets_value": ["", "/etc/passwd", ""]})
        assert bad.status_code == 422
        assert "A file&#x27;s name has letters" in bad.content.decode()

    @pytest.mark.parametrize("form", ["/training/new/", "/environments/new/"])
    def test_an_untouched_form_asks_for_the_secrets_when_its_fold_is_opened(
        self, world: World, alice: Client, form: str
    ) -> None:
        mine, shared = make_secret(world), make_shared(world)
        page = alice.get(form).content.decode()
        assert f'hx-get="{CHOICES}" hx-trigger="toggle from:closest details"' in page
        assert not any(str(each.pk) in page for each in (mine, shared))
        opened = alice.get(CHOICES).content.decode()
        assert all(f'<option value="{each.pk}">' in opened for each in (mine, shared))
        theirs = signed_in(colleague(world, "dora", Role.ADMIN)).get(CHOICES).content.decode()
        assert str(mine.pk) not in theirs
        assert str(shared.pk) in theirs

    def test_what_uses_it_is_named_before_it_is_deleted(self, world: World) -> None:
        secret = make_secret(world)
        submit(world, ChosenSecret(secret.pk))
        with acting(world.actor):
            assert [(use.name, use.running) for use in selectors.uses(secret)] == [("digits", False)]
            with pytest.raises(Conflict) as refusal:
                services.delete(world.actor, secret.pk)
        assert "digits" in str(refusal.value.message)


class TestEnvironments:
    def make(self, world: World, *secrets: ChosenSecret, start: bool = False) -> Environment:
        request = environments.Request(
            name="notebook",
            image_id=world.image.pk,
            package_id=world.package.pk,
            key=unique("key"),
            secrets=secrets,
            start=start,
        )
        with acting(world.actor):
            return environments.create(world.actor, request)

    def test_each_start_is_given_them(self, world: World) -> None:
        secret = make_secret(world)
        made = self.make(world, ChosenSecret(secret.pk), start=True)
        assert made.workload is not None
        [given] = made.workload.frozen_spec.secrets
        assert given.variable == "HF_TOKEN"
        assert VALUE not in json.dumps(made.secrets)

    def test_a_start_without_its_secret_is_refused_in_words(self, world: World) -> None:
        secret = make_secret(world)
        made = self.make(world, ChosenSecret(secret.pk))
        with acting(world.actor):
            assert [use.name for use in selectors.uses(secret)] == ["notebook"]
            services.delete(world.actor, secret.pk, although_used=True)
            with pytest.raises(Conflict) as refusal:
                running.start(world.actor, made)
        assert "HF_TOKEN" in str(refusal.value.message)

    def test_its_secrets_can_be_changed(self, world: World) -> None:
        first, second = make_secret(world), make_secret(world, name="OTHER")
        made = self.make(world, ChosenSecret(first.pk))
        with acting(world.actor):
            changing.change(world.actor, made, changing.Change(secrets=(ChosenSecret(second.pk, file="o"),)))
            made.refresh_from_db()
            assert [row["name"] for row in made.secrets] == ["OTHER"]
            changing.change(world.actor, made, changing.Change(secrets=()))
            made.refresh_from_db()
        assert made.secrets == []

    def test_a_variable_of_its_own_is_refused(self, world: World) -> None:
        with pytest.raises(Invalid):
            self.make(world, ChosenSecret(make_secret(world).pk, variable="HOME"))

    def test_the_api_takes_them_and_shows_none(self, world: World, alice: Client) -> None:
        secret = make_secret(world)
        made = self.make(world)
        body = json.dumps({"secrets": [{"secret": str(secret.pk)}]})
        answer = alice.patch(f"/api/v1/environments/{made.pk}/", body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        assert "HF_TOKEN" not in answer.content.decode()
        made.refresh_from_db()
        assert made.secrets[0]["variable"] == "HF_TOKEN"
        page = alice.get(f"/environments/{made.pk}/?tab=settings").content.decode()
        assert str(secret.pk) in page
        assert VALUE not in page
