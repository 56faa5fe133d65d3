"""Files may be of any list: one kind of export more. Nothing changes in the table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_triggers")]

    operations = [
        migrations.AlterField(
            model_name="export",
            name="kind",
            field=models.CharField(
                choices=[
                    ("charges", "Consumption"),
                    ("recharges", "Recharges"),
                    ("top_ups", "Payments by Alipay"),
                    ("transfers", "Ledger entries"),
                    ("statements", "Statements"),
                    ("list", "List"),
                ],
                max_length=12,
            ),
        ),
    ]
