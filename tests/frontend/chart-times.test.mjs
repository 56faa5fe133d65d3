import assert from "node:assert/strict";
import test from "node:test";
import { stepOf } from "../../static/src/js/chart-times.js";

const at = text => Date.parse(`${text}Z`);

test("bars of months are named by their month", () => {
  const months = [at("2026-10-01T00:00:00"), at("2026-11-01T00:00:00")];
  assert.deepEqual(months.map(stepOf(months).name), ["2026-10", "2026-11"]);
});

test("bars of days are named by their day", () => {
  const days = [at("2026-11-01T00:00:00"), at("2026-11-02T00:00:00")];
  assert.deepEqual(days.map(stepOf(days).name), ["2026-11-01", "2026-11-02"]);
});

test("one bar on the first of a month is a day", () => {
  const alone = [at("2026-11-01T00:00:00"), at("2026-11-01T00:00:00")];
  assert.equal(stepOf(alone).name(alone[0]), "2026-11-01");
});

test("bars of hours keep their minutes", () => {
  const hours = [at("2026-11-01T00:00:00"), at("2026-11-01T08:30:00")];
  assert.equal(stepOf(hours).name(hours[1]), "2026-11-01 08:30");
});

test("labels are as far apart as bars", () => {
  const month = stepOf([at("2026-10-01T00:00:00"), at("2026-11-01T00:00:00")]);
  const hour = stepOf([at("2026-11-01T08:30:00")]);
  assert.deepEqual([month.apart / 86_400_000, hour.apart], [28, undefined]);
});
