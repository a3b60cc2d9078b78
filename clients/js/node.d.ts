import type { Store } from "./dither.js";

/** The device's text in files beside `path`, on the disk before `save` says so. */
export class FileStore implements Store {
  constructor(path: string);
  load(): Promise<{ text: string; version: number } | undefined>;
  save(text: string, version: number): Promise<boolean>;
}
