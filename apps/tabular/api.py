"""The API of searches on tables: the same services and permissions as the pages."""

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.storage import datasets
from apps.tabular import preview, selectors, services
from apps.tabular import serializers as s
from apps.tabular.models import TableSearch
from apps.tabular.results import raw
from apps.tabular.tables import TableSearchFilter
from apps.training import services as runs
from apps.workloads.launching.form import new_key

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


class TableSearchView(ScopedView):
    """Base of everything about one search, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = VIEW

    def search(self) -> TableSearch:
        return selectors.get(self.actor, self.kwargs["search_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(s.TableSearchSerializer(self.search()).data, status=code)


class TablePreview(ScopedView):
    access = SUBMIT

    @extend_schema(parameters=[s.PreviewQuerySerializer], responses=s.PreviewSerializer)
    def get(self, request: Request) -> Response:
        """What the head of a table says of its columns, as the form shows it."""
        asked = s.PreviewQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        found = preview.read(self.actor, datasets.get_version(self.actor, data["version"]), data["file"])
        target = data["target"] or preview.likely_target(found)
        shown = {
            "columns": found.columns,
            "size": found.size,
            "rows": found.rows,
            "rows_read": found.rows_read,
            "target": target,
            "task": preview.guessed_task(found, target),
            "leaky": preview.leaky_columns(found, target),
        }
        return Response(s.PreviewSerializer(shown).data)


class TableSearchList(ScopedView, generics.ListAPIView[TableSearch]):
    """Searches on tables: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    queryset = TableSearch.objects.none()
    serializer_class = s.TableSearchSerializer
    filterset_class = TableSearchFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[TableSearch]:
        return selectors.searches(self.actor)

    @extend_schema(request=s.NewTableSearchSerializer, responses={201: s.TableSearchSerializer})
    def post(self, request: Request) -> Response:
        """Start a search. Its run is charged, stopped and deleted as any run."""
        asked = s.NewTableSearchSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted = s.wanted_of(asked.validated_data, key_of(request._request) or new_key())
        made = services.start(self.actor, wanted)
        shown = s.TableSearchSerializer(selectors.get(self.actor, made.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED)


class TableSearchDetail(TableSearchView):
    @extend_schema(responses=s.TableSearchSerializer)
    def get(self, request: Request, search_id: UUID) -> Response:
        """One search."""
        return self.answer()


class TableSearchResults(TableSearchView):
    @extend_schema(responses=s.ResultsSerializer)
    def get(self, request: Request, search_id: UUID) -> Response:
        """What it has found so far."""
        run = selectors.run_of(self.actor, self.search())
        names = ("leaderboard", "result", "problem")
        return Response(s.ResultsSerializer({name: raw(run, f"{name}.json") for name in names}).data)


class TableSearchStop(TableSearchView):
    access = SUBMIT

    @extend_schema(request=None, responses={202: s.TableSearchSerializer})
    def post(self, request: Request, search_id: UUID) -> Response:
        """Ask its run to end; what it has found stays. 409 where it has ended already."""
        runs.stop(self.actor, selectors.run_of(self.actor, self.search()))
        return self.answer(status.HTTP_202_ACCEPTED)
