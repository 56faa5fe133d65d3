"""The longest run time on an organisation's page, in the settings, in the API, and where its people read it."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.workloads import kinds
from tests.builders import World, make_member, platform, signed_in
from tests.console.kit import last_entry, messages_of, page, post, text_of
from tests.training import kit

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/console"
HOUR = 3600


@pytest.fixture
def client(world: World) -> Client:
    return signed_in(world.alice)


def put(client: Client, world: World, *rows: dict[str, Any]) -> Any:
    url = f"{ROOT}/organisations/{world.organisation.pk}/run-times/"
    return client.put(url, json.dumps(rows), content_type="application/json")


def chosen(**changes: str) -> dict[str, str]:
    all_kinds = {
        key: value for kind in kinds.every() for key, value in ((f"{kind.name}-rule", "default"), (kind.name, ""))
    }
    return all_kinds | {name.replace("_rule", "-rule"): value for name, value in changes.items()}


def test_it_is_set_on_the_organisations_page(root: Client, world: World) -> None:
    quotas, times = (page(name, world.organisation.pk) for name in ("organisation_quotas", "organisation_run_times"))
    assert "Longest run time" in text_of(root.get(quotas))
    run = kit.submit(world)
    said = post(root, times, follow=True, **chosen(training_rule="own", training="12 h"))
    assert messages_of(said) == [
        "1 limit was set. 1 that waits or runs may run for longer: it keeps the end that it has."
    ]
    assert 'value="12 h"' in said.content.decode()
    assert last_entry("organisation.run_time_limit").after == {"kind": "training", "longest_s": 12 * HOUR, "own": True}
    with acting(platform()):
        run.workload.refresh_from_db()
        assert run.workload.longest_s is None
    assert messages_of(post(root, times, follow=True, **chosen())) == ["1 limit was set."]


def test_a_time_is_asked_for_only_beside_the_rule_that_takes_one(root: Client, world: World) -> None:
    shown = root.get(page("organisation_quotas", world.organisation.pk)).content.decode()
    for kind in ("training", "environment"):
        part = shown.partition(f'data-when="{kind}-rule=own"')[2]
        assert f'name="{kind}"' in part[:800], kind


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"training_rule": "own"}, "Give a time, such as 12 h or 2 d."),
        ({"training_rule": "own", "training": "12"}, "with its units"),
        ({"training_rule": "own", "training": "5 s"}, "at least one minute"),
        ({"environment_rule": "ever"}, "valid choice"),
    ],
)
def test_bad_input_is_said_and_nothing_changes(
    root: Client, world: World, changes: dict[str, str], problem: str
) -> None:
    refused = post(root, page("organisation_run_times", world.organisation.pk), **chosen(**changes))
    assert refused.status_code == 422
    assert problem in text_of(refused)
    assert root.get(f"{ROOT}/organisations/{world.organisation.pk}/run-times/").json()[0]["own"] is False


def test_finance_reads_it_and_does_not_set_it(finance: Client, world: World) -> None:
    assert post(finance, page("organisation_run_times", world.organisation.pk), **chosen()).status_code == 403
    assert put(finance, world, {"kind": "training", "longest_s": HOUR}).status_code == 403


def test_the_api_sets_reads_and_gives_back(root: Client, world: World) -> None:
    lines = put(root, world, {"kind": "training", "longest_s": HOUR}, {"kind": "environment"}).json()
    by_kind = {line["kind"]: line for line in lines}
    assert by_kind["training"] == {"kind": "training", "longest_s": HOUR, "own": True, "default_s": None, "beyond": 0}
    assert (by_kind["environment"]["longest_s"], by_kind["environment"]["own"]) == (None, True)
    back = put(root, world, {"kind": "training", "own": False}).json()
    assert [line["own"] for line in back if line["kind"] == "training"] == [False]
    for wrong in ({"kind": "nothing", "longest_s": HOUR}, {"kind": "training", "longest_s": 5}, {}):
        assert put(root, world, wrong).status_code == 400


def test_the_platforms_default_is_a_setting(root: Client, ops: Client, world: World) -> None:
    url = f"{ROOT}/settings/run-times/"
    assert post(root, page("settings_run_times"), training="2").status_code == 422
    assert post(root, page("settings_run_times"), training="2 d", environment="").status_code == 302
    assert root.get(url).json() == {"longest_s": {"training": 48 * HOUR}}
    assert last_entry("settings.changed").after == {"longest_s": {"training": 48 * HOUR}}
    for wrong in ({"longest_s": {"nothing": HOUR}}, {"longest_s": {"training": 1}}, {"longest_s": 5}):
        assert root.patch(url, json.dumps(wrong), content_type="application/json").status_code == 400
    assert kit.submit(world).workload.longest_s == 48 * HOUR


def test_the_launch_form_and_the_organisations_own_page_show_it(root: Client, world: World, client: Client) -> None:
    for form in ("/training/new/?example=1", "/environments/new/"):
        assert "one start runs for" not in text_of(client.get(form))
    put(root, world, {"kind": "training", "longest_s": 12 * HOUR}, {"kind": "environment", "longest_s": 8 * HOUR})
    assert "In your organisation one start runs for 12 h at most" in text_of(client.get("/training/new/?example=1"))
    assert "In your organisation one start runs for 8 h at most" in text_of(client.get("/environments/new/"))
    refused = client.post("/training/new/", kit.form_for(world, longest="13 h"))
    assert refused.status_code == 422
    assert "Your organisation lets it run for 12 h at most." in text_of(refused)
    told = client.post(
        "/api/v1/training/runs/", json.dumps(kit.body_for(world, longest_s=13 * HOUR)), content_type="application/json"
    )
    assert told.status_code == 400
    assert "12 h at most" in told.json()["detail"]


def test_who_administers_the_organisation_reads_it_there(root: Client, world: World) -> None:
    with acting(platform()):
        admin = signed_in(make_member(world.organisation, "dora", Role.ADMIN))
    assert "Longest run time" not in text_of(admin.get("/organisation/quotas/"))
    put(root, world, {"kind": "training", "longest_s": 12 * HOUR})
    shown = text_of(admin.get("/organisation/quotas/"))
    assert "Longest run time" in shown
    assert "12 h" in shown
    assert admin.get("/api/v1/organisation/run-times/").json()[0]["default_s"] is None
    assert admin.put("/api/v1/organisation/run-times/").status_code == 405
