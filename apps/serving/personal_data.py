"""What becomes of services when an account is deleted: colleagues' programs call them, and bills name them."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={
        "serving.Service.owner": Fate.KEPT,
        "serving.ServiceVersion.author": Fate.KEPT,
        "serving.Deployment.author": Fate.KEPT,
        "serving.ServiceKey.author": Fate.KEPT,
        "serving.ModelName.author": Fate.KEPT,
    },
    own=(
        OwnRows(
            "services", _("Model services"), "serving.Service", "owner", "organisation__name name note host created_at"
        ),
        OwnRows(
            "service_versions",
            _("Versions of model services"),
            "serving.ServiceVersion",
            "author",
            "service__name number script argv note created_at",
        ),
        OwnRows(
            "service_deployments",
            _("Updates of model services"),
            "serving.Deployment",
            "author",
            "service__name version__number status created_at",
        ),
        OwnRows(
            "service_keys",
            _("Keys of model services"),
            "serving.ServiceKey",
            "author",
            "service__name name prefix model_names created_at expires_at revoked_at",
        ),
        OwnRows(
            "model_names",
            _("Names of models"),
            "serving.ModelName",
            "author",
            "service__name name upstream created_at",
        ),
    ),
)
