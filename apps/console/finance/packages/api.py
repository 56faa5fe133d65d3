"""/api/v1/console/packages/: packages and their prices."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.billing import services
from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.effects import package_effect
from apps.billing.changes.price_proposals import PackagePrice
from apps.billing.changes.services import change_package, follow_list, offer_package, submit
from apps.billing.choices import GpuMode, Isolation
from apps.billing.models import Package, PriceVersion
from apps.billing.services import PackageSpec
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.console.finance.effects import EffectOut, answer_price, effect_data, price_in
from apps.console.finance.packages.listing import PackageFilter
from apps.console.finance.price_versions import MANAGE, VIEW, PriceIn, PriceOut
from apps.console.kit.api import ByKey, ByNumber, fields_named


class PackageFields(serializers.Serializer[Any]):
    """What one replica gets: milli-cores, MiB, cards, thousandths of a card's compute."""

    name_en = serializers.CharField(max_length=80)
    name_zh = serializers.CharField(max_length=80)
    description_en = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")
    description_zh = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")
    cpu_milli = serializers.IntegerField(min_value=1, max_value=10**9)
    memory_mib = serializers.IntegerField(min_value=1, max_value=10**9)
    gpu_count = serializers.IntegerField(min_value=0, max_value=1024, default=0)
    gpu_model = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    gpu_mode = serializers.ChoiceField(choices=GpuMode.choices, required=False, allow_blank=True, default="")
    gpu_core_milli = serializers.IntegerField(min_value=0, max_value=1000, default=0)
    gpu_memory_mib = serializers.IntegerField(min_value=0, max_value=10**9, default=0)
    mig_profile = serializers.CharField(max_length=24, required=False, allow_blank=True, default="")
    rdma = serializers.BooleanField(
        default=False,
        help_text="Each replica is given the InfiniBand adapters of its node, and runs only where there are any.",
    )
    sort = serializers.IntegerField(min_value=0, max_value=100_000, default=100)


class PackageOut(PackageFields):
    """`price` is the version in force; null means that nothing can start on it."""

    id = serializers.IntegerField(read_only=True)
    isolation = serializers.ChoiceField(choices=Isolation.choices, read_only=True)
    active = serializers.BooleanField(read_only=True)
    follows_list = serializers.BooleanField(read_only=True, help_text="The price list makes its price.")
    price = PriceOut(read_only=True, allow_null=True)


class NewPackageIn(PackageFields):
    rate_fen_per_hour = serializers.DecimalField(
        max_digits=20, decimal_places=10, min_value=0, required=False, allow_null=True, default=None
    )


def shown(actor: Actor, package_id: int) -> Any:
    package = funds.packages(actor, active_only=False).filter(pk=package_id).first()
    if package is None:
        raise NotFound
    return PackageOut(package).data


@extend_schema(tags=["console: packages"])
class Packages(ScopedView, generics.ListAPIView[Package]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = Package.objects.none()
    serializer_class = PackageOut
    pagination_class = ByKey
    filterset_class = PackageFilter

    def get_queryset(self) -> QuerySet[Package]:
        return funds.packages(self.actor, active_only=False)

    @extend_schema(request=NewPackageIn, responses={201: PackageOut})
    def post(self, request: Request) -> Response:
        """Offer a new package, with its first price if one is given.

        A first price far below that of comparable packages waits for a second person (`price` is null until then).
        """
        given = NewPackageIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = dict(given.validated_data)
        rate = data.pop("rate_fen_per_hour")
        with fields_named(rate="rate_fen_per_hour"):
            package, _priced = offer_package(self.actor, spec=PackageSpec(**data), rate_fen_per_hour=rate)
        return Response(shown(self.actor, package.pk), status=status.HTTP_201_CREATED)


@extend_schema(tags=["console: packages"])
class PackageDetail(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=PackageOut)
    def get(self, request: Request, package_id: int) -> Response:
        return Response(shown(self.actor, package_id))

    @extend_schema(request=PackageFields, responses=PackageOut)
    def put(self, request: Request, package_id: int) -> Response:
        """Change what is offered from now on; what runs keeps its resources and its price."""
        given = PackageFields(data=request.data)
        given.is_valid(raise_exception=True)
        change_package(self.actor, package_id=package_id, spec=PackageSpec(**given.validated_data))
        return Response(shown(self.actor, package_id))


@extend_schema(tags=["console: packages"], request=None, responses=PackageOut)
class PackageWithdraw(ScopedView):
    """Nothing new starts on it; what runs goes on."""

    access = MANAGE

    def post(self, request: Request, package_id: int) -> Response:
        services.deactivate_package(self.actor, package_id=package_id)
        return Response(shown(self.actor, package_id))


@extend_schema(tags=["console: packages"], request=None, responses=PackageOut)
class PackageOffer(ScopedView):
    """On offer again."""

    access = MANAGE

    def post(self, request: Request, package_id: int) -> Response:
        services.activate_package(self.actor, package_id=package_id)
        return Response(shown(self.actor, package_id))


@extend_schema(tags=["console: packages"])
class Prices(ScopedView, generics.ListAPIView[PriceVersion]):
    access = {"get": VIEW, "post": MANAGE}
    queryset = PriceVersion.objects.none()
    serializer_class = PriceOut
    pagination_class = ByNumber
    filter_backends = ()

    def get_queryset(self) -> QuerySet[PriceVersion]:
        shown(self.actor, self.kwargs["package_id"])
        return funds.price_history(self.actor, package_id=self.kwargs["package_id"])

    @extend_schema(request=PriceIn, responses={200: PriceOut, 201: PriceOut, 202: ChangeRequestRef})
    def post(self, request: Request, package_id: int) -> Response:
        """201 with a new version; the former one ends where it begins. 200 with the one that has this rate already.

        202 with a request where one person may not lower it so far alone.
        """
        with fields_named(rate="rate_fen_per_hour"):
            return answer_price(submit(self.actor, PackagePrice(package_id, **price_in(request))))


@extend_schema(tags=["console: packages"], request=PriceIn, responses=EffectOut)
class PricePreview(ScopedView):
    access = MANAGE

    def post(self, request: Request, package_id: int) -> Response:
        """What the price would do; nothing is changed."""
        wanted = PackagePrice(package_id, **price_in(request))
        with fields_named(rate="rate_fen_per_hour"):
            return Response(effect_data(self.actor, wanted, lambda: package_effect(self.actor, wanted)))


class FollowIn(serializers.Serializer[Any]):
    follows = serializers.BooleanField()


@extend_schema(tags=["console: packages"])
class PackageFollow(ScopedView):
    access = MANAGE

    @extend_schema(request=FollowIn, responses=PackageOut)
    def post(self, request: Request, package_id: int) -> Response:
        """Let the price list make the package's price, or let it keep the price that it has."""
        given = FollowIn(data=request.data)
        given.is_valid(raise_exception=True)
        follow_list(self.actor, package_id=package_id, follows=given.validated_data["follows"])
        return Response(shown(self.actor, package_id))
