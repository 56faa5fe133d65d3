"""A refund's number is one payment's own, as it is at Alipay: made by hand there, several payments may have the same."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0027_lean_postings")]

    operations = [
        migrations.AddConstraint(
            model_name="topuprefund",
            constraint=models.UniqueConstraint(fields=("out_request_no", "order"), name="refund_number_once"),
        ),
        migrations.AlterField(
            model_name="topuprefund",
            name="out_request_no",
            field=models.CharField(max_length=64),
        ),
    ]
