"""Routes of nodes: pages and endpoints."""

from django.urls import path

from apps.console.hardware.nodes import acts, api, faults, moving_api, quarantine_api, sources, views

pages = [
    path("nodes/bulk/", views.bulk_act, name="nodes_bulk"),
    path("nodes/", views.node_list, name="nodes"),
    path("nodes/new/", views.new, name="node_new"),
    path("nodes/<uuid:node_id>/", views.detail, name="node"),
    path("nodes/<uuid:node_id>/load/<slug:name>/", views.load, name="node_load"),
    path("nodes/<uuid:node_id>/cordon/", acts.cordon, name="node_cordon"),
    path("nodes/<uuid:node_id>/uncordon/", acts.uncordon, name="node_uncordon"),
    path("nodes/<uuid:node_id>/trust/", acts.trust, name="node_trust"),
    path("nodes/<uuid:node_id>/drain/", acts.drain, name="node_drain"),
    path("nodes/<uuid:node_id>/drain/cancel/", acts.drain_cancel, name="node_drain_cancel"),
    path("nodes/<uuid:node_id>/lost/", acts.declare_lost, name="node_lost"),
    path("nodes/<uuid:node_id>/switch-off/", acts.switch_off, name="node_switch_off"),
    path("nodes/<uuid:node_id>/switch-on/", acts.switch_on, name="node_switch_on"),
    path("nodes/<uuid:node_id>/remove/", acts.remove, name="node_remove"),
    path("nodes/<uuid:node_id>/move/", acts.move, name="node_move"),
    path("nodes/<uuid:node_id>/labels/", acts.labels, name="node_labels"),
    path("nodes/<uuid:node_id>/mode/", acts.mode, name="node_mode"),
    path("nodes/<uuid:node_id>/sources/", acts.ask_sources, name="node_sources"),
    path("nodes/<uuid:node_id>/strays/<uuid:ref>/stop/", acts.stray_stop, name="node_stray_stop"),
]

endpoints = [
    path("nodes/", api.Nodes.as_view()),
    path("nodes/tokens/", api.NodeTokens.as_view()),
    path("nodes/<uuid:node_id>/", api.NodeDetail.as_view()),
    path("nodes/<uuid:node_id>/samples/", api.NodeSamples.as_view()),
    path("nodes/<uuid:node_id>/cordon/", api.NodeCordon.as_view()),
    path("nodes/<uuid:node_id>/uncordon/", api.NodeUncordon.as_view()),
    path("nodes/<uuid:node_id>/trust/", quarantine_api.NodeTrust.as_view()),
    path("nodes/<uuid:node_id>/drain/", api.NodeDrain.as_view()),
    path("nodes/<uuid:node_id>/lost/", api.NodeLost.as_view()),
    path("nodes/<uuid:node_id>/switch-off/", api.NodeSwitchOff.as_view()),
    path("nodes/<uuid:node_id>/switch-on/", api.NodeSwitchOn.as_view()),
    path("nodes/<uuid:node_id>/remove/", api.NodeRemove.as_view()),
    path("nodes/<uuid:node_id>/faults/", faults.NodeFaultList.as_view()),
    path("nodes/<uuid:node_id>/sources/", sources.NodeSources.as_view()),
    path("nodes/<uuid:node_id>/move/", moving_api.NodeMove.as_view()),
    path("nodes/<uuid:node_id>/labels/", api.NodeLabels.as_view()),
]
