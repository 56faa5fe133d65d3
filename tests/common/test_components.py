"""The tags and partials that every page is made of."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest
from django import forms
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone, translation

from apps.common.badges import Tone, badge
from apps.common.styleguide import views as styleguide
from apps.common.tables import FULL, column
from apps.workloads.choices import Status


def render(source: str, **context: Any) -> str:
    with translation.override("en"):
        return Template("{% load pl %}" + source).render(Context(context))


@pytest.mark.parametrize("status", list(Status))
def test_every_status_of_a_workload_has_a_badge_with_icon_and_word(status: Status) -> None:
    html = render("{% state status %}", status=status)
    assert "ti ti-" in html
    assert "question-mark" not in html
    assert str(status.label) in html


def test_a_badge_of_an_unknown_status_shows_the_word_itself() -> None:
    assert badge("hibernating").label == "hibernating"
    assert badge("hibernating").tone is Tone.STOP


def test_text_in_components_is_escaped() -> None:
    html = render('{% state "warn" label %}{% tag label %}{% note "fail" label %}x{% endnote %}', label="<b>hi</b>")
    assert "<b>" not in html
    assert html.count("&lt;b&gt;hi") == 3


def test_the_body_of_a_note_escapes_values_and_keeps_markup() -> None:
    html = render('{% note "fail" "Short" %}<p>{{ evil }}</p>{% endnote %}', evil="<script>")
    assert "<p>&lt;script&gt;</p>" in html


def test_money_is_fen() -> None:
    assert render(
        "{{ fen|yuan }} {{ fen|amount }} {{ rate|rate }} {{ none|yuan }}", fen=123_456, rate=Decimal(780), none=None
    ) == ("¥1,234.56 1,234.56 ¥7.80/h —")


def test_time_since_goes_on_in_the_browser_unless_it_has_ended() -> None:
    now = timezone.now()
    start = now - timedelta(hours=3, minutes=12, seconds=5)
    with patch.object(timezone, "now", return_value=now):
        assert 'data-elapsed="11525"' in render("{% since start %}", start=start)
        assert "3 h 12 min" in render("{% since start %}", start=start)
    ended = render("{% since passed ticking=False %}", passed=timedelta(minutes=2, seconds=5))
    assert "data-elapsed" not in ended


@pytest.mark.parametrize(("value", "width"), [(0, "0.0%"), (40, "50.0%"), (200, "100.0%"), (-1, "0.0%")])
def test_a_meter_stays_within_its_bar(value: float, width: str) -> None:
    assert f"width:{width}" in render("{% meter value 80 %}", value=value)


def test_an_unknown_value_draws_no_bar() -> None:
    assert "width" not in render("{% meter value 80 %}", value=None)


class PackageForm(forms.Form):
    name = forms.CharField(help_text="Unique.")
    size = forms.IntegerField(required=False)
    mode = forms.ChoiceField(choices=[("a", "Whole"), ("b", "Slice")], widget=forms.RadioSelect)


def test_a_field_ties_its_hint_and_error_to_the_control() -> None:
    html = render("{% field form.name %}", form=PackageForm({"name": ""}))
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'id="id_name_error"' in html
    assert "is-invalid" in html


def test_an_optional_field_says_so_and_a_unit_stands_beside_it() -> None:
    html = render('{% field form.size suffix="GiB" %}', form=PackageForm())
    assert "optional" in html
    assert "GiB" in html


def test_a_radio_choice_keeps_what_was_chosen() -> None:
    html = render("{% field form.mode %}", form=PackageForm({"mode": "b"}))
    assert html.count(" checked") == 1
    assert html.index('value="b"') < html.index(" checked")


def test_a_field_checked_when_left_posts_the_form_and_takes_back_itself() -> None:
    html = render('{% field form.name validate="/check/" %}', form=PackageForm())
    assert 'hx-post="/check/"' in html
    assert 'hx-select="#field-id_name"' in html
    assert "X-Validate" in html


def test_a_column_names_itself_when_its_row_is_folded() -> None:
    attrs = column("pl-roomy", fold="Size", numeric=True, width=FULL)
    assert attrs["td"] == {"class": "pl-roomy pl-num c-6", "data-l": "Size"}
    assert attrs["th"] == {"class": "pl-roomy pl-num c-6"}


@pytest.mark.django_db  # the site's name is in the settings
def test_the_style_guide_renders_every_component(rf: RequestFactory) -> None:
    html = styleguide.page(rf.get("/styleguide/")).content.decode()
    for mark in (
        "pl-quote",
        "pl-steps",
        "data-log=",
        "data-chart=",
        "data-rows",
        "data-dropzone",
        "pl-empty",
        "pl-dialog",
    ):
        assert mark in html
