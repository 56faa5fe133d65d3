"""Pages of the console."""

from django.urls import path

from apps.console.views import (
    audit,
    consumption,
    members,
    nodes,
    organisations,
    overview,
    packages,
    recharges,
    workloads,
)
from apps.console.views.settings import notifications as settings_notifications
from apps.console.views.settings import pages as settings_pages

app_name = "console"

urlpatterns = [
    path("", overview.page, name="overview"),
    path("organisations/", organisations.organisation_list, name="organisations"),
    path("organisations/suggestions/", organisations.suggestions, name="organisation_suggestions"),
    path("organisations/new/", organisations.new, name="organisation_new"),
    path("organisations/<uuid:organisation_id>/", organisations.detail, name="organisation"),
    path("organisations/<uuid:organisation_id>/freeze/", organisations.freeze, name="organisation_freeze"),
    path("organisations/<uuid:organisation_id>/unfreeze/", organisations.unfreeze, name="organisation_unfreeze"),
    path("organisations/<uuid:organisation_id>/members/", members.member_list, name="organisation_members"),
    path("organisations/<uuid:organisation_id>/members/new/", members.member_new, name="organisation_member_new"),
    path("organisations/<uuid:organisation_id>/quotas/", members.quotas, name="organisation_quotas"),
    path("workloads/", workloads.workload_list, name="workloads"),
    path("workloads/<uuid:workload_id>/", workloads.detail, name="workload"),
    path("workloads/<uuid:workload_id>/log/", workloads.log, name="workload_log"),
    path("workloads/<uuid:workload_id>/stop/", workloads.stop, name="workload_stop"),
    path("nodes/", nodes.node_list, name="nodes"),
    path("nodes/<uuid:node_id>/", nodes.detail, name="node"),
    path("nodes/<uuid:node_id>/load/<slug:name>/", nodes.load, name="node_load"),
    path("nodes/<uuid:node_id>/cordon/", nodes.cordon, name="node_cordon"),
    path("nodes/<uuid:node_id>/uncordon/", nodes.uncordon, name="node_uncordon"),
    path("packages/", packages.package_list, name="packages"),
    path("packages/new/", packages.new, name="package_new"),
    path("packages/<int:package_id>/", packages.detail, name="package"),
    path("packages/<int:package_id>/edit/", packages.edit, name="package_edit"),
    path("packages/<int:package_id>/price/", packages.price, name="package_price"),
    path("packages/<int:package_id>/withdraw/", packages.withdraw, name="package_withdraw"),
    path("packages/<int:package_id>/offer/", packages.offer, name="package_offer"),
    path("recharges/", recharges.recharge_list, name="recharges"),
    path("recharges/new/", recharges.new, name="recharge_new"),
    path("recharges/create/", recharges.create, name="recharge_create"),
    path("recharges/<int:transfer_id>/", recharges.detail, name="recharge"),
    path("consumption/", consumption.page, name="consumption"),
    path("consumption/days/", consumption.days, name="consumption_days"),
    path("consumption/agreement/", consumption.agreement, name="consumption_agreement"),
    path("settings/", settings_pages.first, name="settings"),
    path("settings/registration/", settings_pages.registration, name="settings_registration"),
    path("settings/options/", settings_pages.options, name="settings_options"),
    path("settings/notifications/", settings_notifications.notifications, name="settings_notifications"),
    path("settings/branding/", settings_pages.branding, name="settings_branding"),
    path("audit/", audit.log, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
]
