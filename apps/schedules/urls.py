"""Pages of schedules."""

from django.urls import path

from apps.schedules.views import acts, pages

app_name = "schedules"

urlpatterns = [
    path("", pages.schedule_list, name="list"),
    path("new/", pages.new, name="new"),
    path("moments/", pages.moments, name="moments"),
    path("<uuid:schedule_id>/", pages.detail, name="detail"),
    path("<uuid:schedule_id>/edit/", pages.edit, name="edit"),
    path("<uuid:schedule_id>/ask/<slug:name>/", acts.ask, name="ask"),
    path("<uuid:schedule_id>/pause/", acts.pause, name="pause"),
    path("<uuid:schedule_id>/resume/", acts.resume, name="resume"),
    path("<uuid:schedule_id>/run/", acts.run_now, name="run_now"),
    path("<uuid:schedule_id>/delete/", acts.delete, name="delete"),
]
