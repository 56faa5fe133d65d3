"""Routes of invitations: pages and endpoints."""

from django.urls import path

from apps.console.organisation.invitations import api, views

pages = [
    path("invitations/", views.invitation_list, name="member_invitations"),
    path("invitations/new/", views.new, name="member_invite"),
    path("invitations/<uuid:invitation_id>/resend/", views.resend, name="member_invitation_resend"),
    path("invitations/<uuid:invitation_id>/revoke/", views.revoke, name="member_invitation_revoke"),
]

endpoints = [
    path("invitations/", api.Invitations.as_view()),
    path("invitations/<uuid:invitation_id>/revoke/", api.InvitationRevoke.as_view()),
]
