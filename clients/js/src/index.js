/** What apps use. */

export { Client } from "./client.js";
export { DitherError } from "./errors.js";
export { IndexedDBStore } from "./store.js";
export { Task } from "./task.js";
