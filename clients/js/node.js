/**
 * A durable store for Node, in files. Node 18 has WebCrypto but does not show it: importing
 * this module does.
 */
import { webcrypto } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, truncate } from "node:fs/promises";
import { dirname, basename, join, resolve } from "node:path";

globalThis.crypto ??= webcrypto;

const DIGITS = 15; // versions sort as texts
const KEPT = 1000; // names of old versions that stay, as empty files

/**
 * The device's text, in a file for each version: `path.000000000000012`. Only the last one
 * counts.
 *
 * A version is written beside its place, synced, and then linked there, which fails if
 * another process was faster. Older ones are emptied and not removed, so that a process
 * that slept cannot link one of them again; it would have to sleep for a thousand.
 */
export class FileStore {
  constructor(path) {
    this.folder = dirname(resolve(path));
    this.name = basename(path);
  }

  async load() {
    for (;;) {
      const version = Math.max(...(await this.#versions()), 0);
      if (!version) return undefined;
      await synced(this.folder); // what another process has just linked lasts, too
      const text = await readFile(this.#place(version), "utf8");
      if (text) return { text, version }; // else a later one has replaced it
    }
  }

  async save(text, version) {
    await mkdir(this.folder, { recursive: true });
    const beside = `${this.#place(version)}.${toHex(crypto.getRandomValues(new Uint8Array(8)))}`;
    try {
      await written(beside, text);
      await link(beside, this.#place(version));
    } catch (problem) {
      if (problem.code === "EEXIST") return false;
      throw problem;
    } finally {
      await rm(beside, { force: true });
    }
    return this.#follows(version);
  }

  /** Whether the version that was linked continues what is stored. */
  async #follows(version) {
    const versions = await this.#versions();
    const cleared = version > 1 && !versions.includes(version - 1);
    if (cleared || Math.max(...versions) >= version + KEPT) {
      await rm(this.#place(version), { force: true });
      return false;
    }
    await synced(this.folder);
    if (version > 1) await truncate(this.#place(version - 1));
    await rm(this.#place(version - KEPT), { force: true });
    return true;
  }

  #place(version) {
    return join(this.folder, `${this.name}.${String(version).padStart(DIGITS, "0")}`);
  }

  async #versions() {
    const start = `${this.name}.`;
    const names = await readdir(this.folder).catch(() => []);
    const ends = names
      .filter((name) => name.startsWith(start))
      .map((name) => name.slice(start.length));
    return ends.filter((end) => end.length === DIGITS && /^\d+$/.test(end)).map(Number);
  }
}

const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");

async function written(path, text) {
  const file = await open(path, "wx", 0o600); // only its owner may read a device's secret
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The folder too, or a lost link would let a device send a second message. */
async function synced(folder) {
  if (process.platform === "win32") return; // folders cannot be opened there
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
