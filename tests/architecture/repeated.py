"""What the victim of the sweeps has made of a run: an array of it, and a schedule."""

from typing import Any

from apps.common.scoping import acting
from apps.schedules import services as schedules
from apps.training.arrays import services as arrays
from apps.training.arrays.lines import Shape, read_lines
from apps.training.models import Run
from tests.builders import World, actor_of
from tests.training import kit


def repeated_values(world: World, run: Run, secret: str) -> dict[str, Any]:
    """Every name carries `secret`. Of the array's two lines the first has started."""
    with acting(actor := actor_of(world.alice, world.organisation)):
        asked = kit.request_for(world, name=f"{secret} array", note=f"{secret} note")
        array = arrays.start(actor, asked, read_lines(f"--x {secret}\n--x 2", Shape.WORDS, ()))
        schedule = schedules.create(actor, run.pk, schedules.Plan(name=f"{secret} schedule", cron="0 2 * * *"))
    return {"array_id": array.pk, "schedule_id": schedule.pk}
