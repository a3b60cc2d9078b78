/** Importing this module adds kinds of questions; a task that needs one loads it itself. */
export {};
