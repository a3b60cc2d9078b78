/**
 * Answer questions on a device so that nobody, not even the server that asks, can know
 * what it holds. One module, no dependencies: WebCrypto and IndexedDB do the rest.
 *
 * It does, bit for bit, what Dither's Python client does; test vectors tie the two.
 * Made from src/ by tools/bundle_js.py: change it there.
 */

/** Errors that are raised on purpose, and what is asked before they are. */

/** What is refused or fails on purpose; nothing was sent. `code` is "budget" where the
 * budget is too small, "device" where the store or the browser cannot be used, and else
 * the name of the argument, or of the task's line, that is wrong. */
class DitherError extends Error {
  name = "DitherError";
  constructor(code, message) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

function need(condition, code, message = "is not what a device accepts in a task") {
  if (!condition) throw new DitherError(code, message);
}

/** What is made of a text from outside. Where that breaks, the text is at fault. */
function tried(code, work) {
  try {
    return work();
  } catch (problem) {
    if (problem instanceof DitherError) throw problem;
    throw new DitherError(code, "is not JSON, or has a line of another type");
  }
}

/** Whether it is a whole number between two ends. */
const whole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;

/** The names of an object's lines, in the order of the document: that is sorted. */
const keys = (read) => Object.keys(read).join(" ");

/** Bytes, and the two hashes of WebCrypto. */

const utf8 = (text) => new TextEncoder().encode(text);
const wellFormed = (text) => !/\p{Surrogate}/u.test(text);
const range = (count) => Array.from({ length: count }, (_, at) => at);
const toHex = (bytes) =>
  Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
const isHex = (text) => /^([0-9a-f]{2})*$/i.test(text);
const fromHex = (text) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const concat = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A whole number in so many bytes, the lowest first. */
const little = (number, size) =>
  range(size).map((at) => Math.floor(number / 256 ** at) % 256);
const four = (number) => little(number, 4).reverse();
const fromLittle = (bytes) => bytes.reduceRight((number, byte) => number * 256 + byte, 0);

/** How many bytes hold a number below `outcomes`; none, where it is always 0. */
const sizeOf = (outcomes) => range(8).find((size) => 256 ** size >= outcomes);

/** Parts behind their lengths: no two lists of parts give the same bytes. */
function frame(...parts) {
  const bytes = parts.map((part) => (typeof part === "string" ? utf8(part) : part));
  return concat(bytes.flatMap((part) => [four(part.length), part]));
}

function subtle() {
  const found = globalThis.crypto?.subtle;
  need(found, "device", "has no WebCrypto: use https, or in Node 18 import node.js first");
  return found;
}

const sha256 = async (bytes) => new Uint8Array(await subtle().digest("SHA-256", bytes));

/** HMAC-SHA256 under a key, for one text after another. */
function hmac(secret) {
  const how = { name: "HMAC", hash: "SHA-256" };
  const key = subtle().importKey("raw", secret, how, false, ["sign"]);
  return async (bytes) =>
    new Uint8Array(await subtle().sign("HMAC", await key, Uint8Array.from(bytes)));
}

const newSecret = () => toHex(crypto.getRandomValues(new Uint8Array(32)));

/** Words: 32 random bits each, and what is drawn from them. */

/** Probabilities are whole numbers t / 2^32. */
const ONE = 2 ** 32;
const HALF = ONE / 2;

/** Draws from a source of words; `more(count)` gives at least so many. */
function wordsFrom(more) {
  let left = [];

  async function take(count) {
    if (left.length < count) left = [...left, ...(await more(count - left.length))];
    return left.splice(0, count);
  }

  /** Heads with probability threshold / 2^32: a word that equals it is tails. */
  async function coin(threshold) {
    return (await take(1))[0] < threshold;
  }

  /** Uniform numbers; words of the last, incomplete run are drawn again. */
  async function numbers(bound, count) {
    const found = await take(count);
    const end = ONE - (ONE % bound);
    for (;;) {
      const again = range(count).filter((at) => found[at] >= end);
      if (!again.length) return found.map((word) => word % bound);
      const others = await take(again.length);
      again.forEach((at, turn) => (found[at] = others[turn]));
    }
  }

  const below = async (bound) => (await numbers(bound, 1))[0];

  /** Bits that are one with probability threshold / 2^32: a byte decides, or, where it
   * equals the threshold's first byte, a word of its own for the other 24 bits. */
  async function biased(threshold, bits) {
    const drawn = (await take(2 * Math.ceil(bits / 8))).flatMap((word) => little(word, 4));
    const first = Math.floor(threshold / 2 ** 24);
    const rest = (threshold % 2 ** 24) * 256;
    const others = await take(drawn.filter((byte) => byte === first).length);
    const ones = drawn.map((byte) => (byte === first ? others.shift() < rest : byte < first));
    return ones.slice(0, bits).map(Number);
  }

  return { take, coin, numbers, below, biased };
}

/** Words that follow from a key: HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), … */
function keyed(key) {
  const block = hmac(key);
  let next = 0;
  return wordsFrom(async (count) => {
    const blocks = range(Math.ceil(count / 8)).map(() => block(four(next++)));
    const bytes = [...concat(await Promise.all(blocks))];
    return range(bytes.length / 4).map((at) => fromLittle(bytes.slice(4 * at, 4 * at + 4)));
  });
}

/** Words that nobody can draw again. */
function fresh() {
  const most = 16_384; // getRandomValues gives 65,536 bytes at a time
  return wordsFrom((count) => {
    const words = new Uint32Array(count);
    for (let at = 0; at < count; at += most) {
      crypto.getRandomValues(words.subarray(at, at + most));
    }
    return words;
  });
}

/** Exact numbers: what probabilities lose, rounded up. */

const NANO = 10n ** 9n; // budgets are counted in units of 1e-9 ε
const big = BigInt;
const not = (threshold) => big(ONE - threshold);

/** The smallest float that is at least a fraction of positive whole numbers. */
function floatUp(over, under) {
  const bits = (number) => number.toString(2).length;
  for (let shift = 53 - bits(over) + bits(under); ; shift--) {
    const [top, bottom] = [over << big(Math.max(shift, 0)), under << big(Math.max(-shift, 0))];
    const quotient = (top + bottom - 1n) / bottom;
    if (quotient <= 2n ** 53n) return Number(quotient) * 2 ** -shift;
  }
}

/** Moved up past what rounding, and the platform's logarithm, can be off. */
function up(value) {
  const moved = value + value * 2 ** -40;
  return moved + moved * (2 ** -53 + 2 ** -105); // the next float
}

/** ln(over / under), rounded up; 0 where it would be negative. */
function loss(over, under) {
  const excess = over - under;
  if (excess <= 0n) return 0;
  return excess >> 1000n >= under ? Infinity : up(Math.log1p(floatUp(excess, under)));
}

/** ε of keeping one of so many values with probability truth / 2^32. */
const responseLoss = (truth, outcomes) => loss(big(truth) * big(outcomes - 1), not(truth));

/** ε of bits that are one with these probabilities (of `whole`) for the item, and for
 * every other item: two items differ in two bits. */
const unaryLoss = (one, zero, whole) => loss(one * (whole - zero), zero * (whole - one));

/** ε of one message for those who know kept bits that all differ. */
function bitsLoss(one, zero, bits) {
  const most = Math.max(loss(big(one), big(zero)), loss(not(zero), not(one)));
  return most < Infinity ? up(bits * most) : most;
}

/** A float as people write it, as a fraction: 0.1 is a tenth. */
function written(value) {
  const [digits, exponent] = value.toExponential().split("e");
  const power = exponent - Math.max(digits.length - 2, 0);
  const whole = big(digits.replace(".", ""));
  return power < 0 ? [whole, 10n ** big(-power)] : [whole * 10n ** big(power), 1n];
}

const shown = (value, digits) => `${+value.toPrecision(digits)}`;

/** What several oracles draw and say alike. */

/** Keep a value with probability truth / 2^32, or draw one of the others. */
async function respond(words, truth, outcomes, value) {
  const keep = await words.coin(truth);
  const other = await words.below(outcomes - 1);
  return keep ? value : other + (other >= value);
}

/** All bits as if they were zero, then the item's own. */
async function encoded(words, one, zero, items, item) {
  const bits = await words.biased(zero, items);
  bits[item] = +(await words.coin(one));
  return bits;
}

/** A kept one is sent as one with probability `one` / 2^32, a kept zero with `zero`. */
async function resent(words, one, zero, kept) {
  const ones = await words.biased(one, kept.length);
  const zeros = await words.biased(zero, kept.length);
  return kept.map((bit, at) => (bit ? ones[at] : zeros[at]));
}

/** Whether all are thresholds that leave something to chance. */
const inside = (...thresholds) => thresholds.every((one) => 0 < one && one < ONE);

/** How often a number holds another, and what is left. */
const split = (number, by) => [Math.floor(number / by), number % by];

/** The first few places by their names. */
const some = (ones, named) => ones.slice(0, 8).map(named).join(", ");

function sayOnes(_, ones, named) {
  const more = ones.length - 8;
  return some(ones, named) + (more > 0 ? ` and ${more} more` : "");
}

function hashValue(number, values) {
  const [row, said] = split(number, values);
  return `hash value ${said} of ${values} under function ${row}`;
}

/** The text that a value is known by in every language. */

const NONE = "n:"; // the answer of a device that has none
const LONGEST = 1024; // bytes of the longest text that an open vocabulary counts
const LONGEST_LISTED = 2 ** 20; // and of any text that is looked at

/** The text a value is known by in every language; null if it has none. A number beyond
 * 2^53 has lost digits: pass such whole numbers as BigInt. */
function canonical(value) {
  if (typeof value === "boolean") return `b:${+value}`;
  const short = typeof value === "bigint" && value * value < 2n ** 2048n;
  if (short || Number.isSafeInteger(value)) return `i:${big(value)}`;
  if (typeof value !== "string" || value.length > LONGEST_LISTED) return null;
  const text = value.normalize("NFC");
  return text && wellFormed(text) ? `s:${text}` : null;
}

/** Domains: what a value is counted as. */

const MOST_ITEMS = 2 ** 30;

/** For the names of its lines, what a domain is: how many items each part of the question
 * has (`sizes`), how many answers are `different`, the answer to a value as
 * [its canonical text, item], the item of no answer if it has one, and items' names. */
const DOMAINS = {
  __proto__: null,

  "none values": ({ values, none }) => {
    const places = new Map(values.map((value, at) => [canonical(value), at]));
    need(places.size === values.length && !places.has(null), "domain");
    return counted(
      values.length,
      none,
      (known) => places.get(known),
      (at) => values[at],
    );
  },

  "below from none": ({ from, below, none }) => {
    need([from, below].every(Number.isSafeInteger), "domain");
    const place = (known) => (known?.startsWith("i:") ? known.slice(2) - from : -1);
    return counted(below - from, none, place, (at) => from + at);
  },

  "ask branching high low none step": numbers,
  "attributes pairs": attributes,
  "alphabet longest step": vocabulary,
};

/** Values that are counted one by one, and "none", which may have an item of its own. */
function counted(count, none, place, name) {
  need(whole(count, 1, MOST_ITEMS) && typeof none === "boolean", "domain");
  return {
    sizes: [count + none],
    different: count,
    answer: (value) => {
      const text = canonical(value);
      const at = place(text);
      return whole(at, 0, count - 1) ? [text, at] : null;
    },
    nothing: () => (none ? count : undefined),
    name: (at) => (at < count ? `${name(at)}` : "none"),
  };
}

/** Any text, known by its bytes. */
const OPEN = {
  sizes: [0],
  different: Infinity,
  answer: (value) => {
    const text = canonical(value);
    return text && utf8(text).length <= LONGEST ? [text] : null;
  },
};

/** A domain from a document; null is any text. */
function domainOf(read) {
  const made = read === null ? () => OPEN : DOMAINS[keys(read)];
  need(made, "domain");
  return { means: () => false, once: false, ...made(read) };
}

/** Numbers on a grid between two public bounds; others are rounded, or cut to an end. */
function numbers({ ask, branching, high, low, none, step }) {
  const plain = (one) =>
    Number.isFinite(one) && (one === 0 || (1e-4 <= Math.abs(one) && Math.abs(one) <= 1e15));
  const steps = (high - low) / step;
  const top = Math.round(steps);
  const grid =
    [low, high, step].every(plain) && step > 0 && low < high && Math.abs(steps - top) <= 1e-6;
  const most = { __proto__: null, mean: 2 ** 24, variance: 2 ** 15, distribution: 2 ** 20 }[ask];
  const tree = ask === "distribution";
  need(grid && top <= most && typeof none === "boolean" && (tree || !none), "domain");
  need(tree ? whole(branching, 2, 2 ** 20) : branching === 0, "domain");
  const widths = [1];
  while (tree && Math.ceil((top + 1) / (widths[0] * branching)) > 1)
    widths.unshift(widths[0] * branching);
  const nodes = widths.map((width) => Math.ceil((top + 1) / width) + none);
  const sizes = ask === "variance" ? [top + 1, top ** 2 + 1] : nodes;
  const named = (at) => shown(low + at * step, 6);
  return {
    sizes,
    different: Math.max(...sizes) - none,
    means: () => !tree,
    answer: (value, part) => {
      const at = placeOf(value, low, high, step, top);
      if (at < 0) return null;
      const seen =
        ask === "variance" && part ? (2 * at - top) ** 2 : Math.floor(at / (widths[part] ?? 1));
      return [`i:${seen}`, seen];
    },
    nothing: (part) => (none ? sizes[part] - 1 : undefined),
    name: (item, part) => {
      if (none && item === sizes[part] - 1) return "none";
      const [start, end] = [item * widths[part], Math.min((item + 1) * widths[part] - 1, top)];
      return start === end ? named(start) : `${named(start)} to ${named(end)}`;
    },
  };
}

/** The nearest place of the grid, in the order of steps that every language keeps; −1 for
 * what is no number. */
function placeOf(value, low, high, step, top) {
  if (typeof value === "bigint") value = Number(value);
  if (typeof value !== "number" || Number.isNaN(value)) return -1;
  if (value <= low) return 0;
  if (value >= high) return top;
  return Math.min(Math.floor((value - low) / step + 0.5), top);
}

/** Several attributes of a device, of which it answers one, or one pair. */
function attributes({ attributes: fields, pairs }) {
  const names = fields.map(([name]) => name);
  const apart =
    names.every((name) => typeof name === "string" && canonical(name)) &&
    new Set(names).size === names.length;
  need(
    apart &&
      names.length > 1 &&
      typeof pairs === "boolean" &&
      fields.every((field) => field.length === 2),
    "domain",
  );
  need(
    fields.every(
      ([, one]) =>
        FIELDS.includes(keys(one)) && (one.ask === undefined || (one.ask === "mean" && !pairs)),
    ),
    "domain",
  );
  const domains = fields.map(([, one]) => domainOf(one));
  const all = range(names.length);
  const asked = pairs
    ? all.flatMap((one) => all.slice(one + 1).map((other) => [one, other]))
    : all.map((one) => [one]);
  const sizes = asked.map((part) => part.reduce((size, at) => size * domains[at].sizes[0], 1));
  need(asked.length <= 256 && (!pairs || Math.max(...sizes) <= 2 ** 24), "domain");
  const given = (value, at) =>
    Object.hasOwn(Object(value), names[at]) ? value[names[at]] : undefined;
  const itemIn = (value, at) =>
    domains[at].answer(given(value, at), 0)?.[1] ?? domains[at].nothing(0);
  return {
    sizes,
    different: Math.max(...sizes),
    means: (part) => !pairs && domains[part].means(0),
    answer: (value, part) => {
      if (!pairs) return domains[part].answer(given(value, part), 0);
      const [one, other] = asked[part].map((at) => itemIn(value, at));
      const item = one * domains[asked[part][1]].sizes[0] + other;
      return Number.isNaN(item) ? null : [`i:${item}`, item];
    },
    nothing: (part) => (pairs ? undefined : domains[part].nothing(0)),
    name: (item, part) => {
      const last = domains[asked[part].at(-1)].sizes[0];
      const items = pairs ? split(item, last) : [item];
      return asked[part]
        .map((at, turn) => `${names[at]} ${domains[at].name(items[turn], 0)}`)
        .join(", ");
    },
  };
}

/** What an attribute may be: values, or numbers. */
const FIELDS = ["none values", "below from none", "ask branching high low none step"];

/** Words of an alphabet, of which each device sends a prefix of one length. */
function vocabulary({ alphabet, longest, step }) {
  const letters = new Set(alphabet);
  const apart = [...alphabet].length === letters.size && whole(letters.size, 2, 4096);
  const plain =
    alphabet.normalize("NFC") === alphabet && wellFormed(alphabet) && !letters.has("\0");
  need(apart && plain && whole(longest, 1, 64) && whole(step, 1, longest - 1), "domain");
  need((letters.size + 1) ** step <= 2 ** 18, "domain");
  const lengths = [...range(longest).filter((length) => length && length % step === 0), longest];
  return {
    sizes: lengths.map(() => 0),
    different: 1,
    once: true,
    answer: (value, part) => {
      if (
        typeof value !== "string" ||
        value.length > 8 * longest ||
        [...value].length > 4 * longest
      )
        return null;
      const word = [...value.normalize("NFC")];
      if (!whole(word.length, 1, longest) || !word.every((letter) => letters.has(letter)))
        return null;
      const end = word.length < lengths[part] ? "\0" : "";
      return [`p:${word.slice(0, lengths[part]).join("")}${end}`];
    },
  };
}

/** Hashes that any language computes in 32-bit integers. */

function mixed(word) {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** MurmurHash3, x86, 32 bits. */
function murmur(bytes, state) {
  const turned = (word, by) => (word << by) | (word >>> (32 - by));
  for (let at = 0; at < bytes.length; at += 4) {
    const block = fromLittle(bytes.subarray(at, at + 4));
    state ^= Math.imul(turned(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
    if (at + 4 <= bytes.length) state = Math.imul(turned(state, 13), 5) + 0xe6546b64;
  }
  return mixed(state ^ bytes.length);
}

/** Two numbers for a text of an open vocabulary. */
const digest = (bytes) => [0x9747b28c, 0x3c6ef372].map((seed) => murmur(bytes, seed));

/** Where a digest lies in a row of `size` places. */
function place([first, second], row, size) {
  const inner = mixed(second + Math.imul(row + 1, 0x9e3779b9));
  return mixed(first + inner) % size;
}

/** Σ of the products of two numbers' digits in base `prime`, modulo the prime. */
function linear(prime, digits, one, other) {
  const digit = (number, at) => Math.floor(number / prime ** at) % prime;
  const products = range(digits).map((at) => digit(one, at) * digit(other, at));
  return products.reduce((sum, product) => sum + product, 0) % prime;
}

const isPower = (number) => number > 0 && 2 ** Math.round(Math.log2(number)) === number;

function isPrime(number) {
  for (let at = 2; at * at <= number; at++) if (number % at === 0) return false;
  return number > 1;
}

function isOdd(bits) {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) === 1;
}

/** Oracles for answers that are given again and again: noise that is kept, and fresh noise
 * on top. */

/** Lines of the document, and what follows from their numbers. */
const KEPT = {
  "longitudinal unary": [
    "items kept_one kept_zero kind sent_one sent_zero",
    (o) => {
      const { items, kept_one, kept_zero, sent_one, sent_zero } = o;
      const said = (kept) => big(kept) * big(sent_one) + not(kept) * big(sent_zero);
      return {
        valid:
          inside(kept_one, kept_zero, sent_one, sent_zero) &&
          kept_one > kept_zero &&
          sent_one > sent_zero,
        lost: unaryLoss(said(kept_one), said(kept_zero), big(ONE) ** 2n),
        forEver: unaryLoss(big(kept_one), big(kept_zero), big(ONE)),
        instant: bitsLoss(sent_one, sent_zero, items),
        freshness: Math.max(ONE - sent_one, sent_zero) / ONE,
        bits: items,
        seed: () => 0,
        keep: (words, item) => encoded(words, kept_one, kept_zero, items, item),
        send: async (words, kept) => [0, await resent(words, sent_one, sent_zero, kept)],
        says: sayOnes,
      };
    },
  ],

  loloha: [
    "functions items kept kind sent values",
    ({ items, values, functions, kept, sent }) => {
      const others = big(values - 1);
      const truth = big(kept) * big(sent) * others + not(kept) * not(sent);
      const [forEver, instant] = [kept, sent].map((one) => responseLoss(one, values));
      // linear functions collide exactly as often as chance, where they are enough
      const digits = Math.round(Math.log(functions) / Math.log(values));
      const exact = values ** digits === functions && functions >= items;
      const hashed = (item, seed) => {
        if (functions === 1) return item;
        if (exact && isPrime(values)) return linear(values, digits, seed, item);
        return place([item, item], seed, values);
      };
      return {
        valid:
          inside(kept, sent, functions, forEver, instant) &&
          functions <= 256 &&
          items > 1 &&
          values > 1 &&
          values <= 2 ** 20 &&
          (functions > 1 || values === items),
        lost: loss(truth * others, big(ONE) ** 2n * others - truth),
        forEver,
        instant,
        freshness: (ONE - sent) / ONE,
        tracking: functions,
        head: functions * values,
        seed: (words) => words.below(functions),
        keep: (words, item, seed) => respond(words, kept, values, hashed(item, seed)),
        send: async (words, held, seed) => [
          seed * values + (await respond(words, sent, values, held)),
          [],
        ],
        says: (number, _, named) => (functions === 1 ? named(number) : hashValue(number, values)),
      };
    },
  ],

  rappor: [
    "bits cohorts family flip hashes items kind sent_one sent_zero",
    (o) => {
      const { items, bits, cohorts, family, flip, hashes, sent_one, sent_zero } = o;
      need(
        !/^md5/.test(family),
        "oracle",
        "hashes with MD5, which no device here does; use murmur32",
      );
      const declared = bits === items || (bits === 1 && items === 2);
      const shape = items
        ? family === "identity" && items > 1 && declared && hashes * cohorts === 1
        : family === "murmur32" &&
          bits > 1 &&
          bits <= 2 ** 16 &&
          inside(hashes) &&
          hashes <= Math.min(16, bits);
      need(shape && isPower(cohorts) && cohorts <= 256, "oracle"); // before they are powers
      // how many bits each of two filters has that the other has not, at most
      const most = items ? 1 : Math.min(hashes, bits - 1);
      const ways = [most, items ? +(bits > 1) : Math.min(hashes, bits - most)];
      const moved = big(flip) * big(sent_one - sent_zero);
      const [whole, held, none] = [
        big(ONE) ** 2n,
        big(sent_one) * big(ONE) - moved,
        big(sent_zero) * big(ONE) + moved,
      ];
      const ratios = [
        [held, none],
        [whole - none, whole - held],
      ];
      if (held * (whole - held) < (whole - none) * none) ratios.reverse(); // the larger first
      const power = (side) =>
        ratios.reduce((product, ratio, at) => product * ratio[side] ** big(ways[at]), 1n);
      const kept = big(ways[0] + ways[1]);
      return {
        valid: flip < HALF && sent_one > sent_zero,
        lost: loss(power(0), power(1)),
        forEver: loss(not(flip) ** kept, big(flip) ** kept),
        instant: bitsLoss(sent_one, sent_zero, bits),
        freshness: Math.max(ONE - sent_one, sent_zero) / ONE,
        head: cohorts,
        tracking: cohorts,
        bits,
        seed: (words) => words.below(cohorts),
        keep: async (words, item, seed) => {
          const rows = range(hashes).map((at) => seed * hashes + at);
          const places = items ? [item] : rows.map((row) => place(digest(item), row, bits));
          const flipped = await words.biased(flip, bits);
          if (items && bits === 1) flipped[0] ^= item;
          else for (const at of new Set(places)) flipped[at] ^= 1;
          return flipped;
        },
        send: async (words, held, seed) => [seed, await resent(words, sent_one, sent_zero, held)],
        says: (cohort, ones, named) => {
          if (items) return bits > 1 ? ones.map(named).join(", ") || "nothing" : named(ones.length);
          return `cohort ${cohort}, bits ${ones.join(", ") || "none"} of ${bits}`;
        },
      };
    },
  ],
};

/** Oracles for means: a number is rounded at random, so that its mean stays, and what comes
 * out is randomized. */

/** A place of a grid of `top` steps on one of `steps`: up or down at random, so that its
 * mean stays exactly. */
async function rounded(words, item, top, steps) {
  const [whole, rest] = split(item * steps, top);
  return whole + ((await words.below(top)) < rest);
}

/** A number rounded to one end of its range, and that end told truly at `truth`. */
async function bitOf(words, truth, item, top) {
  return respond(words, truth, 2, await rounded(words, item, top, 1));
}

const highOrLow = (number) => (number ? "high" : "low");
const isMean = (items, truth) => items > 1 && truth > HALF && truth < ONE;

/** Lines of the document, and what follows from their numbers. */
const MEANS = {
  "binary mean": [
    "items kind truth",
    ({ items, truth }) => ({
      valid: isMean(items, truth),
      lost: responseLoss(truth, 2),
      head: 2,
      mean: true,
      randomize: async (words, item) => [await bitOf(words, truth, item, items - 1), []],
      says: highOrLow,
    }),
  ],

  "hybrid mean": [
    "binary inside items kind steps truth window",
    (o) => {
      const { items, truth, binary, inside: within, steps, window } = o;
      const windowLoss = loss(big(within) * big(steps), not(within) * big(window));
      const sizes = [steps, window].every((one) => whole(one, 1, 2 ** 16));
      return {
        valid:
          isMean(items, truth) &&
          inside(binary, within, windowLoss) &&
          sizes &&
          (items - 1) * steps <= 2 ** 52,
        lost: Math.max(responseLoss(truth, 2), windowLoss),
        head: 2 + steps + window,
        mean: true,
        randomize: async (words, item) => {
          if (await words.coin(binary)) return [await bitOf(words, truth, item, items - 1), []];
          const start = await rounded(words, item, items - 1, steps);
          const keep = await words.coin(within);
          const inner = start + (await words.below(window));
          const outer = await words.below(steps);
          return [2 + (keep ? inner : outer + (outer >= start ? window : 0)), []];
        },
        says: (number) =>
          number < 2 ? highOrLow(number) : `place ${number - 2} of ${steps + window}`,
      };
    },
  ],

  "one-bit mean": [
    "items kept kind sent",
    ({ items, kept, sent }) => {
      const truth = big(kept) * big(sent) + not(kept) * not(sent);
      return {
        valid: isMean(items, kept) && isMean(items, sent),
        lost: loss(truth, big(ONE) ** 2n - truth),
        forEver: responseLoss(kept, 2),
        instant: responseLoss(sent, 2),
        freshness: (ONE - sent) / ONE,
        head: 2,
        mean: true,
        rounds: true,
        seed: (words) => words.below(items - 1),
        // an answer is a side already; no answer is a place
        keep: (words, item, seed, answered) =>
          respond(words, kept, 2, answered ? item : +(item > seed)),
        send: async (words, held) => [await respond(words, sent, 2, held), []],
        says: highOrLow,
      };
    },
  ],
};

/** Oracles for answers that are given once, about declared values. */

/** Lines of the document, and what follows from their numbers. */
const ONCE = {
  "k-ary response": [
    "items kind truth",
    ({ items, truth }) => ({
      valid: inside(truth),
      lost: responseLoss(truth, items),
      head: items,
      randomize: async (words, item) => [await respond(words, truth, items, item), []],
      says: (number, _, named) => named(number),
    }),
  ],

  unary: [
    "items kind one zero",
    ({ items, one, zero }) => ({
      valid: inside(one, zero),
      lost: unaryLoss(big(one), big(zero), big(ONE)),
      bits: items,
      randomize: async (words, item) => [0, await encoded(words, one, zero, items, item)],
      says: sayOnes,
    }),
  ],

  "subset selection": [
    "items kind size truth",
    ({ items, size, truth }) => ({
      valid: inside(truth) && 0 < size && size < items && size <= 2 ** 16,
      lost: loss(big(truth) * big(items - size), not(truth) * big(size)),
      bits: items,
      // the number of sets; about, where there are many
      outcomes: range(Math.min(size, items - size, 99)).reduce(
        (sets, at) => (sets * (items - at)) / (at + 1),
        1,
      ),
      // a set of others (Floyd's algorithm); the true item may take the place of one
      randomize: async (words, item) => {
        const keep = await words.coin(truth);
        const others = new Set();
        for (let last = items - 1 - size; last < items - 1; last++) {
          const drawn = await words.below(last + 1);
          others.add(others.has(drawn) ? last : drawn);
        }
        const listed = [...others].map((one) => one + (one >= item));
        const at = await words.below(size);
        if (keep) listed[at] = item;
        const bits = Array(items).fill(0);
        for (const one of listed) bits[one] = 1;
        return [0, bits];
      },
      says: (_, ones, named) =>
        `one of ${some(ones, named)}${size > 8 ? `, … (${size} in all)` : ""}`,
    }),
  ],

  "local hashing": [
    "digits items kind prime truth",
    ({ items, prime, digits, truth }) => {
      const pool = prime ** digits;
      return {
        valid:
          inside(truth, digits) &&
          prime < 2 ** 20 &&
          isPrime(prime) &&
          items <= pool &&
          pool < HALF,
        lost: responseLoss(truth, prime),
        head: pool * prime,
        randomize: async (words, item) => {
          const row = await words.below(pool);
          const said = await respond(words, truth, prime, linear(prime, digits, row, item));
          return [row * prime + said, []];
        },
        says: (number) => hashValue(number, prime),
      };
    },
  ],

  "Hadamard response": [
    "blocks items kind side truth",
    ({ items, blocks, side, truth }) => ({
      valid:
        inside(truth) &&
        isPower(blocks) &&
        isPower(side) &&
        blocks <= HALF &&
        Math.ceil(items / blocks) < side,
      lost: loss(big(truth) * big(2 * blocks - 1), not(truth)),
      head: blocks * side,
      randomize: async (words, item) => {
        const own = await words.coin(truth);
        const [row, block] = split(item + blocks, blocks);
        // of 2 · blocks − 1 halves that are equally likely, one lies in the own block
        const [further] = split((await words.below(2 * blocks - 1)) + 1, 2);
        let column = await words.below(side);
        // in the own block: change the sign, if it is wrong, by the row's lowest bit
        const near = own || further === 0;
        if (near && isOdd(row & column) === own) column = (column ^ (row & -row)) >>> 0;
        return [(own ? block : (block + further) % blocks) * side + column, []];
      },
      says: (number) => `column ${number % side} of block ${split(number, side)[0]}`,
    }),
  ],
};

/** Oracles for texts that only the server has a list of. */

function isSketch(items, rows, columns) {
  return !items && rows > 1 && columns > 1 && isPower(columns) && rows * columns <= 2 ** 27;
}

/** Lines of the document, and what follows from their numbers. */
const SKETCHES = {
  "count-mean sketch": [
    "columns flip items kind rows",
    ({ items, rows, columns, flip }) => ({
      valid: isSketch(items, rows, columns) && inside(flip) && flip < HALF,
      lost: unaryLoss(not(flip), big(flip), big(ONE)),
      head: rows,
      bits: columns,
      randomize: async (words, item) => {
        const row = await words.below(rows);
        const bits = await words.biased(flip, columns);
        bits[place(digest(item), row, columns)] = +!(await words.coin(flip));
        return [row, bits];
      },
      says: (row, ones) => `row ${row}, and ${ones.length} of ${columns} places`,
    }),
  ],

  "Hadamard sketch": [
    "columns items kind rows truth",
    ({ items, rows, columns, truth }) => ({
      valid: isSketch(items, rows, columns) && inside(truth),
      lost: responseLoss(truth, 2),
      head: 2 * rows * columns,
      randomize: async (words, item) => {
        const row = await words.below(rows);
        const column = await words.below(columns);
        const minus = isOdd(column & place(digest(item), row, columns));
        const said = minus === (await words.coin(truth));
        return [(row * columns + column) * 2 + said, []];
      },
      says: (number) => {
        const [row, column] = split(split(number, 2)[0], columns);
        return `row ${row}, column ${column}, sign ${number % 2 ? "−" : "+"}`;
      },
    }),
  ],
};

/**
 * Oracles: how an item becomes a message that says little about it.
 *
 * A message is a number below `head` and a list of `bits`. Words are drawn in the order that
 * the page of the test vectors states. An oracle for answers that are given again draws a
 * `seed` once, what it will `keep` once for each answer, and what it will `send` for each
 * message; another one draws all with `randomize`.
 */

const ORACLES = { __proto__: null, ...ONCE, ...SKETCHES, ...KEPT, ...MEANS };
const INSTANT = ["sent", "sent_one", "sent_zero"]; // what no kept answer depends on
const MOST_BITS = 2 ** 20; // more would keep a small device busy

/** One oracle from a document; its numbers are checked before they are used. */
function single(read) {
  const [lines, made] = ORACLES[read.kind] ?? [];
  const { kind, family, ...numbers } = read;
  const small = Object.values(numbers).every((one) => whole(one, 0, ONE));
  need(keys(read) === lines && small && read.items <= MOST_ITEMS + 1, "oracle");
  const oracle = { head: 1, bits: 0, instant: Infinity, freshness: 0, mean: false, ...made(read) };
  const { valid, lost, head, bits, keep } = oracle;
  need(valid && 0 < lost && lost < Infinity && bits <= MOST_BITS && head <= 2 ** 53, "oracle");
  const lasting = Object.fromEntries(
    Object.entries(read).filter(([name]) => !INSTANT.includes(name)),
  );
  const outcomes = head * 2 ** Math.min(bits, 64);
  const usual = { forEver: lost, outcomes, tracking: keep ? 1 : outcomes };
  return {
    ...usual,
    ...oracle,
    items: read.items,
    lasting,
    size: sizeOf(head) + Math.ceil(bits / 8),
  };
}

/** An oracle, or several of which a device draws one, once and for all. */
function oracleOf(read) {
  const sampled = read.kind === "sampled";
  const parts = (sampled ? read.parts : [read]).map(single);
  const most = (line) => Math.max(...parts.map((part) => part[line]));
  const sum = (line) => parts.reduce((total, part) => total + part[line], 0);
  const alike = parts.every((part) => !part.keep === !parts[0].keep);
  const several = whole(parts.length, 2, 256) && read.items === parts.length && alike;
  need(!sampled || (keys(read) === "items kind parts" && several), "oracle");
  const lasting = parts.map((part) => part.lasting);
  return {
    ...{ sampled, parts, size: sampled + most("size") },
    ...{ lost: most("lost"), forEver: most("forEver"), instant: most("instant") },
    freshness: Math.min(...parts.map((part) => part.freshness)),
    ...{ tracking: sum("tracking"), outcomes: sum("outcomes") },
    lasting: sampled ? { ...read, parts: lasting } : lasting[0],
  };
}

/** A record: the part's number, where there are several; the number that is said, in as
 * few bytes as hold the largest; bits, the lowest first. All parts have the same size. */
function recordOf({ sampled, size }, { number, own }, [said, bits]) {
  const record = new Uint8Array(size);
  const start = [...(sampled ? [number] : []), ...little(said, sizeOf(own.head))];
  record.set(start);
  bits.forEach((bit, at) => (record[start.length + (at >> 3)] |= bit << (at & 7)));
  return record;
}

/** How the answer to a value becomes a message. */

const HEADER = 16; // bytes of a message in front of its record

function checkBelow(code, value, end) {
  need(whole(value, 0, end - 1), code, `must be a whole number from 0 to ${end - 1}`);
}

/** What stands in front of a record: which task, period and stratum. */
function header({ version, tag, strata, periods }, period, stratum) {
  checkBelow("period", period, periods);
  const known = strata.length ? strata.includes(stratum) : stratum === undefined;
  need(known, "stratum", `must be one of: ${strata.join(", ")}`);
  const section = Math.max(strata.indexOf(stratum), 0);
  return [0xd1, 1, ...little(version, 2), ...tag, ...little(period, 2), section, 0];
}

/** The part of the question that a device answers, and what it draws once for it. */
async function partOf({ oracle }, words) {
  const { sampled, parts } = oracle;
  const number = sampled ? await (await words("part")).below(parts.length) : 0;
  const own = parts[number];
  return { number, own, seed: own.seed ? await own.seed(await words("seed")) : 0 };
}

/** The answer to a value, as [its canonical text, item]; [NONE] if it is not counted. No
 * value makes this fail: an error would tell something about it. Values that are rounded
 * alike are one answer. */
function answerOf({ domain }, { number, own, seed }, value) {
  try {
    const found = domain.answer(value, number) ?? [NONE];
    const side = +(found[1] > seed);
    return own.rounds && found[0] !== NONE ? [`i:${side}`, side] : found;
  } catch {
    return [NONE]; // an object can do anything when it is looked at
  }
}

/** The answer as the oracle knows it. Where the domain has no "none", that is a random
 * item. */
async function itemOf({ domain }, { number, own }, [text, item], words) {
  if (!own.items) return utf8(text);
  if (text !== NONE) return item;
  return domain.nothing(number) ?? (await words("none")).below(own.items);
}

/** A message, drawn from the words that `words` gives for each purpose. */
async function messageOf(task, part, answer, period, stratum, words) {
  const head = header(task, period, stratum);
  const { keep, send, randomize } = part.own;
  const item = await itemOf(task, part, answer, words);
  const noise = async (purpose) => words(purpose, answer[0]);
  const kept = keep && (await keep(await noise("permanent"), item, part.seed, answer[0] !== NONE));
  const said = keep
    ? await send(await noise("instant"), kept, part.seed)
    : await randomize(await noise("once"), item);
  return concat([head, recordOf(task.oracle, part, said)]);
}

/** Memo: what a device draws once, not as a table but as a function of its secret. */

/** Keys for everything that a device draws about a task: HMAC-SHA256 under its secret. */
function memoOf(task, secret, salt) {
  const start = [fromHex(salt), task.attribute, task.permanent];
  const hashed = hmac(fromHex(secret));
  const key = (...parts) => hashed(frame(...start, ...parts));
  const words = async (...parts) => keyed(await key(...parts));

  /** The message of a period; without noise of its own, it says the same in every one. */
  function message(part, answer, period, slot, stratum) {
    // by the whole digest: two documents with equal tags can be made on purpose
    const when = [task.digest, four(period), four(slot)];
    return messageOf(task, part, answer, period, stratum, (purpose, ...about) =>
      words(purpose, ...(purpose === "instant" ? when : []), ...about),
    );
  }

  return { key, words, message };
}

/** A message's id: the same for a retry, and in no relation to those of other periods. */
async function idOf(secret, name, first, slot) {
  const whole = await hmac(fromHex(secret))(frame("message id", name, first, four(slot)));
  return whole.slice(0, 16);
}

/** Days and periods. Days are counted from 1970, and begin at midnight UTC. */

const DAY = 86_400_000;
const iso = (day) => new Date(day * DAY).toISOString().slice(0, 10);
const dayOf = (moment) => Math.floor(moment / DAY);
const today = () => dayOf(Date.now());

/** The period of a day. */
function periodOf({ first, end, starts, expires, every }, day) {
  need(day >= first && day < end, "task", `is answered from ${starts} until before ${expires}`);
  const number = every && Math.floor((day - first) / every);
  const begin = first + number * every;
  return { number, first: iso(begin), until: iso(every ? Math.min(begin + every, end) : end) };
}

/** Who may ask: Ed25519 over the exact text of a document. */

/** A public key from its hexadecimal text. */
function publicKey(text) {
  need(
    isHex(text) && text.length === 64,
    "trust",
    "must be a public key: the 64 hexadecimal digits of key.public",
  );
  return fromHex(text);
}

/** Refuses a document that this key did not sign. */
async function verify(document, signature, trusted) {
  let right;
  try {
    const key = await subtle().importKey("raw", trusted, "Ed25519", false, ["verify"]);
    right = await subtle().verify("Ed25519", key, signature, utf8(document));
  } catch {
    throw new DitherError("device", "cannot check signatures: Ed25519 is missing here");
  }
  need(right, "task", "is not signed by the trusted key, or was changed after that");
}

/** What a device keeps: lists of tasks, memos, marks, reservations, messages and moments. */

const taskOf = (state, { name }) => state.tasks.find((one) => one.name === name);
const memoRow = (state, { memo }) => state.memos.find((one) => one.id === memo);
/** Without the rows of a task. */
const without = (rows, name) => rows.filter((one) => one.task !== name);

/** What of the budget is not reserved. */
const leftOf = (state) =>
  state.reservations.reduce((left, one) => left - one.cost, state.budget);

/** Until which day a task has been answered, in messages that `counts`. */
function answeredUntil(state, { name }, known, counts = () => true) {
  const rows = state.messages.filter((one) => one.task === name && counts(one));
  return [known.until, ...rows.map((one) => one.until)].sort().pop();
}

/** Notes what is known of a task now. */
function note(state, { name, version, document, memo }, known, now) {
  state.tasks = state.tasks.filter((one) => one.name !== name);
  state.tasks.push({ name, version, document, memo, until: known?.until ?? "", state: now });
  forgetUnused(state);
}

/** Deletes the salts, and with them the noise, that no joined task needs. */
function forgetUnused(state) {
  const used = state.tasks.filter((one) => one.state === "joined").map((one) => one.memo);
  state.memos = state.memos.filter((one) => used.includes(one.id));
  state.marks = state.marks.filter((one) => used.includes(one.memo));
}

/** The memo that a task uses, and what has to be reserved for it in addition: tasks that
 * share a memo share its reservation, the largest of theirs. */
function needed(state, task) {
  const { salt = newSecret(), values = 0, cost = 0 } = memoRow(state, task) ?? {};
  const most = Math.max(task.cost, cost);
  const memo = { id: task.memo, salt, values: Math.max(task.distinct, values), cost: most };
  return { memo, extra: most - cost };
}

/** Whether messages lose more, say more, come more often or for longer than agreed, or are
 * about something else: that another task has paid for a memo is no consent. */
function asksMore(task, agreed) {
  const often = ({ every, messages }, other) => (every ? messages * (other.every || Infinity) : 0);
  return (
    task.memo !== agreed.memo ||
    task.losses.lifetime > agreed.losses.lifetime ||
    task.oracle.lost > agreed.oracle.lost ||
    task.oracle.instant > agreed.oracle.instant ||
    often(task, agreed) > often(agreed, task) ||
    task.end > agreed.end ||
    JSON.stringify(task.strata) !== JSON.stringify(agreed.strata) // sent as they are
  );
}

/** One name is one line of versions, and each version one document. */
function checkSuccessor(known, { version, document }) {
  need(known.state !== "stopped", "task", "was stopped for good; use a task of another name");
  need(
    version >= known.version,
    "task",
    `is older than version ${known.version}, which is known here`,
  );
  const same = version > known.version || document === known.document;
  need(same, "task", "is another document than the one of its version that is known here");
}

/** What is known of a task; an error if it may not be answered as it is. */
function joinedAs(state, task) {
  const known = taskOf(state, task);
  need(
    known && known.state !== "left",
    "task",
    "has not been joined; ask its owner, then join(task)",
  );
  checkSuccessor(known, task);
  return known;
}

/** The period of a day, if it may still be answered. Where a later one has been, the clock
 * has gone back, or a new version counts in another way: to answer it now would be one
 * more message than time allows. */
function openPeriod(state, task, day) {
  const known = joinedAs(state, task);
  need(task.version === known.version, "task", "is newer than what was joined; update(task) first");
  const period = periodOf(task, day);
  const others = (one) => one.first !== period.first || one.until !== period.until;
  const answered = answeredUntil(state, task, known, others);
  need(period.first >= answered, "task", `has been answered until before ${answered}`);
  return period;
}

/** The answer, or "none" where the device has used up its distinct values. A task keeps to
 * its own number; all tasks of a memo together keep to what was reserved. */
function allowed(state, task, answer, mark) {
  if (answer[0] === NONE) return answer;
  const marks = state.marks.filter((one) => one.memo === task.memo);
  const own = marks.filter((one) => one.task === task.name).map((one) => one.mark);
  if (own.slice(0, task.distinct).includes(mark)) return answer;
  const everyone = new Set(marks.map((one) => one.mark));
  const fits = everyone.has(mark) || everyone.size < memoRow(state, task).values;
  if (own.includes(mark) || own.length >= task.distinct || !fits) return [NONE];
  state.marks.push({ memo: task.memo, task: task.name, mark });
  return answer;
}

/** Also for a task that was never joined, so that an old version cannot be. */
function stopFor(state, task) {
  const known = taskOf(state, task);
  if (known?.state === "stopped") return;
  if (known) checkSuccessor(known, task);
  note(state, task, known, "stopped");
}

/** Stores: one text, with a version that grows by one. */

/** The device's text in IndexedDB, on the disk before `save` says so. */
class IndexedDBStore {
  constructor(name = "dither") {
    this.name = name;
  }

  /** One connection for each transaction, so that tabs need no care for each other. */
  async #within(mode, work) {
    const asked = indexedDB.open(this.name, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("device");
    const file = await settled(asked, "onsuccess");
    try {
      const transaction = file.transaction("device", mode, { durability: "strict" });
      const found = work(transaction.objectStore("device"));
      await settled(transaction, "oncomplete");
      return found();
    } finally {
      file.close();
    }
  }

  load() {
    return this.#within("readonly", (rows) => {
      const request = rows.get("state");
      return () => request.result;
    });
  }

  save(text, version) {
    return this.#within("readwrite", (rows) => {
      const request = rows.get("state");
      const follows = () => (request.result?.version ?? 0) === version - 1;
      request.onsuccess = () => follows() && rows.put({ text, version }, "state");
      return follows;
    });
  }
}

