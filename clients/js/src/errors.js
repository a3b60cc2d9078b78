/** Errors that are raised on purpose, and what is asked before they are. */

/** What is refused or fails on purpose; nothing was sent. `code` is "budget" if the
 * budget is too small, "device" if the store or the browser cannot be used, and otherwise
 * the name of the argument, or of the task's line, that is wrong. A message that begins
 * with a verb is about it. */
export class DitherError extends Error {
  name = "DitherError";
  constructor(code, message) {
    super(/^(is|was|has|must|cannot) /.test(message) ? `${code} ${message}` : message);
    this.code = code;
  }
}

const REFUSED = "cannot be used here; pass the task as its owner signed it";

/** Without a code, `tried` knows which one it is. */
export const need = (condition, code, message = REFUSED) => {
  if (!condition) throw new DitherError(code, message);
};

export const needTask = (condition, message) => need(condition, "task", message);

/** What is made of a text from outside. If that breaks, the text is at fault. */
export const tried = (code, work, message = REFUSED) => {
  try {
    return work();
  } catch (problem) {
    throw problem.code ? problem : new DitherError(code, message);
  }
};

/** Whether it is a whole number between two ends. */
export const whole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;

/** The names of an object's lines, in the order of the document: that is sorted. */
export const keys = (read) => Object.keys(read).join(" ");
