"""What the platform's own machine does: how many processes answer pages, which work it takes and on which terms."""

from plstack.settings import env

# Processes that answer pages and the API; the launcher says how many there are.
PLSTACK_WEB_PROCESSES = env.number("PLSTACK_WEB_PROCESSES", 1, least=1)
# Whether it is a node itself, beside those that join.
PLSTACK_LOCAL_NODE = env.flag("PLSTACK_LOCAL_NODE", default=True)
# Whether several organisations may share machines that cannot keep them apart.
PLSTACK_ALLOW_SHARED_L0 = env.flag("PLSTACK_ALLOW_SHARED_L0")
# How many runs on simulated hardware may be processes of this machine at a time; further ones only take their time.
PLSTACK_SIMULATED_PROCESSES = env.number("PLSTACK_SIMULATED_PROCESSES", 4)
