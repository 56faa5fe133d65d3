from django.urls import path

from apps.workloads.gateway import views
from apps.workloads.ports.views import share

urlpatterns = [
    path("<uuid:workload_id>/", views.open_port, name="open_workload"),
    path("<uuid:workload_id>/<slug:port>/", views.open_port, name="open_port"),
    path("<uuid:workload_id>/<slug:port>/sharing/", share, name="share_port"),
]
