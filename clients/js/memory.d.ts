import type { Store } from "./dither.js";

/** Forgets everything when the page or process ends: for tests, and never for people. */
export class MemoryStoreForTests implements Store {
  load(): Promise<{ text: string; version: number } | undefined>;
  save(text: string, version: number): Promise<boolean>;
}
