"""The organisation's pages in the portal."""

from django.urls import path

from apps.console.organisation import departments, invitations, members, quotas, requests, roles

app_name = "organisation"

urlpatterns = [
    path("members/", members.member_list, name="members"),
    path("members/change/", members.bulk, name="member_bulk"),
    path("members/<int:user_id>/", members.detail, name="member"),
    path("members/<int:user_id>/remove/", members.remove, name="member_remove"),
    path("invitations/", invitations.invitation_list, name="member_invitations"),
    path("invitations/new/", invitations.new, name="member_invite"),
    path("invitations/<uuid:invitation_id>/resend/", invitations.resend, name="member_invitation_resend"),
    path("invitations/<uuid:invitation_id>/revoke/", invitations.revoke, name="member_invitation_revoke"),
    path("departments/", departments.top, name="departments"),
    path("departments/new/", departments.new, name="department_new"),
    path("departments/<uuid:department_id>/", departments.detail, name="department"),
    path("departments/<uuid:department_id>/edit/", departments.edit, name="department_edit"),
    path("departments/<uuid:department_id>/delete/", departments.delete, name="department_delete"),
    path("quotas/", quotas.whole, name="quotas"),
    path("quotas/holders/", quotas.holders, name="quota_holders"),
    path("quotas/departments/<uuid:department_id>/", quotas.of_department, name="quota_department"),
    path("quotas/people/<int:user_id>/", quotas.of_person, name="quota_person"),
    path("requests/", requests.request_list, name="requests"),
    path("requests/act/", requests.act, name="request_act"),
    path("requests/<uuid:request_id>/deny/", requests.deny, name="request_deny"),
    path("roles/", roles.role_list, name="roles"),
    path("roles/new/", roles.new, name="role_new"),
    path("roles/<uuid:role_id>/", roles.detail, name="role"),
    path("roles/<uuid:role_id>/delete/", roles.delete, name="role_delete"),
]
