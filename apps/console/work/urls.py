"""Pages and endpoints of what organisations run and keep."""

from apps.console.work.environments import urls as environments
from apps.console.work.images import urls as images
from apps.console.work.registry import urls as registry
from apps.console.work.storage import urls as storage
from apps.console.work.workloads import urls as workloads

pages = [
    *environments.pages,
    *images.pages,
    *registry.pages,
    *storage.pages,
    *workloads.pages,
]

endpoints = [
    *environments.endpoints,
    *images.endpoints,
    *registry.endpoints,
    *workloads.endpoints,
]
