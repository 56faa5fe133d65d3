"""The report: one file that shows without anything else, for who gets the model and not the platform."""

from html import escape
from typing import Any

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1d273b;
background:#fff}table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{padding:.3rem .6rem;
border-bottom:1px solid #dadfe5;text-align:left}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
h2{margin-top:2rem}small{color:#667382}.bar{background:#4299e1;height:.7rem;border-radius:2px}
@media(prefers-color-scheme:dark){body{background:#151f2c;color:#dce1e7}td,th{border-color:#3a4859}}"""
MOST_TRIALS = 30


def page(result: dict[str, Any], trials: list[dict[str, Any]]) -> str:
    best, metric = result["best"], result["metric"]
    sections = [
        f"<h1>{escape(result['target'])} · {escape(result['task'])}</h1>",
        f"<p>{result['rows']['learn']} rows to learn from, {result['rows']['judge']} that no trial saw. The model is "
        f"the one that was judged: it has not seen those rows since. Best: <b>{escape(best['learner'])}</b>, "
        f"{escape(metric)} {_number(best['score'])} while searching.</p>",
        "<h2>On the rows that no trial saw</h2>",
        _table(["Metric", "Value"], [[name, value] for name, value in result["scores"].items()]),
        _confusion(result["confusion"]),
        _residuals(result["residuals"]),
        "<h2>What the model looks at</h2><p><small>How much the metric worsens while a column is shuffled.</small></p>",
        _importance(result["importance"]),
        "<h2>Trials</h2>",
        _trials(trials, result["lower_is_better"]),
        "<h2>What was done to the columns</h2>",
        _table(
            ["Column", "Step", "Missing"], [[_step["column"], _what(_step), _share(_step)] for _step in result["steps"]]
        ),
        _notes(result["notes"]),
    ]
    title = escape(f"{result['target']} · {result['task']}")
    head = f'<head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>'
    return f"<!doctype html><html lang=en>{head}<body>{''.join(sections)}</body></html>"


def _table(head: list[str], rows: list[list[Any]]) -> str:
    def cell(value: Any, tag: str) -> str:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return f"<{tag}{' class=n' if is_number else ''}>{_number(value) if is_number else escape(str(value))}</{tag}>"

    lines = ["<tr>" + "".join(cell(each, "th") for each in head) + "</tr>"]
    lines += ["<tr>" + "".join(cell(each, "td") for each in row) + "</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


def _confusion(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    rows = [[name, *counts] for name, counts in zip(found["classes"], found["counts"], strict=True)]
    return "<h2>True class by row, predicted by column</h2>" + _table(["", *found["classes"]], rows)


def _residuals(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    rows = [["Mean error", found["mean"]], ["Standard deviation", found["deviation"]], ["Worst", found["worst"]]]
    return "<h2>Errors</h2>" + _table(["", ""], rows) + _scatter(found["points"])


def _scatter(points: list[list[float]]) -> str:
    low = min(min(each) for each in points)
    span = (max(max(each) for each in points) - low) or 1.0
    dots = "".join(
        f'<circle cx="{20 + 360 * (x - low) / span:.1f}" cy="{380 - 360 * (y - low) / span:.1f}" r="2"/>'
        for x, y in points
    )
    line = '<path d="M20 380 380 20" stroke="#888" fill="none"/>'
    label = 'role="img" aria-label="True value across, predicted up"'
    return f'<svg width="400" height="400" fill="#4299e1" {label}>{line}{dots}</svg>'


def _importance(rows: list[dict[str, Any]]) -> str:
    most = max((each["mean"] for each in rows), default=0.0) or 1.0
    lines = "".join(
        f"<tr><td>{escape(each['column'])}</td><td class=n>{_number(each['mean'])}</td><td style=width:50%>"
        f"<div class=bar style=width:{max(0.0, 100 * each['mean'] / most):.0f}%></div></td></tr>"
        for each in rows
    )
    return f"<table>{lines}</table>"


def _trials(trials: list[dict[str, Any]], lower: bool) -> str:
    scored = sorted((each for each in trials if each["score"] is not None), key=lambda each: each["score"])
    shown = (scored if lower else scored[::-1])[:MOST_TRIALS]
    head = ["#", "Learner", "Score", "Spread", "Seconds", "Values"]
    return _table(
        head,
        [
            [each["number"], each["learner"], each["score"], each["spread"], round(each["seconds"], 2), _values(each)]
            for each in shown
        ],
    )


def _values(trial: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_number(value)}" for name, value in trial["config"].items())


def _what(step: dict[str, Any]) -> str:
    return f"{step['do']} ({step['why']})" if "why" in step else step["do"]


def _share(step: dict[str, Any]) -> str:
    return f"{100 * step['missing']:.1f} %" if "missing" in step else ""


def _notes(notes: list[dict[str, Any]]) -> str:
    if not notes:
        return ""
    lines = "".join(f"<li>{escape(', '.join(f'{key}: {value}' for key, value in each.items()))}</li>" for each in notes)
    return f"<h2>Rows that were left out</h2><ul>{lines}</ul>"
