"""The console's people, staff, roles, requests and terms, and the organisation's pages, as people click them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from apps.billing import selectors as funds
from apps.billing.models import Package, PackageRequest
from apps.billing.requests import services as review
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Resource, Role
from apps.tenants.models import (
    DefinedPlatformRole,
    Department,
    Membership,
    Organisation,
    OrganisationRole,
    PlatformAssignment,
    Quota,
    User,
)
from tests.builders import (
    PASSWORD,
    actor_of,
    make_member,
    make_organisation,
    make_package,
    make_staff,
    platform,
    signed_in,
)


@dataclass(frozen=True, slots=True)
class Scene:
    organisation: Organisation
    bob: User
    admin: Client
    boss: Client
    package: Package


@pytest.fixture
def scene(db: None) -> Iterator[Scene]:
    with acting(platform()):
        organisation = make_organisation(balance_fen=0)
        yield Scene(
            organisation,
            make_member(organisation, "bob"),
            signed_in(make_member(organisation, "admin", Role.ADMIN)),
            signed_in(make_staff()),
            make_package(),
        )


def put(client: Client, url: str, data: Any, method: str = "post") -> Any:
    return getattr(client, method)(url, data, content_type="application/json")


def place(**given: Any) -> dict[str, Any]:
    return {"role": "member", "own_role": "", "department": "", "priority": 3, **given}


def test_an_admin_gives_a_member_another_place(scene: Scene) -> None:
    scene.admin.post("/organisation/departments/new/", {"name": "Vision"})
    department = Department.objects.get(name="Vision")
    url = f"/organisation/members/{scene.bob.pk}/"
    assert scene.admin.post(url, place(department=department.pk, priority=5)).status_code == 302
    member = Membership.objects.get(user=scene.bob)
    assert (member.department_id, member.priority) == (department.pk, 5)
    assert "Vision" in scene.admin.get("/organisation/members/").content.decode()
    assert scene.admin.post(url, place(priority=9)).status_code == 422


def test_many_members_are_moved_at_once_and_equals_are_named(scene: Scene) -> None:
    other = make_member(scene.organisation, "other", Role.ADMIN)
    given = {"id": [scene.bob.pk, other.pk], "act": "priority", "priority": "1"}
    page = scene.admin.post("/organisation/members/change/", given, follow=True).content.decode()
    assert Membership.objects.get(user=scene.bob).priority == 1
    assert Membership.objects.get(user=other).priority == 3
    assert "1 member was changed" in page
    assert "lower rank" in page


def test_a_removed_member_is_gone_from_the_list(scene: Scene) -> None:
    scene.admin.post(f"/organisation/members/{scene.bob.pk}/remove/", {"running": "keep"})
    assert scene.bob.username not in scene.admin.get("/organisation/members/").content.decode().split("toast")[0]
    assert not Membership.objects.filter(user=scene.bob).exists()


def test_departments_are_found_one_level_at_a_time_and_by_search(scene: Scene) -> None:
    scene.admin.post("/organisation/departments/new/", {"name": "Research"})
    research = Department.objects.get(name="Research")
    scene.admin.post(f"/organisation/departments/new/?below={research.pk}", {"name": "Vision"}, follow=True)
    top = "/organisation/departments/"
    assert "Vision" not in scene.admin.get(top).content.decode()
    assert "Vision" in scene.admin.get(f"{top}?q=visi").content.decode()
    assert "Vision" in scene.admin.get(f"{top}{research.pk}/").content.decode()
    refused = scene.admin.post(f"{top}{research.pk}/edit/", {"act": "move", "parent": str(research.pk)})
    assert refused.status_code == 422
    page = scene.admin.post(f"{top}{research.pk}/delete/", follow=True).content.decode()
    assert "departments below it" in page


def test_a_limit_is_set_in_the_unit_that_people_use(scene: Scene) -> None:
    url = f"/organisation/quotas/people/{scene.bob.pk}/"
    assert scene.admin.post(url, {"cpu_milli": "2.5", "memory_mib": "4"}).status_code == 302
    rows = dict(Quota.objects.filter(user=scene.bob).values_list("resource", "limit"))
    assert (rows[Resource.CPU_MILLI], rows[Resource.MEMORY_MIB]) == (2500, 4096)
    assert scene.admin.post(url, {"cpu_milli": "-1"}).status_code == 422
    assert scene.admin.post("/organisation/quotas/", {"cpu_milli": "1"}).status_code == 405
    assert signed_in(scene.bob).get(url).status_code == 403


def test_a_role_is_made_and_given(scene: Scene) -> None:
    given = {"name": "Viewer", "permissions": ["training.view", "organisation.view"]}
    assert scene.admin.post("/organisation/roles/new/", given).status_code == 302
    role = OrganisationRole.objects.get(name="Viewer")
    scene.admin.post(f"/organisation/members/{scene.bob.pk}/", place(own_role=role.pk))
    assert actor_of(scene.bob).permissions == {"training.view", "organisation.view"}
    assert "1 member has it" in scene.admin.get(f"/organisation/roles/{role.pk}/").content.decode()
    assert scene.admin.post("/organisation/roles/new/", {"name": "Empty"}).status_code == 422


def test_a_request_goes_from_the_picker_to_the_decision(scene: Scene) -> None:
    review.set_needs_review(platform(), package_id=scene.package.pk, needs_review=True)
    bob = signed_in(scene.bob)
    page = bob.get("/training/new/").content.decode()
    assert f"/billing/packages/{scene.package.pk}/ask/" in page
    url = f"/billing/packages/{scene.package.pk}/ask/"
    assert bob.post(url, {"reason": ""}).status_code == 422
    assert bob.post(url, {"reason": "A large model", "next": "/training/new/"}).headers["Location"] == "/training/new/"
    assert "Asked for" in bob.get("/training/new/").content.decode()
    request = PackageRequest.objects.get(user=scene.bob)
    assert "A large model" in scene.boss.get("/console/package-requests/").content.decode()
    deny = f"/console/package-requests/{request.pk}/deny/"
    assert scene.boss.post(deny, {"answer": ""}).status_code == 422
    scene.boss.post("/console/package-requests/act/", {"id": [str(request.pk)]})
    with acting(actor_of(scene.bob)):
        assert funds.packages(actor_of(scene.bob)).filter(pk=scene.package.pk).exists()


def test_the_next_page_stays_on_the_site(scene: Scene) -> None:
    review.set_needs_review(platform(), package_id=scene.package.pk, needs_review=True)
    url = f"/billing/packages/{scene.package.pk}/ask/"
    response = signed_in(scene.bob).post(url, {"reason": "Please", "next": "https://evil.example/"})
    assert response.headers["Location"] == "/"


def test_organisations_get_their_packages_weight_and_credit(scene: Scene) -> None:
    base = f"/console/organisations/{scene.organisation.pk}"
    scene.boss.post(f"{base}/packages/", {"which": "listed", "packages": []})
    with acting(actor_of(scene.bob)):
        assert not funds.packages(actor_of(scene.bob)).exists()
    scene.boss.post(f"{base}/packages/", {"which": "all"})
    assert scene.boss.post(f"{base}/terms/", {"weight": "7", "credit_limit": "12.50"}).status_code == 302
    scene.organisation.refresh_from_db()
    assert scene.organisation.weight == 7
    assert 'value="12.50"' in scene.boss.get(f"{base}/terms/").content.decode()
    assert scene.boss.post(f"{base}/terms/", {"weight": "0", "credit_limit": "1"}).status_code == 422


def test_staff_are_added_given_roles_and_disabled(scene: Scene) -> None:
    given = {"who": "new", "username": "ops", "name": "", "email": "", "role": PlatformRole.OPS}
    page = scene.boss.post("/console/staff/new/", given).content.decode()
    assert "Shown once" in page
    ops = User.objects.get(username="ops")
    assert "ops" in scene.boss.get("/console/staff/").content.decode()
    scene.boss.post(f"/console/people/{ops.pk}/disable/")
    ops.refresh_from_db()
    assert not ops.is_active
    assert PlatformAssignment.objects.get(user=ops).role == PlatformRole.OPS
    finance = signed_in(make_staff(PlatformRole.FINANCE))
    assert finance.get("/console/staff/").status_code == 403
    assert finance.post(f"/console/people/{scene.bob.pk}/password/").status_code == 403


def test_a_new_password_is_shown_once_and_works(scene: Scene) -> None:
    page = scene.boss.post(f"/console/people/{scene.bob.pk}/password/")
    assert page.headers["Cache-Control"] == "no-store"
    scene.bob.refresh_from_db()
    assert not scene.bob.check_password(PASSWORD)


def test_a_platform_role_is_defined(scene: Scene) -> None:
    scene.boss.post("/console/roles/new/", {"name": "Auditors", "permissions": ["platform.audit.view"]})
    role = DefinedPlatformRole.objects.get(name="Auditors")
    assert "Auditors" in scene.boss.get("/console/roles/").content.decode()
    scene.boss.post(f"/console/people/{scene.bob.pk}/roles/", {"role": str(role.pk)})
    assert signed_in(scene.bob).get("/console/audit/").status_code == 200
    page = scene.boss.post(f"/console/roles/{role.pk}/delete/", follow=True).content.decode()
    assert "have this role" in page


def test_people_are_found_across_organisations(scene: Scene) -> None:
    found = scene.boss.get("/console/people/", {"organisation": scene.organisation.name}).content.decode()
    assert scene.bob.username in found
    other = make_organisation(balance_fen=0)
    assert scene.bob.username not in scene.boss.get("/console/people/", {"organisation": other.name}).content.decode()


def test_the_api_does_what_the_pages_do(scene: Scene) -> None:
    base = "/api/v1/organisation"
    made = put(scene.admin, f"{base}/departments/", {"name": "Vision"})
    assert made.status_code == 201
    department = made.json()["id"]
    member = f"{base}/members/{scene.bob.pk}/"
    changed = put(scene.admin, member, {"department_id": department, "priority": 4}, "patch").json()
    assert (changed["department_id"], changed["priority"], changed["role"]) == (department, 4, "member")
    quotas = f"{base}/quotas/?department={department}"
    assert put(scene.admin, quotas, [{"resource": "runs", "limit": 2}], "put").status_code == 200
    lines = {line["resource"]: line["limit"] for line in scene.admin.get(quotas).json()}
    assert lines["runs"] == 2
    assert put(scene.admin, f"{base}/quotas/", [{"resource": "runs", "limit": 2}], "put").status_code == 403
    assert scene.admin.delete(f"{base}/departments/{department}/").status_code == 409
    link = put(scene.admin, f"{base}/invitations/", {"max_uses": 2}).json()["link"]
    assert Client().get(link).status_code == 200
    assert put(scene.admin, f"{base}/roles/", {"name": "No", "permissions": ["platform.overview"]}).status_code == 400
    assert scene.admin.delete(member).status_code == 204
    assert scene.admin.get(member).status_code == 404


def test_the_api_of_requests(scene: Scene) -> None:
    review.set_needs_review(platform(), package_id=scene.package.pk, needs_review=True)
    given = {"package_id": scene.package.pk, "reason": "A large model"}
    made = put(signed_in(scene.bob), "/api/v1/package-requests/", given)
    assert made.status_code == 201
    url = f"/api/v1/console/package-requests/{made.json()['id']}"
    assert put(scene.boss, f"{url}/deny/", {}).status_code == 400
    assert put(scene.boss, f"{url}/approve/", {"days": 2}).json()["state"] == "approved"
    assert put(scene.boss, f"{url}/approve/", {}).status_code == 409
    packages = f"/api/v1/console/organisations/{scene.organisation.pk}/packages/"
    assert put(scene.boss, packages, {"packages": [scene.package.pk]}, "put").json() == {"packages": [scene.package.pk]}
    assert put(scene.boss, packages, {"packages": [0]}, "put").status_code == 400
