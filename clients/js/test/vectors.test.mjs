/** The committed vectors, and what devices draw with. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { canonical } from "../src/values.js";
import { fresh } from "../src/words.js";
import { replay } from "./vectors.mjs";

const file = new URL("../../../tests/fixtures/local/vectors.json", import.meta.url);

test("every vector is replayed bit for bit", async () => {
  const vectors = JSON.parse(readFileSync(file, "utf8"));
  const { found, checks } = await replay(vectors);
  assert.deepEqual(found, []);
  assert.ok(checks > 10 * vectors.messages.length);
});

test("fresh words come from the system, at most 65,536 bytes at a time", async () => {
  const real = crypto.getRandomValues;
  const sizes = [];
  crypto.getRandomValues = function (array) {
    sizes.push(array.byteLength);
    return real.call(crypto, array);
  };
  try {
    const words = fresh(40_000);
    assert.equal(words.length, 40_000);
    assert.ok(new Set(words).size > 39_900); // all different, but for a few by chance
    assert.ok(words.every((word) => Number.isInteger(word) && 0 <= word && word < 2 ** 32));
  } finally {
    crypto.getRandomValues = real;
  }
  assert.deepEqual(sizes, [65_536, 65_536, 28_928]);
});

test("no other source of randomness is named", () => {
  for (const name of ["dither.js", "node.js"]) {
    const source = readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
    assert.doesNotMatch(source, /Math\.random/);
  }
});

test("values are known by one text in every language", () => {
  const known = [
    ["e\u0301", "s:é"],
    [-0, "i:0"],
    [1.0, "i:1"],
    [true, "b:1"],
    ["1", "s:1"],
    [2 ** 53 - 1, "i:9007199254740991"],
    [2n ** 60n, "i:1152921504606846976"],
    [-(2n ** 1024n) + 1n, `i:${-(2n ** 1024n) + 1n}`],
  ];
  for (const [value, text] of known) assert.equal(canonical(value), text);
  const odd = ["", "\ud800", "a\udfff", 2 ** 53, 1.5, NaN, Infinity, null, undefined, [], {}];
  for (const value of [
    ...odd,
    Symbol("x"),
    2n ** 1024n,
    -(2n ** 1024n),
    () => 1,
    "x".repeat(2 ** 21),
  ]) {
    assert.equal(canonical(value), null);
  }
});
