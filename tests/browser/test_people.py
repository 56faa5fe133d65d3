"""An organisation's people in a browser: department, role, invitation, limit, and a package that needs asking."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_account import submit
from tests.browser.test_journey import Shoot, fill_example
from tests.stack import PASSWORD

pytestmark = pytest.mark.browser

NAMES = {"en": ("Vision", "Trainer", "wei-en"), "zh": ("视觉组", "训练员", "wei-zh")}
GRANTED = ("training.view", "training.submit", "billing.view_own", "quotas.view")
# The smallest package takes one core.
LIMIT_CORES, SHORT_CORES = "0.25", "0.75"
WHOSE = {"en": "your department", "zh": "部门"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_new_person_is_invited_placed_limited_and_allowed(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    tail = uuid4().hex[:4]  # so that the journey can be walked again on the same copy
    department, role, username = (f"{name}-{tail}" for name in NAMES[language])
    department_id = make_department(page, department)
    make_role(page, role, shoot, language)
    link = invite(page, department, role, shoot, language)
    guest = register(visit, link, username, shoot, language)
    the_role_is_all_they_may(guest)
    the_link_is_used_up(visit, link, shoot, language)
    give_priority(page, username)
    over_the_limit(page, guest, department_id, shoot, language)
    ask_for_a_package(page, guest, shoot, language)
    remove_member(page, guest, username)


def make_department(page: Page, name: str) -> str:
    """Its id. Without a name it is refused first."""
    page.goto("/organisation/departments/new/")
    submit(page)
    expect(page.locator("#field-id_name .pl-error")).to_be_visible()
    page.fill("#id_name", name)
    submit(page)
    page.goto("/organisation/departments/")
    href = page.locator("#departments tr", has_text=name).first.get_attribute("data-href") or ""
    found = re.search(r"[0-9a-f-]{36}", href)
    assert found is not None, href
    return found[0]


def make_role(page: Page, name: str, shoot: Shoot, language: str) -> None:
    page.goto("/organisation/roles/new/")
    page.fill("#id_name", name)
    for permission in GRANTED:
        page.check(f"[name=permissions][value='{permission}']")
    shoot(page, f"role-{language}")
    submit(page)
    expect(page.locator("main")).to_contain_text(name)


def invite(page: Page, department: str, role: str, shoot: Shoot, language: str) -> str:
    """The link, which is shown once."""
    page.goto("/organisation/invitations/new/")
    page.select_option("#id_own_role", label=role)
    page.select_option("#id_department", label=department)
    submit(page)
    link = page.inner_text("#link").strip()
    shoot(page, f"invitation-{language}")
    page.goto("/organisation/invitations/")
    assert link not in page.content()
    return link


def register(visit: Visit, link: str, username: str, shoot: Shoot, language: str) -> Page:
    """Who follows the link makes an account on the way, though registration is closed, and joins."""
    guest = visit(language, signed_in=False)
    guest.goto(link)
    shoot(guest, f"join-{language}")
    with guest.expect_navigation():
        guest.locator("main a.btn-primary").click()
    guest.fill("#id_email", f"{username}@lab.example")
    guest.fill("#id_username", username)
    guest.fill("#id_password1", PASSWORD)
    guest.fill("#id_password2", PASSWORD)
    submit(guest)
    expect(guest).to_have_url(link)
    submit(guest)
    assert guest.url.endswith("/"), guest.url
    shoot(guest, f"joined-{language}")
    return guest


def the_role_is_all_they_may(guest: Page) -> None:
    """What the role of the organisation's own making allows, and nothing that the base role would."""
    assert guest.locator(".pl-side a[href='/training/']").count() == 1
    assert guest.locator(".pl-side a[href='/environments/']").count() == 0
    assert _status(guest, "/organisation/quotas/") == 200
    assert _status(guest, "/organisation/members/") == 403
    assert _status(guest, "/environments/new/") == 403
    guest.goto("/")


def _status(page: Page, path: str) -> int:
    answer = page.goto(path)
    assert answer is not None
    return answer.status


def the_link_is_used_up(visit: Visit, link: str, shoot: Shoot, language: str) -> None:
    late = visit(language, signed_in=False)
    assert _status(late, link) == 404
    shoot(late, f"join-gone-{language}")
    late.goto("/accounts/signup/")
    assert late.locator("#id_password1").count() == 0  # and it opens no registration


