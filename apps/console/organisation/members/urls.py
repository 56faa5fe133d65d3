"""Routes of members: pages and endpoints."""

from django.urls import path

from apps.console.organisation.members import api, views

pages = [
    path("members/", views.member_list, name="members"),
    path("members/change/", views.bulk, name="member_bulk"),
    path("members/<int:user_id>/", views.detail, name="member"),
    path("members/<int:user_id>/remove/", views.remove, name="member_remove"),
]

endpoints = [
    path("members/", api.OrganisationMembers.as_view()),
    path("members/<int:user_id>/", api.OrganisationMember.as_view()),
]
