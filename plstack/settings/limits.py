"""What people run: its kinds, its limits and those of jobs on files, and who answers what may be mounted."""

from plstack.settings import env

# The kinds of work, each the `KindRules` of an installed app; filters and the API name them in this order.
WORKLOAD_KINDS = ["apps.training.kind.TRAINING", "apps.envs.kind.ENVIRONMENT"]
# What one run may hold on its machine's disk: its /tmp and working directory, its output, files in all, its log.
RUN_SCRATCH_MIB = 1024 * env.number("PLSTACK_RUN_SCRATCH_GIB", 50, least=1)
RUN_OUTPUT_MIB = 1024 * env.number("PLSTACK_RUN_OUTPUT_GIB", 200, least=1)
RUN_FILES = env.number("PLSTACK_RUN_FILES", 2_000_000, least=1000)
RUN_LOG_MIB = env.number("PLSTACK_RUN_LOG_MIB", 1024, least=1)
# Jobs on files at once; a job's longest time, and its longest time without getting further.
PLSTACK_FILE_SLOTS = int(env.value("PLSTACK_FILE_SLOTS", "4"))
PLSTACK_FILE_JOB_MINUTES = float(env.value("PLSTACK_FILE_JOB_MINUTES", "360"))
PLSTACK_FILE_JOB_IDLE_MINUTES = float(env.value("PLSTACK_FILE_JOB_IDLE_MINUTES", "10"))
# Asked by the kernel before each start (`apps.workloads.start_rights.LostMounts`); what it mounts is storage's.
MOUNT_RIGHTS = "apps.storage.mount_rights.lost_mounts"
