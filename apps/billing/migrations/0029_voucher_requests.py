"""Vouchers of more than one person may grant alone are asked for as recharges are."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0028_refund_numbers"),
        ("tenants", "0005_guarantees"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="rechargerequest",
            name="recharge_request_reverses_one",
        ),
        migrations.AddField(
            model_name="rechargerequest",
            name="terms",
            field=models.JSONField(null=True),
        ),
        migrations.AlterField(
            model_name="rechargerequest",
            name="kind",
            field=models.CharField(
                choices=[
                    ("recharge", "Recharge"),
                    ("reversal", "Reversal"),
                    ("refund", "Refund by Alipay"),
                    ("voucher", "Voucher"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ["recharge", "voucher"]), ("reverses__isnull", True)),
                    models.Q(("kind__in", ["reversal", "refund"]), ("reverses__isnull", False)),
                    _connector="OR",
                ),
                name="recharge_request_reverses_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "voucher"), ("terms__isnull", False)),
                    models.Q(models.Q(("kind", "voucher"), _negated=True), ("terms__isnull", True)),
                    _connector="OR",
                ),
                name="recharge_request_terms_of_voucher",
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "voucher")), fields=("organisation", "reference"), name="voucher_asked_once"
            ),
        ),
    ]
