"""People are told of a payment after the gateway has its answer: credited ones say whether they still are to be told."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0025_tags")]

    operations = [
        migrations.AddField(
            model_name="topuporder",
            name="untold",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="topuporder",
            index=models.Index(condition=Q(("untold", True)), fields=["id"], name="topup_to_tell"),
        ),
        migrations.AddConstraint(
            model_name="topuporder",
            constraint=models.CheckConstraint(
                condition=Q(("untold", False), ("status", "paid"), _connector="OR"), name="topup_tells_of_paid"
            ),
        ),
    ]
