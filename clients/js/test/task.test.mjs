/** Documents that are accepted, and those that are not: every line is checked. */
import assert from "node:assert/strict";
import test from "node:test";

import { DitherError, Task } from "../dither.js";
import { documentOf, EMOJI, K_ARY, LINES, LOLOHA, make, signed, TRUST, UNARY } from "./make.mjs";

const refused = (work, code) =>
  assert.rejects(work, (problem) => {
    assert.ok(problem instanceof DitherError, `${problem?.stack}`);
    if (code) assert.equal(problem.code, code);
    return true;
  });

const refusedLines = (changes, code) => refused(Task.fromDocument(documentOf(changes)), code);

test("a task is what its document says", async () => {
  const task = await make();
  assert.equal(task.name, "emoji");
  assert.equal(task.answers, 3);
  assert.ok(task.losses.message <= 1 && task.losses.message > 0.999);
  assert.ok(task.losses.lifetime <= 6 && task.losses.lifetime > 5.999);
  assert.equal(task.cost, 6_000_000_000);
  assert.ok(Object.isFrozen(task));
});

test("only what the trusted key signed is read", async () => {
  const text = await signed(documentOf());
  await Task.fromJSON(text, { trust: TRUST });
  await refused(Task.fromJSON(text, { trust: "00".repeat(32) }));
  const { task, signature } = JSON.parse(text);
  const changed = task.replace('"minimum":100', '"minimum":101');
  await refused(
    Task.fromJSON(JSON.stringify({ task: changed, signature }), { trust: TRUST }),
    "task",
  );
  await refused(Task.fromJSON(JSON.stringify({ task, signature: "" }), { trust: TRUST }), "task");
  for (const trust of ["", "zz", 7, null, "0".repeat(63)])
    await refused(Task.fromJSON(text, { trust }), "trust");
});

test("what is not a signed task is refused", async () => {
  const texts = [
    "",
    "{",
    "null",
    "7",
    "[]",
    "{}",
    '{"task":1,"signature":""}',
    '{"task":"{}","signature":"x"}',
  ];
  for (const text of [
    ...texts,
    '{"task":"\\ud800","signature":""}',
    "[".repeat(100_000),
    undefined,
  ]) {
    await refused(Task.fromJSON(text));
  }
});

test("every line has its type and its limits", async () => {
  const wrong = {
    attribute: ["", 7, null, "x".repeat(101), "e\u0301", "\ud800"],
    name: ["", 7, null, "x".repeat(101), "e\u0301", ["emoji"]],
    distinct: [0, -1, 2 ** 20 + 1, true, "2", null, 1.5],
    every: [-1, 367, null, "day", true],
    messages: [0, 256, "1"],
    minimum: [1, 2 ** 40 + 1, null],
    version: [0, 65_536, "1", true],
    starts: [
      "2027-3-1",
      "2027-02-30",
      "0000-01-01",
      "20270301",
      "2028-03-01",
      7,
      null,
      "+002027-03-01",
    ],
    expires: ["2027-03-01", "2026-01-01", "2027-13-01", null],
    stopped: [0, 1, null, "false"],
    strata: ["ab", null, ["a", "a"], ["a", 1], [""], ["é", "e\u0301"], ["\ud800"], { length: 0 }],
    format: ["dither local task, 2", null, 1],
    epsilon: [0.5, 0, -1.5, "1.0", null, true],
    for_ever: [1.5, null, "9.5"],
    domain: [
      7,
      [],
      {},
      "x",
      false,
      { none: true, values: [] },
      { none: 1, values: EMOJI },
      { values: EMOJI },
    ],
    oracle: [
      null,
      7,
      "loloha",
      [],
      {},
      { kind: "laplace" },
      { kind: "__proto__" },
      { kind: "toString" },
    ],
  };
  for (const [line, values] of Object.entries(wrong)) {
    for (const value of values) await refusedLines({ [line]: value });
  }
  await refusedLines({ more: 1 }, "document");
  await refusedLines({ every: 0 }, "every");
  await refusedLines({ every: 1, starts: "0001-01-01", expires: "9999-01-01" }, "expires");
});

