"""Routes of zones: pages and endpoints."""

from django.urls import path

from apps.console.hardware.zones import api, audience, audience_api, doctor, kubernetes, kubernetes_api, storage, views

pages = [
    path("zones/", views.zone_list, name="zones"),
    path("zones/new/", views.create, name="zone_create"),
    path("zones/simulated/", views.simulate, name="zone_simulate"),
    path("zones/kubernetes/", kubernetes.add, name="zone_kubernetes"),
    path("zones/<uuid:zone_id>/", views.detail, name="zone"),
    path("zones/<uuid:zone_id>/rename/", views.rename, name="zone_rename"),
    path("zones/<uuid:zone_id>/delete/", views.delete, name="zone_delete"),
    path("zones/<uuid:zone_id>/offer/", views.offer, name="zone_offer"),
    path("zones/<uuid:zone_id>/bill/", views.bill, name="zone_bill"),
    path("zones/<uuid:zone_id>/network/", views.network, name="zone_network"),
    path("zones/<uuid:zone_id>/storage/", storage.change, name="zone_storage"),
    path("zones/<uuid:zone_id>/doctor/", doctor.page, name="zone_doctor"),
    path("zones/<uuid:zone_id>/doctor/examine/", doctor.examine, name="zone_examine"),
    path("zones/<uuid:zone_id>/stop/", views.stop, name="zone_stop"),
    path("zones/<uuid:zone_id>/remove/", views.remove, name="zone_remove"),
    path("zones/<uuid:zone_id>/clusters/", views.cluster_create, name="cluster_create"),
    path("zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/", audience.detail, name="cluster"),
    path("zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/reserve/", audience.reserve, name="cluster_reserve"),
    path("zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/give/", audience.give, name="cluster_give"),
    path(
        "zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/organisations/<uuid:organisation_id>/withdraw/",
        audience.withdraw,
        name="cluster_withdraw",
    ),
    path("zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/rename/", views.cluster_rename, name="cluster_rename"),
    path("zones/<uuid:zone_id>/clusters/<uuid:cluster_id>/delete/", views.cluster_delete, name="cluster_delete"),
]

endpoints = [
    path("zones/", api.Zones.as_view()),
    path("zones/simulated/", api.SimulatedZone.as_view()),
    path("zones/kubernetes/", kubernetes_api.KubernetesZones.as_view()),
    path("zones/<uuid:zone_id>/", api.ZoneDetail.as_view()),
    path("zones/<uuid:zone_id>/storage/", storage.ZoneStorageDetail.as_view()),
    path("zones/<uuid:zone_id>/checkups/", doctor.ZoneCheckups.as_view()),
    path("zones/<uuid:zone_id>/clusters/", api.ZoneClusters.as_view()),
    path("clusters/<uuid:cluster_id>/", audience_api.ClusterDetail.as_view()),
    path("clusters/<uuid:cluster_id>/organisations/", audience_api.ClusterOrganisations.as_view()),
    path(
        "clusters/<uuid:cluster_id>/organisations/<uuid:organisation_id>/", audience_api.ClusterOrganisation.as_view()
    ),
]