/** What a request or a transaction ends with. */
function settled(target, event) {
  return new Promise((resolve, reject) => {
    target[event] = () => resolve(target.result);
    target.onerror = target.onabort = () => reject(target.error);
  });
}

/** A task's document: every line of it, and its promise against the oracle's integers. */

const FORMAT = "dither local task, 1";
const LINES =
  "attribute distinct domain epsilon every expires for_ever format messages minimum name " +
  "oracle starts stopped strata version";
const TRACKING = 256; // kept messages of more kinds would tell devices apart
const FRESH_AT = 0.01; // less noise in a message leaves what is kept to be seen

/** A number as Python writes it. */
function asReal(value) {
  const [digits, exponent] = value.toExponential().split("e");
  if (exponent < -4 || exponent > 15) {
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

const isText = (text) =>
  typeof text === "string" && canonical(text) === `s:${text}` && [...text].length <= 100;

const LIMITS = {
  distinct: [1, 2 ** 20],
  every: [0, 366],
  messages: [1, 255],
  minimum: [2, 2 ** 40],
  version: [1, 65_535],
};

/** Every line of a document, and its promise against the oracle's integers. */
function checked(document) {
  const read = readFrom(document);
  checkWords(read);
  checkNumbers(read);
  const dates = datesOf(read);
  const domain = domainOf(read.domain);
  const oracle = oracleOf(read.oracle);
  checkPromise(read, oracle);
  checkParts(read, domain, oracle);
  checkTracking(read, oracle);
  const lasting = { domain: read.domain, oracle: oracle.lasting };
  return { ...read, ...dates, domain, oracle, permanent: JSON.stringify(lasting), document };
}

/** JSON.parse rounds numbers, and takes 1.0 for 1: what it reads must be what is written. */
function readFrom(document) {
  const read = JSON.parse(document);
  const task = read.format === FORMAT && keys(read) === LINES;
  need(task, "document", `is not a task of format "${FORMAT}"`);
  const promises = /"(epsilon|for_ever)":[^,]*/g;
  const real = (_, line) => `"${line}":${asReal(read[line])}`;
  const again = JSON.stringify(read).replace(promises, real);
  need(again === document, "document", "is not written in the form that is signed");
  return read;
}

function checkWords({ name, attribute, strata }) {
  need(isText(name), "name");
  need(isText(attribute), "attribute");
  const known = strata.map((one) => (typeof one === "string" ? canonical(one) : null));
  const apart = new Set(known).size === known.length && known.length <= 256;
  need(apart && !known.includes(null), "strata");
}

function checkNumbers(read) {
  for (const [line, ends] of Object.entries(LIMITS)) need(whole(read[line], ...ends), line);
  const once = read.distinct * read.messages === 1;
  need(read.every || once, "every", "is needed for devices that answer more than once");
  need(typeof read.stopped === "boolean", "stopped");
}

function datesOf({ starts, expires, every }) {
  const [first, end] = [starts, expires].map((day) => Date.parse(day) / DAY);
  const days = iso(first) === starts && iso(end) === expires && starts > "0001";
  const periods = every ? Math.ceil((end - first) / every) : 1;
  need(days && first < end && periods <= 65_536, "expires");
  return { first, end, periods };
}

function checkPromise(read, { lost, forEver }) {
  for (const [line, really] of Object.entries({ epsilon: lost, for_ever: forEver })) {
    const promised = read[line];
    const why = `${promised} is promised, but the thresholds lose ${shown(really, 6)}`;
    need(really <= promised, line, why);
  }
}

/** Each part must be of a kind that answers what is asked. */
function checkParts({ every, distinct }, domain, { parts }) {
  const sizes = parts.map((part) => part.items);
  need(
    `${sizes}` === `${domain.sizes}`,
    "oracle",
    "is for another number of items than the domain",
  );
  const fit = parts.every((part, at) => part.mean === domain.means(at));
  need(fit, "oracle", "does not answer what is asked");
  const sides = every && parts.some((part) => part.rounds);
  need(!sides || distinct > 1, "distinct", "must be 2: a number has two sides");
  need(
    !every || !domain.once,
    "every",
    "must be 0: words that nobody has listed are asked for once",
  );
}

function checkTracking({ every }, { freshness, tracking, outcomes }) {
  const kinds = freshness >= FRESH_AT ? tracking : outcomes;
  const hidden = !every || kinds <= TRACKING;
  need(hidden, "oracle", "keeps one message for ever, which would tell devices apart");
}

/** A task: the one document that device and server share. */

/** A question to devices; `Task.fromJSON` reads one. */
class Task {
  /** Read what Python's `task.to_json()` wrote, and check every line of it. With `trust`,
   * a public key, the signature is checked first; a client checks it when it joins, too. */
  static async fromJSON(text, { trust } = {}) {
    const read = tried("text", () => JSON.parse(text));
    const signed = typeof read?.task === "string" && wellFormed(read.task) && isHex(read.signature);
    need(signed, "text", "is not a signed task; pass what task.to_json() gave");
    const signature = fromHex(read.signature);
    if (trust !== undefined) await verify(read.task, signature, publicKey(trust));
    return Task.fromDocument(read.task, signature);
  }

  /** A task from the text that is signed. */
  static async fromDocument(document, signature = new Uint8Array()) {
    const read = tried("document", () => checked(document));
    const task = Object.assign(new Task(), read, { signature });
    task.digest = await sha256(utf8(document));
    task.tag = task.digest.slice(0, 8);
    task.permanent = await sha256(utf8(read.permanent));
    // a task that is answered once has a memo of its own: its message may be unique
    const own = task.every ? [] : [task.name, task.starts];
    task.memo = toHex(await sha256(frame(task.attribute, task.permanent, ...own)));
    return Object.freeze(task);
  }

  /** How many answers a device can have kept: distinct values, and "none". */
  get answers() {
    return this.every ? Math.min(this.distinct, this.domain.different) + 1 : 1;
  }

  /** The ε of a message, of all messages about one value, of all messages for ever, and
   * of each message against those whose answers change at other times. */
  get losses() {
    const { lost: message, forEver: value, instant: change } = this.oracle;
    const [over, under] = written(value);
    return { message, value, change, lifetime: floatUp(big(this.answers) * over, under) };
  }

  /** What a device reserves of its budget, in units of 1e-9 ε. */
  get cost() {
    const [over, under] = written(this.oracle.forEver);
    return Number((big(this.answers) * over * NANO + under - 1n) / under);
  }

  /** What a message says, in words. */
  inWords(message) {
    const { sampled, parts } = this.oracle;
    const number = sampled ? message[HEADER] : 0;
    const { head, bits, says } = parts[number];
    const start = HEADER + sampled;
    const end = start + sizeOf(head);
    const ones = range(bits).filter((at) => (message[end + (at >> 3)] >> (at & 7)) & 1);
    const said = says(fromLittle(message.slice(start, end)), ones, (item) =>
      this.domain.name(item, number),
    );
    return sampled ? `question ${number + 1} of ${parts.length}: ${said}` : said;
  }

  /** A message with fresh noise, as if from a device of its own: for tests, and pages that
   * show what noise does. A device answers with `client.answer`. */
  async rehearse(value, { period = 0, stratum } = {}) {
    const words = fresh();
    const part = await partOf(this, () => words);
    return messageOf(this, part, answerOf(this, part, value), period, stratum, () => words);
  }
}

/** A device: it agrees to tasks, answers them, and never promises more than its budget. */

const TRIES = 1000; // by then, others have changed the store a thousand times

/**
 * A device that answers tasks: consent, memo, budget, and what was sent, in one store.
 *
 * For each memo, all messages together lose at most what `join` reserved for it, against
 * every other history of answers that change and return at the same times; all
 * reservations together stay within `budget`. A message is in the store before it is
 * returned. A cleared store is a new device with a new budget; a copy answers alike.
 */
class Client {
  #store;
  #trust;
  #limit;

  /** Open the device in `store` (IndexedDB, if none is passed), or make a new one there.
   * `budget` is the ε of everything it ever joins, `trust` the public key whose tasks it
   * accepts; both are fixed when the device is made. */
  static async open({ store, budget, trust }) {
    const usual = typeof budget === "number" && 1e-6 <= budget && budget <= 1e6;
    need(usual, "budget", "must be an ε between 1e-6 and 1e6");
    const client = new Client();
    const [over, under] = written(budget);
    client.#limit = Number((over * NANO) / under);
    client.#trust = toHex(publicKey(trust));
    client.#store = store ?? (globalThis.indexedDB && new IndexedDBStore());
    need(client.#store, "device", "needs a store that outlives the app; pass one");
    if (!(await client.#asked("load"))) await client.#create();
    await client.left();
    return client;
  }

  /** If another tab is faster, its device is the one. */
  #create() {
    const lists = { tasks: [], memos: [], marks: [], reservations: [], messages: [], moments: [] };
    const device = { format: 1, secret: newSecret(), trust: this.#trust, budget: this.#limit };
    return this.#asked("save", JSON.stringify({ ...device, ...lists }), 1);
  }

  async #asked(verb, ...what) {
    try {
      return await this.#store[verb](...what);
    } catch (problem) {
      throw new DitherError("device", `nothing was sent: the store failed (${problem})`);
    }
  }

  /** Read, work, and write only if nobody else has written in between; else begin anew.
   * So what `work` returns follows from what is stored, and is stored. */
  async #change(work) {
    for (let turn = 0; turn < TRIES; turn++) {
      const found = await this.#asked("load");
      need(found, "device", "nothing was sent: the store was cleared; open a new device");
      const state = this.#read(found.text);
      const result = await work(state);
      const text = JSON.stringify(state);
      if (text === found.text || (await this.#asked("save", text, found.version + 1)))
        return result;
    }
    throw new DitherError("device", "nothing was sent: others use the store all the time");
  }

  #read(text) {
    const state = tried("device", () => JSON.parse(text));
    const whole = state?.format === 1 && /^[0-9a-f]{64}$/.test(state.secret);
    need(whole, "device", "is damaged, or was written by another version; nothing was sent");
    need(state.trust === this.#trust, "trust", "is not the key that this device was made with");
    const fixed = `is ${state.budget / 1e9} for this device, and stays so`;
    need(state.budget === this.#limit, "budget", fixed);
    return state;
  }

  async #verify(task) {
    need(task instanceof Task, "task", "must be a task; read one with Task.fromJSON(text)");
    await verify(task.document, task.signature, fromHex(this.#trust));
  }

  /** The ε that all tasks of this device may reserve together. */
  get budget() {
    return this.#limit / 1e9;
  }

  /** What of the budget is not reserved. */
  left() {
    return this.#change((state) => leftOf(state) / 1e9);
  }

  #agree(state, task, known) {
    const { memo, extra } = needed(state, task);
    const [wanted, left] = [extra, leftOf(state)].map((nano) => shown(nano / 1e9, 9));
    const why = `${task.name} reserves ε = ${wanted} for its lifetime; ${left} of this device's ${this.budget} is left`;
    need(extra <= leftOf(state), "budget", why);
    if (extra) state.reservations.push({ day: iso(today()), task: task.name, cost: extra });
    state.memos = [...state.memos.filter((one) => one.id !== memo.id), memo];
    note(state, task, known, "joined");
  }

  /** Agree to a task, after its owner has: reserve what it may ever lose. */
  async join(task) {
    await this.#verify(task);
    const open = !task.stopped && today() < task.end;
    need(open, "task", "was stopped, or has ended; there is nothing to join");
    await this.#change((state) => {
      const known = taskOf(state, task);
      if (known) {
        checkSuccessor(known, task);
        if (known.state === "joined" && known.version === task.version) return;
        const last = iso(task.first + (task.periods - 1) * task.every);
        need(last >= answeredUntil(state, task, known), "task", "has no period left to answer");
      }
      this.#agree(state, task, known);
    });
  }

  /** Take over a newer version; a stopped one ends all answers for good. A version that
   * reserves, loses or says more needs consent again: it is refused, and can be joined. */
  async update(task) {
    await this.#verify(task);
    await this.#change(async (state) => {
      if (task.stopped) return stopFor(state, task);
      const known = joinedAs(state, task);
      if (known.version === task.version) return;
      const agreed = await Task.fromDocument(known.document);
      const more = needed(state, task).extra || asksMore(task, agreed);
      need(!more, "task", "asks for more than its owner agreed to; ask again, then join(task)");
      this.#agree(state, task, known);
    });
  }

  /** Delete the messages of a task, and its memo if no other task shares it. What was
   * reserved stays reserved: what was sent cannot be taken back. */
  async leave(task) {
    await this.#change((state) => {
      const known = taskOf(state, task);
      need(known && known.state !== "left", "task", "has not been joined, or was left already");
      known.until = answeredUntil(state, task, known);
      if (known.state === "joined") known.state = "left";
      state.messages = without(state.messages, task.name);
      state.moments = without(state.moments, task.name);
      forgetUnused(state);
    });
  }

  /** The message for this period: the same bytes whatever is asked again. Ask in every
   * period, also when there is nothing to say (null): silence would tell. */
  async answer(task, value, options) {
    return fromHex((await this.#answered(task, value, options)).message);
  }

  /** The message behind its id, ready to be sent: POST it to /v1/messages. */
  async parcel(task, value, options) {
    const { message, id } = await this.#answered(task, value, options);
    return concat([[0xd4, 1], fromHex(id), fromHex(message)]);
  }

  #answered(task, value, { slot = 0, stratum } = {}) {
    checkBelow("slot", slot, task.messages);
    header(task, 0, stratum);
    return this.#change(async (state) => {
      joinedAs(state, task);
      const now = Date.now(); // looked at once: it may go on, or back
      const day = iso(dayOf(now));
      const around = (one) =>
        one.task === task.name && one.slot === slot && one.first <= day && day < one.until;
      return state.messages.find(around) ?? made(state, task, value, now, slot, stratum);
    });
  }

  /** When to send the message of this period: a moment that is drawn once, from what was
   * left of the period when it was first asked for. */
  async when(task, { slot = 0 } = {}) {
    checkBelow("slot", slot, task.messages);
    return this.#change(async (state) => {
      joinedAs(state, task);
      const now = Date.now();
      const { first } = periodOf(task, dayOf(now));
      const kept = state.moments.find(
        (one) => one.task === task.name && one.slot === slot && one.first === first,
      );
      if (kept) return new Date(kept.at);
      const { number, until } = openPeriod(state, task, dayOf(now));
      const seconds = Math.floor((Date.parse(until) - now) / 1000);
      const memo = memoOf(task, state.secret, memoRow(state, task).salt);
      const words = await memo.words("when", task.tag, four(number), four(slot));
      const later = await words.below(Math.min(Math.max(seconds, 1), ONE));
      const at = (Math.floor(now / 1000) + later) * 1000;
      state.moments.push({ task: task.name, slot, first, at });
      return new Date(at);
    });
  }

  /** What left this device, oldest first, for its owner to read. It says nothing for sure:
   * `epsilon` bounds how much. */
  sent() {
    const byTime = (one, other) => (one.at > other.at) - (one.at < other.at);
    return this.#change((state) =>
      state.messages.map((one) => ({ ...one, toString: inLine })).sort(byTime),
    );
  }
}