test("a document has one form", async () => {
  const text = documentOf();
  await Task.fromDocument(text);
  const others = [
    text.replace('"distinct":2', '"distinct":2.0'),
    text.replace('"epsilon":1.25', '"epsilon":1.250'),
    text.replace('"epsilon":1.25', '"epsilon":125e-2'),
    text.replace('"epsilon":1.25', '"epsilon":2'),
    text.replace('"every":1', '"every": 1'),
    text.replace('"stopped":false', '"stopped":false '),
    text.replace('{"attribute":"emoji",', '{"attribute":"x","attribute":"emoji",'),
    text.replace('"attribute":"emoji",', "").replace("}", ',"attribute":"emoji"}'),
    text.replace("emoji", "em\\u006fji"),
    `\ufeff${text}`,
    JSON.stringify(LINES, null, 1),
  ];
  for (const other of others) {
    assert.notEqual(other, text);
    await refused(Task.fromDocument(other));
  }
  for (const epsilon of ["1e+16", "1e-05", "123456.75", "1e+300"]) {
    const like = documentOf({ oracle: K_ARY, every: 0, distinct: 1 }).replace(
      '"epsilon":1.25',
      `"epsilon":${epsilon}`,
    );
    if (epsilon === "1e-05") await refused(Task.fromDocument(like), "epsilon");
    else await Task.fromDocument(like);
  }
});

test("values of a domain are texts, whole numbers, true and false, each once", async () => {
  const oracle = { ...LOLOHA, items: 3, values: 3 };
  const with_ = (values) => documentOf({ oracle, domain: { none: true, values } });
  await Task.fromDocument(with_(["a", "b"]));
  await Task.fromDocument(with_([1, true]));
  await Task.fromDocument(with_(["1", 1]));
  const wrong = [
    ["a", "a"],
    ["é", "e\u0301"],
    ["a", ""],
    ["a", null],
    ["a", 1.5],
    ["a", ["b"]],
    ["a", 2 ** 53],
  ];
  for (const values of wrong) await refused(Task.fromDocument(with_(values)));
  // 2^53 + 1 would be read as 2^53
  await refused(Task.fromDocument(with_(["a", 1]).replace('["a",1]', '["a",9007199254740993]')));
  const spread = (from, below) => documentOf({ oracle, domain: { below, from, none: true } });
  await Task.fromDocument(spread(-1, 1));
  for (const [from, below] of [
    [1, 1],
    [2, 1],
    ["0", 2],
    [0.5, 2.5],
    [0, 2 ** 31],
    [null, 2],
  ]) {
    await refused(Task.fromDocument(spread(from, below)));
  }
});

test("an ε below what the thresholds lose is refused, at the last bit", async () => {
  const { losses } = await make({ oracle: K_ARY, epsilon: 9.5, for_ever: 9.5 });
  const exact = { oracle: K_ARY, epsilon: losses.message, for_ever: losses.value };
  await Task.fromDocument(documentOf(exact));
  const less = losses.message - 2 ** -53;
  assert.notEqual(less, losses.message);
  await refusedLines({ ...exact, epsilon: less }, "epsilon");
  await refusedLines({ ...exact, for_ever: less }, "for_ever");
});

test("a document of a few bytes costs no time or memory", async () => {
  const half = 3 * 2 ** 30;
  const oracles = [
    { items: 10 ** 7, kind: "subset selection", size: 5 * 10 ** 6, truth: half },
    { items: 2 ** 32, kind: "subset selection", size: 2 ** 31, truth: half },
    { items: 2 ** 33, kind: "k-ary response", truth: half },
    { functions: 256, items: 4, kept: half, kind: "loloha", sent: half, values: 2 ** 61 },
    { functions: 2 ** 32, items: 4, kept: half, kind: "loloha", sent: half, values: 2 ** 32 },
    { digits: 99, items: 4, kind: "local hashing", prime: 2 ** 31 - 1, truth: half },
    { digits: 2 ** 32, items: 4, kind: "local hashing", prime: 3, truth: half },
    {
      bits: 10 ** 11,
      cohorts: 1,
      family: "identity",
      flip: 1,
      hashes: 1,
      items: 10 ** 11,
      kind: "rappor",
      sent_one: 2 ** 32,
      sent_zero: 0,
    },
    {
      bits: 128,
      cohorts: 1,
      family: "murmur32",
      flip: 7,
      hashes: 2 ** 32,
      items: 0,
      kind: "rappor",
      sent_one: half,
      sent_zero: 9,
    },
    { blocks: 2 ** 32, items: 4, kind: "Hadamard response", side: 2 ** 32, truth: half },
    { blocks: 0, items: 4, kind: "Hadamard response", side: 2, truth: half },
    { items: 2 ** 30, kind: "unary", one: 2 ** 31, zero: 2 ** 30 },
    { columns: 2 ** 27, flip: 9, items: 0, kind: "count-mean sketch", rows: 2 },
  ];
  const began = process.cpuUsage().user;
  for (const oracle of oracles) {
    for (const every of [0, 1]) {
      const domain = oracle.items ? { below: oracle.items, from: 0, none: false } : null;
      await refusedLines({ oracle, domain, every, distinct: 1, epsilon: 99.5, for_ever: 99.5 });
    }
  }
  assert.ok(process.cpuUsage().user - began < 2e6);
});

