/** What the language has, by short names. */

export const { abs, ceil, floor, max, min, round } = Math;
export const { entries, freeze, values: valuesOf } = Object;
export const { parse, stringify } = JSON;
