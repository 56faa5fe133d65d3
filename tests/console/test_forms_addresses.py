"""What a person sees at the address of a form that was refused, when they ask for it again."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import World
from tests.console.kit import page, post

pytestmark = pytest.mark.django_db
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def test_after_a_refused_price_another_language_leads_back_to_the_package(finance: Client, world: World) -> None:
    address = page("package_price", world.package.pk)
    assert post(finance, address, rate="abc", begins="now").status_code == 422
    changed = finance.post(reverse("set_language"), {"language": "zh-hans", "next": address})
    assert changed.headers["Location"] == address
    shown = finance.get(address, HTTP_ACCEPT=BROWSER, follow=True)
    assert shown.redirect_chain == [(page("package", world.package.pk), 302)]
    assert shown.status_code == 200


@pytest.mark.parametrize(
    ("name", "above"),
    [("recharge_create", "recharges"), ("statements_build", "statements"), ("request_act", "requests")],
)
def test_the_address_of_a_form_leads_to_its_list(root: Client, name: str, above: str) -> None:
    assert root.get(page(name), HTTP_ACCEPT=BROWSER).headers["Location"] == page(above)


@pytest.mark.parametrize("headers", [{}, {"HTTP_ACCEPT": BROWSER, "HTTP_HX_REQUEST": "true"}])
def test_programs_and_fragments_are_told_that_the_method_is_wrong(root: Client, headers: dict[str, str]) -> None:
    answer = root.get(page("recharge_create"), **headers)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_an_address_without_a_page_above_leads_to_the_first_page(root: Client) -> None:
    assert root.get(reverse("theme"), HTTP_ACCEPT=BROWSER).headers["Location"] == "/"


def test_nothing_is_sent_on_but_what_was_opened(root: Client) -> None:
    assert root.put(page("recharge_create"), HTTP_ACCEPT=BROWSER).status_code == 405
