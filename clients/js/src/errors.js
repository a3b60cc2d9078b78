/** Errors that are raised on purpose, and what is asked before they are. */

/** What is refused or fails on purpose; nothing was sent. `code` is "budget" where the
 * budget is too small, "device" where the store or the browser cannot be used, and else
 * the name of the argument, or of the task's line, that is wrong. */
export class DitherError extends Error {
  name = "DitherError";
  constructor(code, message) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

export function need(condition, code, message = "is not what a device accepts in a task") {
  if (!condition) throw new DitherError(code, message);
}

/** What a text from outside makes of itself; an error of its own where it breaks. */
export function tried(code, work) {
  try {
    return work();
  } catch (problem) {
    if (problem instanceof DitherError) throw problem;
    throw new DitherError(code, "is not JSON, or has a line of another type");
  }
}

export const whole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;
export const keys = (read) => Object.keys(read).join(" ");
