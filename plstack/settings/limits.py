"""What people run: its kinds, its limits and those of jobs on files, and who answers what may be mounted."""

from apps.workloads.drivers.images import PullRules
from plstack.settings import env

# The kinds of work, each the `KindRules` of an installed app; filters and the API name them in this order.
WORKLOAD_KINDS = [
    "apps.training.kind.TRAINING",
    "apps.envs.kind.ENVIRONMENT",
    "apps.builds.kind.BUILD",
    "apps.boards.kind.BOARD",
    "apps.serving.kind.SERVICE",
]
# What one run may hold on its machine's disk: its /tmp and working directory, its output, files in all, its log.
RUN_SCRATCH_MIB = 1024 * env.number("PLSTACK_RUN_SCRATCH_GIB", 50, least=1)
RUN_OUTPUT_MIB = 1024 * env.number("PLSTACK_RUN_OUTPUT_GIB", 200, least=1)
RUN_FILES = env.number("PLSTACK_RUN_FILES", 2_000_000, least=1000)
RUN_LOG_MIB = env.number("PLSTACK_RUN_LOG_MIB", 1024, least=1)
# Registries that are asked without TLS; the most that a container image may hold, and what a machine keeps of them.
IMAGE_PULL_RULES = PullRules(
    plain_http=tuple(env.names("PLSTACK_IMAGES_HTTP", "")),
    most_mib=1024 * env.number("PLSTACK_IMAGE_GIB", 64, least=1),
    most_files=env.number("PLSTACK_IMAGE_FILES", 1_000_000, least=1000),
    most_layers=env.number("PLSTACK_IMAGE_LAYERS", 128, least=1),
    cache_mib=1024 * env.number("PLSTACK_IMAGE_CACHE_GIB", 200, least=1),
)
# What an organisation may keep in the registry of container images.
REGISTRY_ORGANISATION_BYTES = 1024**3 * env.number("PLSTACK_REGISTRY_GIB", 200, least=1)
# What an organisation's cache of build steps may hold; 0: nothing is cached.
BUILD_CACHE_BYTES = 1024**3 * env.number("PLSTACK_BUILD_CACHE_GIB", 20)
# From which registries images are pulled by people ("*": all), unless an operator decided for their organisation; and
# addresses that may be asked although they are private: hosts, host:port or networks.
IMAGE_SOURCES = env.names("PLSTACK_IMAGE_SOURCES", "*")
IMAGE_SOURCES_PRIVATE = env.names("PLSTACK_IMAGE_SOURCES_PRIVATE", "")
# At which hour of the day, in the platform's time zone, the registry is away for seconds to remove what was deleted.
REGISTRY_COLLECTION_HOUR = env.number("PLSTACK_REGISTRY_COLLECTION_HOUR", 3) % 24
# Jobs on files at once; a job's longest time, and its longest time without getting further.
PLSTACK_FILE_SLOTS = int(env.value("PLSTACK_FILE_SLOTS", "4"))
PLSTACK_FILE_JOB_MINUTES = float(env.value("PLSTACK_FILE_JOB_MINUTES", "360"))
PLSTACK_FILE_JOB_IDLE_MINUTES = float(env.value("PLSTACK_FILE_JOB_IDLE_MINUTES", "10"))
# Asked by the kernel before each start (`apps.workloads.start_rights.LostMounts`), each about mounts of its own kind.
MOUNT_RIGHTS = ["apps.storage.mount_rights.lost_mounts", "apps.modelhub.mounted.lost_mounts"]
# Which mounts never change, so that a machine may copy them first (`apps.workloads.dataset_copies.CopySources`).
MOUNT_COPIES = ["apps.storage.listings.copy_sources", "apps.modelhub.mounted.copy_sources"]
# What storage does for other apps: trees of files (`apps.storage.roots.LoadRoot`), jobs on files
# (`apps.storage.jobs.FileJob`), what is stored and paid for (`apps.storage.metering.FindItems`), and bins, emptied by
# the files process with the platform's actor.
FILE_ROOTS = {"model": "apps.modelhub.file_roots.load"}
FILE_JOBS = {"model": "apps.modelhub.copying.JOB"}
STORED_ITEMS = ["apps.modelhub.metering.models"]
STORAGE_PURGES = ["apps.modelhub.services.purge_due"]
# What else needs a version of a model (`apps.modelhub.uses.FindUses`): such a version is not deleted.
MODEL_USES = ["apps.serving.model_uses.services_with"]
# Asked before each start in a container image, and for the token with which it is pulled.
IMAGE_RIGHTS = "apps.registry.distribution.pulling.may_pull"
IMAGE_CREDENTIAL = "apps.registry.distribution.pulling.credential"
# Called by each submission in a container image, in its transaction, so that the image is not deleted meanwhile.
IMAGE_HOLD = "apps.registry.distribution.holding.hold"
# The policy about vulnerabilities: called by each submission in a container image, and for all that is about to start.
IMAGE_ADMISSION = "apps.registry.scanning.enforcing.admit"
IMAGE_POLICY = "apps.registry.scanning.enforcing.refusals"
# The scanner of images (Grype; found on PATH if unnamed) and its database; a scan's longest time and most memory.
SCANNER = env.value("PLSTACK_SCANNER", "")
SCANNER_DATABASE = env.value("PLSTACK_SCANNER_DATABASE", "")
SCAN_MINUTES = env.number("PLSTACK_SCAN_MINUTES", 15, least=1)
SCAN_MEMORY_MIB = 1024 * env.number("PLSTACK_SCAN_MEMORY_GIB", 4, least=1)
# Who else needs images of the registry (`apps.registry.distribution.uses.FindUses`): those are not deleted.
IMAGE_USES = ["apps.training.image_uses.passports", "apps.envs.image_uses.kept"]
# Tags that images on their way will have (`apps.registry.distribution.tags.ComingTags`), and images that machines keep
# for rows of other apps (`apps.registry.saving.layouts.NamedLayouts`).
COMING_TAGS = ["apps.builds.destination.coming_tags"]
NAMED_LAYOUTS = ["apps.builds.selectors.kept_layouts"]
# With what programs say what they measure (`apps.workloads.reconcile.launch.FindAccess`); the kinds of work that do.
TRACKING_ACCESS = "apps.tracking.injection.access"
TRACKED_KINDS = ["training"]
TRACKING_HOST = "tracking.plstack.internal"  # as programs in sandboxes name the web process
# What else needs the output of a run (`apps.training.deletion.FindUses`): such a run is not deleted.
RUN_USES = [
    "apps.boards.run_uses.open_boards",
    "apps.automl.run_uses.open_experiments",
    "apps.pipelines.run_uses.pipelines",
    "apps.training.arrays.run_uses.unfinished_arrays",
    "apps.schedules.run_uses.repeating",
]
# What schedules can start (`apps.schedules.targets.ScheduleTarget`).
SCHEDULE_TARGETS = ["apps.schedules.runs.RUNS", "apps.pipelines.scheduling.PIPELINES"]
# Kinds of work whose metrics are read, and what knows how (`apps.tracking.collecting.settings.FindSettings`).
METRICS_OF = {"training": "apps.training.metric_settings.settings_of"}
# Lists whose rows may be had as files (`apps.billing.exports.lists.ExportedList`), each declared in its own room.
EXPORTED_LISTS = [
    "apps.training.exported.RUNS",
    "apps.automl.exported.EXPERIMENTS",
    "apps.pipelines.exported.PIPELINES",
    "apps.tabular.exported.SEARCHES",
    "apps.schedules.exported.SCHEDULES",
    "apps.envs.exported.ENVIRONMENTS",
    "apps.serving.exported.SERVICES",
    "apps.storage.exported.VOLUMES",
    "apps.storage.exported.DATASETS",
    "apps.modelhub.exported.MODELS",
    "apps.console.organisation.members.exported.MEMBERS",
    "apps.console.people.exported.ORGANISATIONS",
    "apps.console.people.exported.PEOPLE",
    "apps.console.work.exported.WORKLOADS",
    "apps.console.work.exported.ENVIRONMENTS",
    "apps.console.work.exported.VOLUMES",
    "apps.console.work.exported.DATASETS",
    "apps.console.work.exported.IMAGES",
    "apps.console.hardware.exported.NODES",
    "apps.console.finance.packages.exported.PACKAGES",
    "apps.console.finance.invoices.exported.INVOICES",
    "apps.console.finance.prepaid.exported.ORDERS",
    "apps.console.finance.vouchers.exported.VOUCHERS",
    "apps.console.finance.recharges.exported.RECHARGES",
    "apps.console.finance.alipay_payments.exported.PAYMENTS",
    "apps.console.finance.statements.exported.STATEMENTS",
]
# Who finds what names a secret (`apps.secrets.uses.FindUses`), for the question before one is deleted.
SECRET_USES = ["apps.workloads.secret_uses.live", "apps.envs.secret_uses.resting"]
# Who writes to people whose account is deleted (`apps.tenants.letters.Write`).
ACCOUNT_LETTERS = "apps.notifications.account_letters.write"
# What each app holds of people, and what becomes of it when an account is deleted (`apps.tenants.personal_data`).
PERSONAL_DATA = [
    "apps.whatif.personal_data.DATA",
    "apps.pipelines.personal_data.DATA",
    "apps.automl.personal_data.DATA",
    "apps.tabular.personal_data.DATA",
    "apps.boards.personal_data.DATA",
    "apps.schedules.personal_data.DATA",
    "apps.envs.personal_data.DATA",
    "apps.builds.personal_data.DATA",
    "apps.serving.personal_data.DATA",
    "apps.training.personal_data.DATA",
    "apps.registry.personal_data.DATA",
    "apps.modelhub.personal_data.DATA",
    "apps.storage.personal_data.DATA",
    "apps.workloads.personal_data.DATA",
    "apps.billing.personal_data.DATA",
    "apps.notifications.personal_data.DATA",
    "apps.secrets.personal_data.DATA",
    "apps.tenants.own_personal_data.DATA",
]
