"""Images that were pushed before know which repository they are in."""

from django.db import migrations

FILL = """
UPDATE registry_image SET repository_id = tag.repository_id FROM registry_imagetag AS tag
WHERE registry_image.key = 'pushed-' || replace(tag.id::text, '-', '')
"""


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0010_shared_repositories'),
    ]

    operations = [
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
