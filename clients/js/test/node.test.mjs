/** The store in files: versions follow one another, whoever writes. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { FileStore } from "../node.js";
import { device, make, setClock } from "./make.mjs";

async function within(work) {
  const folder = await mkdtemp(join(tmpdir(), "dither-js-"));
  try {
    await work(join(folder, "device"), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a version is saved once, after the one before it", () =>
  within(async (path, folder) => {
    const store = new FileStore(path);
    assert.equal(await store.load(), undefined);
    assert.equal(await store.save("one", 1), true);
    assert.equal(await store.save("other", 1), false);
    assert.equal(await store.save("three", 3), false);
    assert.equal(await store.save("two", 2), true);
    assert.equal(await store.save("late", 1), false);
    assert.deepEqual(await new FileStore(path).load(), { text: "two", version: 2 });
    const files = await Promise.all(
      (await readdir(folder)).sort().map((name) => stat(join(folder, name))),
    );
    assert.deepEqual(
      files.map((file) => [file.size, file.mode & 0o777]),
      [
        [0, 0o600],
        [3, 0o600],
      ],
    );
  }));

test("what a crash leaves behind is not a version", () =>
  within(async (path) => {
    const store = new FileStore(path);
    await store.save("one", 1);
    await writeFile(`${path}.000000000000002.abcdef`, "half");
    await writeFile(`${path}.7`, "another");
    assert.deepEqual(await store.load(), { text: "one", version: 1 });
    assert.equal(await store.save("two", 2), true);
  }));

test("a device goes on after a restart", () =>
  within(async (path) => {
    setClock(0);
    const task = await make();
    const client = await device({ store: new FileStore(path) });
    await client.join(task);
    const message = await client.answer(task, "🎉");
    const again = await device({ store: new FileStore(path) });
    assert.deepEqual(await again.answer(task, "👍"), message);
  }));

test("processes that race count every step once", () =>
  within(async (path) => {
    const script = `
      import { FileStore } from ${JSON.stringify(new URL("../node.js", import.meta.url).href)};
      const store = new FileStore(${JSON.stringify(path)});
      for (let done = 0; done < 15; ) {
        const { text = "0", version = 0 } = (await store.load()) ?? {};
        if (await store.save(String(Number(text) + 1), version + 1)) done++;
      }`;
    const run = promisify(execFile);
    const one = () => run(process.execPath, ["--input-type=module", "-e", script]);
    await Promise.all([one(), one(), one()]);
    assert.deepEqual(await new FileStore(path).load(), { text: "45", version: 45 });
  }));
