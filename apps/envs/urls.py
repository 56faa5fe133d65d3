"""Pages of development environments."""

app_name = "envs"

urlpatterns: list[object] = []
