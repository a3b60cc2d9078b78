/**
 * Reads questions from standard input and prints what this client says to them, for a test
 * that asks the Python client the same.
 */
import { readFileSync } from "node:fs";

import { Client, DitherError, Task } from "../dither.js";
import { MemoryStoreForTests } from "../memory.js";
import "../node.js";
import { replay } from "./vectors.mjs";

const toHex = (bytes) => Buffer.from(bytes).toString("hex");
const realNow = Date.now;

/** What a document promises, or the name of the line that is refused. */
async function judged(document) {
  try {
    const task = await Task.fromDocument(document);
    return { ...task.losses, change: Math.min(task.losses.change, 1e300), cost: task.cost };
  } catch (problem) {
    if (!(problem instanceof DitherError)) throw problem;
    return { refused: problem.code };
  }
}

/** What a device does, step by step. All secrets are the same bytes. */
async function lived({ budget, trust, tasks, steps }) {
  const read = await Promise.all(tasks.map((text) => Task.fromJSON(text, { trust })));
  crypto.getRandomValues = (array) => array.fill(7);
  const store = new MemoryStoreForTests();
  let client;
  const did = [];
  for (const { at, verb, task, value, options } of steps) {
    Date.now = () => at;
    client ??= await Client.open({ store, budget, trust });
    did.push(await outcome(client, verb, read[task], value, options));
  }
  Date.now = realNow;
  return did;
}

async function outcome(client, verb, task, value, options) {
  try {
    if (verb === "answer") return toHex(await client.answer(task, value, options));
    if (verb === "parcel") return toHex(await client.parcel(task, value, options));
    if (verb === "when") return (await client.when(task, options)).toISOString();
    if (verb === "left") return await client.left();
    if (verb === "sent") return (await client.sent()).map(String);
    await client[verb](task);
    return "done";
  } catch (problem) {
    if (!(problem instanceof DitherError)) throw problem;
    return `refused: ${problem.code}`;
  }
}

const { documents = [], story, vectors, rehearse } = JSON.parse(readFileSync(0, "utf8"));
const answers = { documents: [], rehearsed: [] };
for (const document of documents) answers.documents.push(await judged(document));
if (story) answers.story = await lived(story);
if (vectors) answers.vectors = await replay(vectors);
if (rehearse) {
  const task = await Task.fromDocument(rehearse.document);
  for (const value of rehearse.values) answers.rehearsed.push(toHex(await task.rehearse(value)));
}
console.log(JSON.stringify(answers));
