"""The API of schedules."""

from django.urls import path

from apps.schedules import api

SCHEDULE = "schedules/<uuid:schedule_id>/"

urlpatterns = [
    path("schedules/", api.ScheduleList.as_view(), name="api-schedules"),
    path(SCHEDULE, api.ScheduleDetail.as_view(), name="api-schedule"),
    path(f"{SCHEDULE}pause/", api.SchedulePause.as_view(), name="api-schedule-pause"),
    path(f"{SCHEDULE}resume/", api.ScheduleResume.as_view(), name="api-schedule-resume"),
    path(f"{SCHEDULE}run/", api.ScheduleRun.as_view(), name="api-schedule-run"),
    path(f"{SCHEDULE}starts/", api.ScheduleStarts.as_view(), name="api-schedule-starts"),
]
