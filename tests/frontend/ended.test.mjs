// A connection that the server ended for good is not tried again; one that broke is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ending } from "../../static/src/js/ended.js";

test("lost rights end it at once, whatever came before", () => {
  assert.equal(new Ending().of(4403), "denied");
  assert.equal(new Ending().of(4404), "denied");
});

test("a broken connection is tried again, as often as it breaks", () => {
  const ending = new Ending();
  for (const code of [1000, 1001, 1006, 1011, 1012, 4400]) assert.equal(ending.of(code), null);
});

test("signed out: once more with the session of now, then for good", () => {
  const ending = new Ending();
  assert.equal(ending.of(4401), null);
  ending.opened();
  assert.equal(ending.of(4401), "signed-out");
});

test("a session that changes again much later gets its one try again", context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const ending = new Ending();
  assert.equal(ending.of(4401), null);
  ending.opened();
  context.mock.timers.tick(6000);
  assert.equal(ending.of(4401), null);
});
