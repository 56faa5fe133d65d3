"""The API of services: the same services and permissions as the pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.serving import changing, selectors, services, usage
from apps.serving import serializers as s
from apps.serving.models import Deployment, Service, ServiceVersion
from apps.serving.tables import ServiceFilter
from apps.workloads.launching.form import new_key
from apps.workloads.launching.request import Launch

VIEW = in_organisation(Permission.SERVICES_VIEW)
USE = in_organisation(Permission.SERVICES_USE)


class ServiceView(ScopedView):
    """Base of everything about one service, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = USE

    def service(self) -> Service:
        return selectors.get(self.actor, self.kwargs["service_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(s.ServiceSerializer(self.service()).data, status=code)


class ServiceList(ScopedView, generics.ListCreateAPIView[Service]):
    """Model services: the actor's own, or all of the organisation's for who manages them; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.ServiceSerializer
    filterset_class = ServiceFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Service]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Service.objects.none()
        return selectors.services(self.actor)

    @extend_schema(request=s.NewServiceSerializer, responses={201: s.ServiceSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a service with its first version, and start it; all or nothing."""
        asked = s.NewServiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        launch = asked.as_launch(new_key(), data["name"], data["image_id"])
        made = services.create(self.actor, asked.as_draft(), launch, data["replicas"])
        row = selectors.get(self.actor, made.pk)
        return Response(s.ServiceSerializer(row).data, status=status.HTTP_201_CREATED)


class ServiceDetail(ServiceView):
    access = {"get": VIEW, "patch": USE, "delete": USE}

    @extend_schema(responses=s.ServiceSerializer)
    def get(self, request: Request, service_id: UUID) -> Response:
        """One service, and how it is."""
        return self.answer()

    @extend_schema(request=s.ServiceSettingsSerializer, responses=s.ServiceSerializer)
    def patch(self, request: Request, service_id: UUID) -> Response:
        """Change its note, the pages that may call it, and when it stops by itself; nothing is restarted."""
        asked = s.ServiceSettingsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changing.change(self.actor, service_id, asked.over(self.service()))
        return self.answer()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, service_id: UUID) -> Response:
        """For good. 409 unless it is stopped."""
        changing.delete(self.actor, self.service().pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ServiceStart(ServiceView):
    @extend_schema(request=s.ServiceStartSerializer, responses={202: s.ServiceSerializer})
    def post(self, request: Request, service_id: UUID) -> Response:
        """Start a version that there is: after a stop, or beside what serves, to go back to it. 409 while one gets
        ready."""
        asked = s.ServiceStartSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        service, data = self.service(), asked.validated_data
        rows = selectors.versions(service)
        version = rows.filter(number=data["version"]).first() if "version" in data else rows.first()
        if version is None:
            raise NotFound
        launch = Launch(
            name=service.name,
            image_id=version.image_id,
            package_id=data.get("package_id", service.package_id),
            key=new_key(),
        )
        services.deploy(self.actor, service.pk, version.pk, launch, data.get("replicas", service.replicas))
        return self.answer(status.HTTP_202_ACCEPTED)


class ServiceStop(ServiceView):
    @extend_schema(request=None, responses={202: s.ServiceSerializer})
    def post(self, request: Request, service_id: UUID) -> Response:
        """Finish what was begun, and stop. 409 where it is stopped."""
        services.stop(self.actor, self.service().pk)
        return self.answer(status.HTTP_202_ACCEPTED)


class ServiceWithdraw(ServiceView):
    @extend_schema(request=None, responses={202: s.ServiceSerializer})
    def post(self, request: Request, service_id: UUID) -> Response:
        """End the version that gets ready; what serves is not touched. 409 where none does."""
        services.withdraw(self.actor, self.service().pk)
        return self.answer(status.HTTP_202_ACCEPTED)


class ServiceScale(ServiceView):
    @extend_schema(request=s.ServiceScaleSerializer, responses=s.ServiceSerializer)
    def post(self, request: Request, service_id: UUID) -> Response:
        """So many replicas from now on; 402 or 409 where money or quota does not suffice, which changes nothing."""
        asked = s.ServiceScaleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.scale(self.actor, self.service().pk, asked.validated_data["replicas"])
        return self.answer()


class VersionList(ServiceView, generics.ListCreateAPIView[ServiceVersion]):
    """Versions, newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = s.ServiceVersionSerializer
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[ServiceVersion]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return ServiceVersion.objects.none()
        return selectors.versions(self.service())

    @extend_schema(request=s.ServiceVersionDraftSerializer, responses={202: s.ServiceDeploymentSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A hot update: a new version gets ready beside the one that serves, and takes over once it is well."""
        asked = s.ServiceVersionDraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        service, data = self.service(), asked.validated_data
        launch = asked.as_launch(new_key(), service.name, data["image_id"])
        made = services.update(self.actor, service.pk, asked.as_draft(), launch, data["replicas"])
        return Response(s.ServiceDeploymentSerializer(made).data, status=status.HTTP_202_ACCEPTED)


class DeploymentList(ServiceView, generics.ListAPIView[Deployment]):
    """The history of updates, newest first."""

    access = VIEW
    serializer_class = s.ServiceDeploymentSerializer
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Deployment]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Deployment.objects.none()
        return selectors.deployments(self.service())


class ServiceUsage(ServiceView):
    access = VIEW

    @extend_schema(responses=s.ServiceMinuteSerializer(many=True))
    def get(self, request: Request, service_id: UUID) -> Response:
        """The minutes of the last hour in which something was asked, oldest first."""
        return Response(s.ServiceMinuteSerializer(usage.minutes(self.service()), many=True).data)
