/** Domains: what a value is counted as. */
import { range, utf8 } from "./bytes.js";
import { split } from "./drawing.js";
import { keys, need, whole } from "./errors.js";
import { shown } from "./exact.js";
import { abs, ceil, floor, max, min, round, valuesOf } from "./numbers.js";
import { canonical, differ, isFlag, isText, LONGEST } from "./values.js";

export const MOST_ITEMS = 2 ** 30;

/** Values that are counted one by one, and "none", which may have an item of its own. */
const counted = (count, none, place, name) => {
  need(whole(count, 1, MOST_ITEMS) && isFlag(none));
  return {
    asks: [[count + none, false, none]],
    different: count,
    answer: (value) => {
      const text = canonical(value);
      const at = place(text);
      return whole(at, 0, count - 1) && [text, at];
    },
    name: (at) => (at < count ? `${name(at)}` : "none"),
  };
};

/** Any text, known by its bytes. */
const OPEN = {
  asks: [[0, false]],
  different: Infinity,
  answer: (value) => {
    const text = canonical(value);
    return text && utf8(text).length <= LONGEST && [text];
  },
};

/** Numbers on a grid between two public bounds; others are rounded, or cut to an end. */
const numbers = (ask, branching, high, low, none, step) => {
  const plain = (one) =>
    one === 0 || (Number.isFinite(one) && 1e-4 <= abs(one) && abs(one) <= 1e15);
  const steps = (high - low) / step;
  const top = round(steps);
  const grid =
    [low, high, step].every(plain) && step > 0 && low < high && abs(steps - top) <= 1e-6;
  const squares = ask === "variance";
  const tree = ask === "distribution";
  const most = tree ? 2 ** 20 : squares ? 2 ** 15 : ask === "mean" ? 2 ** 24 : -1;
  const nodes = tree ? whole(branching, 2, 2 ** 20) : branching === 0 && !none;
  need(grid && top <= most && isFlag(none) && nodes);
  const widths = [1]; // places of a node, from the top of the tree down
  const nodesOf = (width) => ceil((top + 1) / width);
  while (tree && nodesOf(widths[0] * branching) > 1) widths.unshift(widths[0] * branching);
  const sizes = squares ? [top + 1, top ** 2 + 1] : widths.map((width) => nodesOf(width) + none);
  const named = (at) => shown(low + at * step, 6);
  return {
    asks: sizes.map((size) => [size, !tree, none]),
    different: max(...sizes) - none,
    answer: (value, part) => {
      const number = typeof value === "bigint" ? Number(value) : value;
      if (typeof number !== "number" || number !== number) return;
      // in the order of steps that every language keeps
      const at = min(max(floor((number - low) / step + 0.5), 0), top);
      const seen = squares && part ? (2 * at - top) ** 2 : split(at, widths[part])[0];
      return [`i:${seen}`, seen];
    },
    name: (item, part) => {
      const start = item * widths[part];
      const end = min(start + widths[part] - 1, top);
      if (start > top) return "none";
      return named(start) + (start < end ? ` to ${named(end)}` : "");
    },
  };
};

/** Several attributes of a device, of which it answers one, or one pair. Each has values;
 * or numbers, of which the mean is asked. */
const attributes = (fields, pairs) => {
  const names = fields.map(([name]) => name);
  const apart = differ(names) && names.every(isText) && names.every(canonical);
  need(apart && whole(names.length, 2, 256) && isFlag(pairs));
  const domains = fields.map(([, one, more]) => {
    const mean = one.ask === "mean" && !pairs;
    need(isFlag(one.none) && (mean || !one.ask) && more === undefined);
    return domainOf(one);
  });
  const asked = domains.map(({ asks }) => asks[0]);
  const all = range(names.length);
  const parts = all.flatMap((one) =>
    pairs ? all.slice(one + 1).map((other) => [one, other]) : [[one]],
  );
  const asks = pairs
    ? parts.map(([one, other]) => [asked[one][0] * asked[other][0], false])
    : asked;
  const sizes = asks.map(([size]) => size);
  const most = max(...sizes);
  need(parts.length <= 256 && (!pairs || most <= 2 ** 24));
  const answerTo = (value, at) =>
    domains[at].answer(Object.hasOwn(Object(value), names[at]) ? value[names[at]] : null, 0);
  const itemIn = (value, at) => {
    const [size, , none] = asked[at];
    return (answerTo(value, at) || [0, none ? size - 1 : NaN])[1];
  };
  return {
    asks,
    different: most,
    answer: (value, part) => {
      const [one, other] = parts[part];
      if (!pairs) return answerTo(value, one);
      const item = itemIn(value, one) * asked[other][0] + itemIn(value, other);
      return item >= 0 && [`i:${item}`, item];
    },
    name: (item, part) => {
      const places = parts[part];
      const items = pairs ? split(item, asked[places[1]][0]) : [item];
      const named = (at, turn) => `${names[at]} ${domains[at].name(items[turn], 0)}`;
      return places.map(named).join(", ");
    },
  };
};

/** Words of an alphabet, of which each device sends a prefix of one length. */
const vocabulary = (alphabet, longest, step) => {
  const letters = new Set(alphabet);
  const apart = differ([...alphabet]) && whole(letters.size, 2, 4096);
  const plain = canonical(alphabet) === `s:${alphabet}` && !letters.has("\0");
  const lengths = whole(longest, 1, 64) && whole(step, 1, longest - 1);
  need(apart && plain && lengths && (letters.size + 1) ** step <= 2 ** 18);
  const ends = range(ceil(longest / step)).map((at) => min((at + 1) * step, longest));
  return {
    asks: ends.map(() => [0, false]),
    different: 1,
    once: true,
    answer: (value, part) => {
      // nothing longer can become a word in Unicode's form NFC
      if (!isText(value) || value.length > 8 * longest || [...value].length > 4 * longest) return;
      const word = [...value.normalize("NFC")];
      const known = whole(word.length, 1, longest) && word.every((letter) => letters.has(letter));
      const end = ends[part];
      return known && [`p:${word.slice(0, end).join("")}${word.length < end ? "\0" : ""}`];
    },
  };
};

/** For the names of its lines, what follows from them: `asks`, which has for each part of
 * the question how many items there are, whether their mean is asked, and whether the last
 * of them is "none"; how many answers are `different`; the answer to a value, as
 * [its canonical text, item]; and items' names. */
const DOMAINS = {
  __proto__: null,

  "none values": (none, values) => {
    const places = new Map(values.map((value, at) => [canonical(value), at]));
    need(places.size === values.length && !places.has(null));
    return counted(
      values.length,
      none,
      (known) => places.get(known),
      (at) => values[at],
    );
  },

  "below from none": (below, from, none) => {
    need([from, below].every(Number.isSafeInteger));
    const place = (known) => (known?.startsWith("i:") ? known.slice(2) - from : -1);
    return counted(below - from, none, place, (at) => from + at);
  },

  "ask branching high low none step": numbers,
  "attributes pairs": attributes,
  "alphabet longest step": vocabulary,
};

/** A domain from a document; null is any text. */
export const domainOf = (read) => {
  if (read === null) return OPEN;
  const made = DOMAINS[keys(read)];
  need(made);
  return made(...valuesOf(read));
};
