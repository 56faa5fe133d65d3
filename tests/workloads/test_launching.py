"""What every start asks is said once: the page and the API, of both kinds and of a further one, take it from there."""

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from django import forms
from rest_framework import serializers

from apps.common.errors import Invalid
from apps.envs.forms import NewForm, SettingsForm
from apps.envs.serializers import ChangeSerializer, CreateSerializer
from apps.envs.services.changing import Change
from apps.training.forms import RunForm
from apps.training.serializers import SubmitSerializer
from apps.workloads.launching.form import LaunchForm, launch_initial
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.serializers import LaunchSerializer

ASKED = {each.name for each in fields(Launch)} - {"key"}
FORMS = [RunForm, SettingsForm, NewForm]
SERIALIZERS = [SubmitSerializer, CreateSerializer, ChangeSerializer]
# Another field, added before anything of a kind has been imported.
ONE_MORE = """
import json, sys
import django
django.setup()
from django import forms
from django.urls import include, path
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers
from apps.workloads.launching.form import LaunchForm
from apps.workloads.launching.serializers import LaunchSerializer
early = {f"apps.{app}.{module}" for app in ("envs", "training") for module in ("forms", "serializers")}
assert not early & set(sys.modules)
LaunchSerializer._declared_fields["colour"] = serializers.CharField()
LaunchForm.base_fields["colour"] = LaunchForm.declared_fields["colour"] = forms.CharField()
from apps.envs.forms import NewForm
from apps.training.forms import RunForm
sites = [path("api/v1/", include(f"apps.{app}.api_urls")) for app in ("envs", "training")]
schema = SchemaGenerator(patterns=sites).get_schema(public=True)
found = {name: each for name, each in schema["components"]["schemas"].items() if "colour" in each.get("properties", {})}
pages = [form.__name__ for form in (NewForm, RunForm) if "colour" in form.base_fields]
print(json.dumps([{name: "colour" in each.get("required", ()) for name, each in found.items()}, pages]))
"""


def test_a_field_that_is_added_is_one_of_both_kinds() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", ONE_MORE], cwd=root, capture_output=True, text=True, check=True)
    described, pages = json.loads(done.stdout)
    # A change needs nothing, whatever a start needs.
    starts = {"SubmitRequest": True, "ArraySubmitRequest": True, "CreateRequest": True}
    assert described == starts | {"PatchedChangeRequest": False}
    assert pages == ["NewForm", "RunForm"]


@pytest.mark.parametrize("form", FORMS)
def test_a_kind_declares_none_of_the_shared_fields_but_its_name(form: type[forms.Form]) -> None:
    own = {name for name in form.base_fields if form.base_fields[name] is not LaunchForm.base_fields.get(name)}
    assert own & set(LaunchForm.base_fields) == {"name"}


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_nor_does_its_serializer(serializer: type[serializers.Serializer[Any]]) -> None:
    shared = LaunchSerializer._declared_fields
    own = {name for name, field in serializer._declared_fields.items() if field is not shared.get(name)}
    assert own & set(shared) <= {"name"}


def test_the_page_and_the_api_ask_the_same() -> None:
    by_page = LaunchForm({})
    by_page.cleaned_data = dict.fromkeys(by_page.fields, "") | {"also": []}
    assert set(by_page.launch_values()) == ASKED
    assert {field.source for field in LaunchSerializer().fields.values()} == ASKED
    assert {each.name for each in fields(Change)} >= ASKED


def test_a_form_begins_with_all_of_what_was_asked_before() -> None:
    launch = Launch(name="x", image_id=None, package_id=1, key="k")  # type: ignore[arg-type]
    assert set(launch_initial(launch)) == set(LaunchForm.base_fields)


def test_a_change_names_only_what_was_sent() -> None:
    asked = ChangeSerializer(data={"also": [3, 4], "cluster": None})
    asked.is_valid(raise_exception=True)
    assert asked.as_change().named() == {"also_ids": (3, 4), "cluster_id": None}


@pytest.mark.parametrize("name", ["a" * 21, "-a", "a/b", "a\nb‮", "é!"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        clean_launch_name(name, longest=20, missing="missing")
    assert "up to 20 letters" in str(refused.value.fields["name"])


def test_a_name_loses_its_double_spaces() -> None:
    assert clean_launch_name("  a   b.c-d_é1 " + "x" * 8, longest=20, missing="missing") == "a b.c-d_é1 xxxxxxxx"
    with pytest.raises(Invalid, match="missing"):
        clean_launch_name(" \n ", longest=20, missing="missing")
