"""The style guide and the numbers of its charts. `urls.py` of the project routes to them only when DEBUG is on."""

import math

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone

from apps.common.styleguide.forms import SampleFilter, SampleForm
from apps.common.styleguide.plots import objective, parallel
from apps.common.styleguide.samples import sample
from apps.common.styleguide.tables import SampleTable, sample_rows

_POINTS, _STEP_S = 60, 60


def page(request: HttpRequest) -> HttpResponse:
    table = SampleTable(sample_rows(), request=request, order_by=request.GET.get("sort", ""))
    table.paginate(page=request.GET.get("page", 1), per_page=4)
    bound = SampleForm({"name": "digits v3", "memory": "9000", "code": "print('hello')\n", "launcher": "python"})
    context = {
        **sample(timezone.now()),
        "parallel": parallel(),
        "objective": objective(),
        "table": table,
        "empty_table": SampleTable([], request=request),
        "filter_form": SampleFilter(request.GET or None),
        "form": SampleForm(initial={"memory": 8, "code": _CODE, "launcher": "python", "digest": True}),
        "bound": bound,
        "env_rows": [("EPOCHS", "3"), ("DATA_DIR", "/workspace/data")],
    }
    return render(request, "styleguide.html", context)


def series(request: HttpRequest) -> JsonResponse:
    """Two smooth made-up series; the second passes its limit for a while."""
    end = timezone.now().timestamp()
    since = float(request.GET.get("since", 0))
    times = [t for t in (end - (_POINTS - k) * _STEP_S for k in range(_POINTS)) if t > since]
    waves = [("Device 0", 0.0, 62.0), ("Device 1", 0.8, 78.0)]
    answer = [
        {
            "name": name,
            "unit": "%",
            "limit": 90,
            "points": [[t, round(base + 18 * math.sin(t / 700 + shift), 1)] for t in times],
        }
        for name, shift, base in waves
    ]
    return JsonResponse(answer, safe=False)


_CODE = '''"""Train a classifier on the digits that ship with scikit-learn."""
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

digits = load_digits()
model = LogisticRegression(max_iter=200).fit(digits.data, digits.target)
print(f"accuracy={model.score(digits.data, digits.target):.4f}")
'''
