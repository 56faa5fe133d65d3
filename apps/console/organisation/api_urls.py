"""The API of an organisation's own people, departments and quotas."""

from django.urls import path

from apps.console.organisation import departments_api, members_api

urlpatterns = [
    path("members/", members_api.OrganisationMembers.as_view()),
    path("members/<int:user_id>/", members_api.OrganisationMember.as_view()),
    path("invitations/", members_api.Invitations.as_view()),
    path("invitations/<uuid:invitation_id>/revoke/", members_api.InvitationRevoke.as_view()),
    path("roles/", members_api.Roles.as_view()),
    path("roles/<uuid:role_id>/", members_api.RoleDetail.as_view()),
    path("departments/", departments_api.Departments.as_view()),
    path("departments/<uuid:department_id>/", departments_api.DepartmentDetail.as_view()),
    path("quotas/", departments_api.OrganisationQuotas.as_view()),
]
