"""Pages and endpoints of machines."""

from apps.console.hardware.accelerators import urls as accelerators
from apps.console.hardware.nodes import urls as nodes
from apps.console.hardware.processes import urls as processes
from apps.console.hardware.zones import urls as zones

pages = [
    *accelerators.pages,
    *nodes.pages,
    *processes.pages,
    *zones.pages,
]

endpoints = [
    *accelerators.endpoints,
    *nodes.endpoints,
    *processes.endpoints,
    *zones.endpoints,
]