test("parameters that leave no noise, or are of another kind, are refused", async () => {
  const wrong = [
    { ...K_ARY, truth: 2 ** 32 },
    { ...K_ARY, truth: 0 },
    { ...K_ARY, truth: 2 ** 29 },
    { ...K_ARY, items: 4 },
    { ...K_ARY, more: 1 },
    { ...K_ARY, truth: true },
    { ...K_ARY, truth: "3" },
    { ...UNARY, zero: 0 },
    { ...UNARY, one: 1_155_094_610 },
    { ...LOLOHA, kept: 2 ** 29 },
    { ...LOLOHA, functions: 257 },
    { ...LOLOHA, values: 4 },
  ];
  const limits = { epsilon: 99.5, for_ever: 99.5 };
  for (const oracle of wrong) await refusedLines({ oracle, ...limits }, "oracle");
});

const RAPPOR = {
  bits: 128,
  cohorts: 8,
  family: "murmur32",
  flip: 2 ** 30,
  hashes: 2,
  items: 0,
  kind: "rappor",
  sent_one: 3 * 2 ** 30,
  sent_zero: 2 ** 30,
};

test("google's MD5 families are refused by name", async () => {
  const limits = { domain: null, epsilon: 99.5, for_ever: 99.5 };
  await Task.fromDocument(documentOf({ oracle: RAPPOR, ...limits }));
  for (const family of ["md5-byte", "md5-uint16"]) {
    await assert.rejects(
      Task.fromDocument(documentOf({ oracle: { ...RAPPOR, family }, ...limits })),
      /MD5/,
    );
  }
  await refusedLines({ oracle: { ...RAPPOR, family: 7 }, ...limits }, "oracle");
});

test("what is kept is never as good as seen", async () => {
  const limits = { epsilon: 99.5, for_ever: 99.5, distinct: 1 };
  const near = 2 ** 32 - 1;
  const open = { ...limits, domain: null };
  const range = (items) => ({ ...limits, domain: { below: items, from: 0, none: false } });
  const wrong = [
    [{ ...RAPPOR, sent_one: near, sent_zero: 1 }, open],
    [
      {
        items: 64,
        kept_one: 3 * 2 ** 30,
        kept_zero: 2 ** 30,
        kind: "longitudinal unary",
        sent_one: near,
        sent_zero: 1,
      },
      range(64),
    ],
    [
      { functions: 1, items: 300, kept: 2 ** 30, kind: "loloha", sent: near, values: 300 },
      range(300),
    ],
    [
      { functions: 256, items: 300, kept: 3 * 2 ** 30, kind: "loloha", sent: near, values: 3 },
      range(300),
    ],
    [{ items: 9, kind: "unary", one: 2 ** 31, zero: 2 ** 30 }, range(9)],
    [{ items: 300, kind: "k-ary response", truth: 2 ** 31 }, range(300)],
    [{ items: 12, kind: "subset selection", size: 4, truth: 2 ** 31 }, range(12)],
    [{ columns: 16, items: 0, kind: "Hadamard sketch", rows: 16, truth: 3 * 2 ** 30 }, open],
  ];
  for (const [oracle, more] of wrong) {
    await assert.rejects(Task.fromDocument(documentOf({ oracle, ...more })), /would identify devices/);
  }
  await Task.fromDocument(documentOf({ oracle: wrong[4][0], ...range(9), every: 0 }));
});

test("a rehearsal has the shape of a message, and fresh noise", async () => {
  const task = await make({ oracle: UNARY, every: 0, distinct: 1, strata: ["a", "b"] });
  const said = new Set();
  for (let turn = 0; turn < 40; turn++) {
    const message = await task.rehearse("🎉", { stratum: "b" });
    assert.deepEqual([message.length, message[14]], [17, 1]);
    said.add(message[16]);
  }
  assert.ok(said.size > 3);
  await refused(task.rehearse("🎉"), "stratum");
  await refused(task.rehearse("🎉", { stratum: "c" }), "stratum");
  await refused(task.rehearse("🎉", { stratum: "a", period: 1 }), "period");
});
