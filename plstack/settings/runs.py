"""Limits of what people run, from the environment."""

from plstack.settings import env

# What one run may hold on its machine's disk: its /tmp and working directory, its output, files in all, its log.
RUN_SCRATCH_MIB = 1024 * env.number("PLSTACK_RUN_SCRATCH_GIB", 50, least=1)
RUN_OUTPUT_MIB = 1024 * env.number("PLSTACK_RUN_OUTPUT_GIB", 200, least=1)
RUN_FILES = env.number("PLSTACK_RUN_FILES", 2_000_000, least=1000)
RUN_LOG_MIB = env.number("PLSTACK_RUN_LOG_MIB", 1024, least=1)
