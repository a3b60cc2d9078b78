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

const REFUSED = "is damaged, or not accepted here";

/** Without a code, `tried` knows which one it is. */
export const need = (condition, code, message = REFUSED) => {
  if (!condition) throw new DitherError(code, message);
};

export const needTask = (condition, message) => need(condition, "task", message);

/** What is made of a text from outside. Where that breaks, the text is at fault. */
export const tried = (code, work) => {
  try {
    return work();
  } catch (problem) {
    throw problem.code ? problem : new DitherError(code, REFUSED);
  }
};

/** Whether it is a whole number between two ends. */
export const whole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;

/** The names of an object's lines, in the order of the document: that is sorted. */
export const keys = (read) => Object.keys(read).join(" ");