/** A sent message on one line, without the control characters a value may have. */
function inLine() {
  const { at, task, version, first, slot, said, epsilon, message } = this;
  const when = `${at.slice(0, 16).replace("T", " ")} UTC  ${task} (version ${version})`;
  const which = `period from ${first}${slot ? `, message ${slot + 1}` : ""}`;
  const what = `your answer was turned into “${said}”, ε = ${shown(epsilon, 4)}`;
  const text = `${when}, ${which}: ${what}, ${message.length / 2} bytes`;
  return text.replace(/(?! )[\p{C}\p{Z}]/gu, (sign) => `\\u{${sign.codePointAt().toString(16)}}`);
}

/** A new message, noted in the state. */
async function made(state, task, value, now, slot, stratum) {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const memo = memoOf(task, state.secret, memoRow(state, task).salt);
  const part = await partOf(task, memo.words);
  const wanted = answerOf(task, part, value);
  const answer = allowed(state, task, wanted, toHex(await memo.key("mark", wanted[0])));
  const message = await memo.message(part, answer, number, slot, stratum);
  const id = await idOf(state.secret, task.name, first, slot);
  const more = stratum === undefined ? "" : `, stratum ${stratum}`;
  const row = {
    at: new Date(now).toISOString(),
    ...{ task: task.name, version: task.version, first, until, slot },
    ...{ said: task.inWords(message) + more, epsilon: task.oracle.lost },
    ...{ id: toHex(id), message: toHex(message) },
  };
  state.messages.push(row);
  return row;
}

export { Client, DitherError, IndexedDBStore, Task };