def give_priority(page: Page, username: str) -> None:
    member = open_member(page, username)
    page.select_option("#id_priority", "5")
    submit(page)
    page.goto(member)
    assert page.input_value("#id_priority") == "5"


def open_member(page: Page, username: str) -> str:
    page.goto(f"/organisation/members/?q={username}")
    href = page.locator("#members tr", has_text=username).first.get_attribute("data-href")
    assert href is not None
    page.goto(href)
    return href


def over_the_limit(page: Page, guest: Page, department_id: str, shoot: Shoot, language: str) -> None:
    """A limit below zero is refused; one that a run does not fit into says whose it is and by how much."""
    limits = f"/organisation/quotas/departments/{department_id}/"
    set_limit(page, limits, "-1")
    expect(page.locator("#id_cpu_milli_error")).to_be_visible()
    shoot(page, f"limit-refused-{language}")
    fill_example(guest, f"too much {language}")
    start = guest.locator("#quote button[type=submit]:visible")
    expect(guest.locator("#command")).to_contain_text("--epochs 12")  # the quote for all that was typed is there
    expect(start).to_be_enabled()
    set_limit(page, limits, LIMIT_CORES)
    start.click()  # the limit came between the quote and the click
    problems = guest.locator("#problems")
    expect(problems).to_be_visible()
    shoot(guest, f"over-limit-{language}")
    words = problems.inner_text()
    assert WHOSE[language] in words.lower(), words
    assert {LIMIT_CORES, SHORT_CORES} <= set(re.findall(r"\d+\.\d+", words)), words
    assert guest.input_value("[name=name]") == f"too much {language}"
    expect(guest.locator("#quote [role=alert]")).to_contain_text(SHORT_CORES)
    expect(start).to_be_disabled()
    set_limit(page, limits, "")


def set_limit(page: Page, path: str, cores: str) -> None:
    page.goto(path)
    page.fill("[name=cpu_milli]", cores)
    submit(page)


def ask_for_a_package(page: Page, guest: Page, shoot: Shoot, language: str) -> None:
    """Asked for on the page where it is missed, approved by the organisation's admin, told in a notice."""
    with decided_by(page, "organisation"), needing_review(page) as package:
        guest.goto("/training/new/")
        assert guest.locator(f"#package-{package}").count() == 0
        guest.locator(f"#packages [hx-get^='/billing/packages/{package}/ask/']").click()
        guest.fill("#pl-dialog [name=reason]", "an ablation over 40 runs")
        shoot(guest, f"package-asked-{language}")
        with guest.expect_navigation():
            guest.locator("#pl-dialog button[type=submit]").click()
        page.goto("/organisation/requests/")
        expect(page.locator("#requests")).to_contain_text("an ablation over 40 runs")
        shoot(page, f"package-request-{language}")
        with page.expect_navigation():
            page.locator("#requests button[name=approve]").first.click()
        guest.goto("/notifications/?show=unread")
        expect(guest.locator("#notices tbody tr")).not_to_have_count(0)
        shoot(guest, f"package-approved-{language}")
        guest.goto("/training/new/?blank=1")
        expect(guest.locator(f"#package-{package}")).to_be_enabled()


@contextmanager
def decided_by(page: Page, approvers: str) -> Iterator[None]:
    page.goto("/console/settings/review/")
    before = page.input_value("[name=approvers]:checked")
    _choose_approvers(page, approvers)
    try:
        yield
    finally:
        _choose_approvers(page, before)


def _choose_approvers(page: Page, approvers: str) -> None:
    page.goto("/console/settings/review/")
    page.check(f"[name=approvers][value={approvers}]")
    submit(page)


@contextmanager
def needing_review(page: Page) -> Iterator[str]:
    """The id of a package that needs approval, until then."""
    page.goto("/console/packages/?q=large")
    href = page.locator("#packages tbody a.pl-name").first.get_attribute("href") or ""
    _need_review(page, href, "yes")
    try:
        yield href.rstrip("/").rpartition("/")[2]
    finally:
        _need_review(page, href, "no")


def _need_review(page: Page, package: str, wanted: str) -> None:
    page.goto(package)
    button = page.locator(f"button[name=needs_review][value={wanted}]")
    if button.count():
        with page.expect_navigation():
            button.click()


def remove_member(page: Page, guest: Page, username: str) -> None:
    """Their access ends at once."""
    open_member(page, username)
    page.locator("button[data-dialog=remove]").click()
    with page.expect_navigation():
        page.locator("#remove button[type=submit]").click()
    assert _status(guest, "/training/new/") != 200
