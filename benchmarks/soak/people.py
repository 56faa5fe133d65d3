"""What people do: each act goes through the service behind the page, with the rights of that moment."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.clusters.choices import DrainAction, NodeStatus
from apps.common.errors import DomainError, Invalid
from apps.common.scoping import acting
from apps.envs.choices import StepStatus
from apps.envs.models import Environment
from apps.envs.services import create as environments
from apps.envs.services import running
from apps.tenants.models import Membership
from apps.tenants.services.members import Place, change_member
from apps.training import services as training
from apps.training.choices import KIND as TRAINING
from apps.training.models import Entry
from apps.workloads import services as workloads
from apps.workloads.choices import LIVE, Desired, Status
from apps.workloads.hardware import drains
from apps.workloads.models import ReplicaSet, Workload
from apps.workloads.replicas import services as replicas
from benchmarks.soak.machines import ENDLESS_S, EXIT_CODE, FAILING_RANK, SECONDS
from benchmarks.soak.plan import Plan
from benchmarks.soak.serving import serve
from benchmarks.soak.world import Person, World, platform, recharge

# Acts of one person in an hour of the working day; at night a fifth of it.
RATE = 0.9
# Runs take a fifteenth of the longest, in the median; some much more.
MEDIAN = 1 / 15
DAY = range(1, 14)  # UTC hours: 9 to 22 in Shanghai


class Crowd:
    """Everybody, and the operators. `refused`: by error code, what the platform said no to."""

    def __init__(self, world: World, chance: random.Random, keys: Callable[[], UUID], plan: Plan) -> None:
        self.world, self.chance, self._key = world, chance, keys
        self.longest, self.bustle, self.gangs = plan.longest, plan.bustle, plan.gangs
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._acts: Mapping[Callable[[Person], None], float] = {
            self.train: 0.56,
            self.open_environment: 0.10,
            self.close_environment: 0.12,
            self.cancel: 0.12,
            self.move_up_or_down: 0.05,
            self.change_cap: 0.05,
        }
        if plan.sets:
            self._acts = {**self._acts, self.serve: plan.sets, self.scale: plan.sets, self.end_set: plan.sets / 2}

    def pause(self, person: Person, hour: int) -> timedelta:
        """Until this person acts again."""
        rate = RATE * self.bustle * person.vigour * (1.0 if hour in DAY else 0.2)
        return timedelta(hours=self.chance.expovariate(rate))

    def act(self, person: Person) -> None:
        """One act of a person, whatever comes to mind."""
        act = self.chance.choices(list(self._acts), list(self._acts.values()))[0]
        self._try(act.__name__, lambda: act(person))

    def _try(self, name: str, act: Callable[[], None]) -> None:
        try:
            act()
            self.done[name] += 1
        except DomainError as error:
            unsound = f": {dict(error.fields)}" if isinstance(error, Invalid) else ""
            self.refused[f"{name}: {type(error).__name__}{unsound}"] += 1

    def train(self, person: Person) -> None:
        longest_s = self.longest.total_seconds()
        seconds = min(longest_s, self.chance.lognormvariate(0.0, 1.1) * MEDIAN * longest_s)
        package_id = self._package()
        members = self._members(package_id)
        self.submit(
            person,
            seconds,
            package_id=package_id,
            members=members,
            least_members=(members + 1) // 2 if members > 1 and int(seconds) % 2 else None,
            code=self.chance.choices((0, 1, 137), (0.86, 0.1, 0.04))[0],
            preemptible=self.chance.random() < 0.75,
            cap_fen=self.chance.randint(200, 4000) if self.chance.random() < 0.1 else None,
        )

    def submit(
        self,
        person: Person,
        seconds: float,
        *,
        package_id: int | None = None,
        members: int = 1,
        least_members: int | None = None,
        code: int = 0,
        preemptible: bool = True,
        cap_fen: int | None = None,
    ) -> Workload:
        """A run that takes so long and ends with this exit code; on the first package where none is named."""
        request = training.Request(
            name="run",
            image_id=self.world.image.pk,
            package_id=package_id or next(iter(self.world.weights)),
            entry=Entry.PYTHON,
            script="train.py",
            key=self._key().hex,
            text="pass\n",
            environment=(
                (SECONDS, f"{seconds:.3f}"),
                (EXIT_CODE, str(code)),
                (FAILING_RANK, str(self.chance.randrange(members) if members > 1 else 0)),
            ),
            members=members,
            least_members=least_members,
            preemptible=preemptible,
            cap_fen=cap_fen,
        )
        with acting(person.actor()) as actor:
            workload: Workload = training.submit(actor, request).workload
            return workload

    def _package(self) -> int:
        return self.chance.choices(list(self.world.weights), list(self.world.weights.values()))[0]

    def _members(self, package_id: int) -> int:
        """Of a run on this package. A gang has as many as could ever run together, at most."""
        most = self.world.most_members[package_id]
        if not self.gangs or most == 1 or self.chance.random() >= self.gangs:
            return 1
        return self.chance.randint(2, most)

    def open_environment(self, person: Person) -> None:
        """One that is there and stopped, if there is one, or a new one."""
        with acting(person.actor()) as actor:
            mine = Environment.objects.filter(owner=person.user, deleted_at__isnull=True)
            idle = mine.exclude(workload__status__in=LIVE).order_by("code")
            found = idle.first()
            if found is not None and mine.count() > 1:
                running.start(actor, found)
                return
            request = environments.Request(
                name="notebook",
                image_id=self.world.image.pk,
                package_id=self._package(),
                key=self._key().hex,
                idle_minutes=self.chance.choice((30, 60, None)),
                duration_days=self.chance.choice((1, 7, 30)),
                preemptible=self.chance.random() < 0.5,
            )
            environments.create(actor, request)

    def close_environment(self, person: Person) -> None:
        with acting(person.actor()) as actor:
            mine = Environment.objects.filter(owner=person.user, workload__status__in=LIVE).order_by("created_at")
            found = mine.exclude(operations__status=StepStatus.WAITING).first()
            if found is not None:
                running.stop(actor, found, snapshot=self.chance.random() < 0.3)

    def cancel(self, person: Person) -> None:
        with acting(person.actor()) as actor:
            mine = Workload.objects.filter(owner=person.user, kind=TRAINING, status__in=LIVE)
            found = list(mine.exclude(status=Status.STOPPING).order_by("created_at", "pk"))
            if found:
                workloads.stop(actor, self.chance.choice(found))

    def move_up_or_down(self, person: Person) -> None:
        """An administrator gives a colleague another highest priority."""
        boss = next(one for one in self.world.people if one.admin and one.organisation == person.organisation)
        if person.admin:
            return
        with acting(boss.actor()) as actor:
            member = Membership.objects.get(user=person.user)
            place = Place(department_id=member.department_id, priority=self.chance.randint(1, 5))
            change_member(actor, user_id=person.user.pk, place=place)

    def serve(self, person: Person) -> None:
        """A set; what it runs serves on, or ends after hours, or at once each time."""
        seconds, code = self.chance.choices(((ENDLESS_S, 0), (9000.0, 1), (4000.0, 0), (30.0, 1)), (5, 2, 2, 1))[0]
        with acting(person.actor()) as actor:
            wanted, package = self.chance.randint(1, 4), self._package()
            serve(actor, self.world, self._key(), package_id=package, wanted=wanted, seconds=seconds, code=code)

    def scale(self, person: Person) -> None:
        """One's own oldest set, up or down."""
        with acting(person.actor()) as actor:
            found = open_sets(person).first()
            if found is not None:
                replicas.scale(actor, found.pk, self.chance.randint(1, 6))

    def end_set(self, person: Person) -> None:
        with acting(person.actor()) as actor:
            found = list(open_sets(person))
            if found:
                replicas.stop(actor, self.chance.choice(found).pk)

    def change_cap(self, person: Person) -> None:
        with acting(person.actor()) as actor:
            live = Q(status__in=LIVE - {Status.STOPPING}, kind=TRAINING, owner=person.user)
            found = Workload.objects.filter(live).order_by("created_at", "pk").first()
            if found is not None:
                workloads.set_cap(actor, found, self.chance.choice((None, 3000, 6000)))

    def pay(self, number: int) -> None:
        """Whoever has little left pays again; the poor organisation does not always."""
        for lab in self.world.organisations:
            if self.chance.random() < 0.5:
                self._try("recharge", lambda lab=lab: recharge(self.world, lab, f"slip-{number}"))  # type: ignore[misc]

    def pay_all(self, reference: str) -> None:
        for lab in self.world.organisations:
            recharge(self.world, lab, reference)

    def drain_a_node(self) -> None:
        with acting(platform()) as actor:
            ready = [node for node in self.world.nodes() if node.status == NodeStatus.READY]
            node, notice = self.chance.choice(ready), timedelta(minutes=self.chance.choice((0, 15, 60)))
            action = self.chance.choice((DrainAction.REQUEUE, DrainAction.STOP))
            self._try("drain", lambda: void(drains.drain(actor, node_id=node.pk, action=action, notice=notice)))

    def leave(self) -> None:
        """Everybody goes home: environments and sets are stopped, as nobody else would end what is never idle."""
        for person in self.world.people:
            with acting(person.actor()) as actor:
                for found in Environment.objects.filter(owner=person.user, workload__status__in=LIVE):
                    self._try("go_home", lambda actor=actor, found=found: running.stop(actor, found))  # type: ignore[misc]
                for one in list(open_sets(person)):
                    self._try("go_home", lambda actor=actor, one=one: void(replicas.stop(actor, one.pk)))  # type: ignore[misc]


def open_sets(person: Person) -> QuerySet[ReplicaSet]:
    """This person's own, the oldest first."""
    rows: QuerySet[ReplicaSet] = ReplicaSet.objects.filter(owner=person.user, ended_at__isnull=True)
    return rows.filter(desired=Desired.RUNNING).order_by("created_at", "pk")


def void(_value: object) -> None:
    """For acts whose result nobody reads."""
