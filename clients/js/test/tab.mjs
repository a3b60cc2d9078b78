/**
 * One of several tabs, frames or workers of one device: waits for the others, then joins
 * all tasks and answers as fast as it can.
 */
import { Client, DitherError, IndexedDBStore, Task } from "../dither.js";

const channel = new BroadcastChannel("race");
const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");

channel.onmessage = async ({ data }) => {
  if (data.go) channel.postMessage({ done: await race(data.go) });
};
channel.postMessage({ ready: true });

async function race({ trust, tasks, budget }) {
  const store = new IndexedDBStore("race");
  const client = await Client.open({ store, budget, trust });
  const read = await Promise.all(tasks.map((text) => Task.fromJSON(text, { trust })));
  const joined = await Promise.all(read.map((task) => tried(() => client.join(task))));
  const value = `v${Math.floor(performance.now() * 1000) % 4}`; // each has its own
  const said = await Promise.all(
    read.map((task) => tried(async () => toHex(await client.parcel(task, value)))),
  );
  return { joined, said };
}

async function tried(work) {
  try {
    return (await work()) ?? "done";
  } catch (problem) {
    if (!(problem instanceof DitherError)) return `broken: ${problem.stack}`;
    return `refused: ${problem.code}`;
  }
}
