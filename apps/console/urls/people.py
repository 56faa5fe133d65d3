"""The console's pages of people, staff, roles, requests, and the terms of organisations."""

from django.urls import path

from apps.console.views import people, requests, roles, terms

urlpatterns = [
    path("organisations/<uuid:organisation_id>/packages/", terms.packages, name="organisation_packages"),
    path("organisations/<uuid:organisation_id>/terms/", terms.terms, name="organisation_terms"),
    path("organisations/<uuid:organisation_id>/guarantees/", terms.guarantees, name="organisation_guarantees"),
    path("people/", people.people, name="people"),
    path("people/<int:user_id>/", people.detail, name="people_detail"),
    path("people/<int:user_id>/disable/", people.disable, name="people_disable"),
    path("people/<int:user_id>/enable/", people.enable, name="people_enable"),
    path("people/<int:user_id>/password/", people.reset_password, name="people_password"),
    path("people/<int:user_id>/second-factor/", people.reset_second_factor, name="people_second_factor"),
    path("people/<int:user_id>/sign-out/", people.sign_out, name="people_sign_out"),
    path("people/<int:user_id>/roles/", people.give_role, name="people_give_role"),
    path("staff/", people.staff, name="staff"),
    path("staff/new/", people.staff_new, name="staff_new"),
    path("staff/roles/<int:assignment_id>/take/", people.take_role, name="staff_take_role"),
    path("roles/", roles.role_list, name="roles"),
    path("roles/new/", roles.new, name="role_new"),
    path("roles/<uuid:platform_role_id>/", roles.detail, name="role"),
    path("roles/<uuid:platform_role_id>/delete/", roles.delete, name="role_delete"),
    path("package-requests/", requests.request_list, name="requests"),
    path("package-requests/act/", requests.act, name="request_act"),
    path("package-requests/<uuid:request_id>/deny/", requests.deny, name="request_deny"),
    path("packages/<int:package_id>/review/", terms.needs_review, name="package_review"),
]
