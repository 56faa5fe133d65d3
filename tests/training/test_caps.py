"""A run's spending cap at launch, on its page and through the API."""

import pytest
from django.urls import reverse

from apps.billing.models import SpendingCap
from apps.common.scoping import acting
from apps.training.models import Run
from tests.builders import World, platform, signed_in
from tests.training import kit

pytestmark = pytest.mark.django_db


def test_it_is_chosen_at_launch_shown_and_changed(world: World) -> None:
    client = signed_in(world.alice)
    quote = client.post(reverse("training:quote"), kit.form_for(world, cap="1.20")).content.decode()
    assert "lasts 20 min" in quote
    refused = client.post(reverse("training:new"), kit.form_for(world, cap="0.10"))
    assert refused.status_code == 422
    assert "At least" in refused.content.decode()
    client.post(reverse("training:new"), kit.form_for(world, cap="1.20"))
    with acting(platform()):
        run = Run.objects.get()
        assert SpendingCap.objects.get(pk=run.workload_id).limit_fen == 120
    assert "1.20" in client.get(reverse("training:detail", args=[run.pk])).content.decode()
    page = reverse("training:cap", args=[run.pk])
    assert "Spending cap of" in client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert client.post(page, {"cap": "lots"}).status_code == 422
    assert client.post(page, {"cap": "5"}).status_code == 302
    url = f"/api/v1/training/runs/{run.pk}/cap/"
    assert client.get(url).json()["limit_fen"] == 500
    assert client.put(url, {"limit_fen": None}, content_type="application/json").json()["limit_fen"] is None
    assert client.put(url, {"limit_fen": 1}, content_type="application/json").status_code == 400
