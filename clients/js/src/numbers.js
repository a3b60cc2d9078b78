/** What the language has, by short names. */

export const { abs, ceil, floor, max, min, round } = Math;
export const { parse, stringify } = JSON;
