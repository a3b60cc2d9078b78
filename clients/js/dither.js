/**
 * Answer questions on a device so that nobody, not even the server that asks, can know
 * what it holds. One module, no dependencies: WebCrypto and IndexedDB do the rest.
 *
 * It does, bit for bit, what Dither's Python client does; test vectors tie the two.
 * Made from src/ by tools/bundle_js.py: change it there.
 */

/** Errors that are raised on purpose, and what is asked before they are. */

/** What is refused or fails on purpose; nothing was sent. `code` is "budget" if the
 * budget is too small, "device" if the store or the browser cannot be used, and otherwise
 * the name of the argument, or of the task's line, that is wrong. A message that begins
 * with a verb is about it. */
class DitherError extends Error {
  name = "DitherError";
  constructor(code, message) {
    super(/^(is|was|has|must|cannot) /.test(message) ? `${code} ${message}` : message);
    this.code = code;
  }
}

const REFUSED = "cannot be used here; pass the task as its owner signed it";

/** Without a code, `tried` knows which one it is. */
const need = (condition, code, message = REFUSED) => {
  if (!condition) throw new DitherError(code, message);
};

const needTask = (condition, message) => need(condition, "task", message);

/** What is made of a text from outside. If that breaks, the text is at fault. */
const tried = (code, work, message = REFUSED) => {
  try {
    return work();
  } catch (problem) {
    throw problem.code ? problem : new DitherError(code, message);
  }
};

/** Whether it is a whole number between two ends. */
const whole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;

/** The names of an object's lines, in the order of the document: that is sorted. */
const keys = (read) => Object.keys(read).join(" ");

/** What the language has, by short names. */

const { abs, ceil, floor, max, min, round } = Math;
const { entries, freeze, values: valuesOf } = Object;
const { parse, stringify } = JSON;

/** The text that a value is known by in every language. */

const NONE = "n:"; // the answer of a device that has none
const LONGEST = 1024; // bytes of the longest text that an open vocabulary counts
const LONGEST_LISTED = 2 ** 20; // and of any text that is looked at

/** The text a value is known by in every language; null if it has none. A number beyond
 * 2^53 has lost digits: pass such whole numbers as BigInt. */
const canonical = (value) => {
  if (isFlag(value)) return `b:${+value}`;
  const short = typeof value === "bigint" && value * value < 2n ** 2048n;
  if (short || Number.isSafeInteger(value)) return `i:${BigInt(value)}`;
  if (!isText(value) || value.length > LONGEST_LISTED) return null;
  const text = value.normalize("NFC");
  return text && wellFormed(text) ? `s:${text}` : null;
};

const isFlag = (value) => typeof value === "boolean";
const differ = (values) => new Set(values).size === values.length;
const isText = (value) => typeof value === "string";

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
  range(size).map((at) => floor(number / 256 ** at) % 256);
const four = (number) => little(number, 4).reverse();
const fromLittle = (bytes) => bytes.reduceRight((number, byte) => number * 256 + byte, 0);

/** How many bytes hold a number below `outcomes`; none, where it is always 0. */
const sizeOf = (outcomes) => range(8).find((size) => 256 ** size >= outcomes);

/** Parts behind their lengths: no two lists of parts give the same bytes. */
const frame = (...parts) => {
  const bytes = parts.map((part) => (isText(part) ? utf8(part) : part));
  return concat(bytes.flatMap((part) => [four(part.length), part]));
};

const subtle = () => {
  const found = globalThis.crypto?.subtle;
  need(found, "device", "WebCrypto is missing; use https, or import node.js in Node 18");
  return found;
};

const SHA = "SHA-256";
const bytesOf = async (buffer) => new Uint8Array(await buffer);

const sha256 = (bytes) => bytesOf(subtle().digest(SHA, bytes));

/** HMAC-SHA256 under a key, for one text after another. */
const hmac = (secret) => {
  const name = "HMAC";
  const key = subtle().importKey("raw", secret, { name, hash: SHA }, false, ["sign"]);
  return async (bytes) => bytesOf(subtle().sign(name, await key, Uint8Array.from(bytes)));
};

const newSecret = () => toHex(crypto.getRandomValues(new Uint8Array(32)));

/** What several oracles draw and say alike. */

/** Keep a value with probability truth / 2^32, or draw one of the others. */
const respond = (words, truth, outcomes, value) => {
  const keep = words.coin(truth);
  const other = words.below(outcomes - 1);
  return keep ? value : other + (other >= value);
};

/** All bits as if they were zero, then the item's own. */
const encoded = (words, one, zero, items, item) => {
  const bits = words.biased(zero, items);
  bits[item] = +words.coin(one);
  return bits;
};

/** How often a number holds another, and what is left. */
const split = (number, by) => [floor(number / by), number % by];

/** The first few places by their names. */
const some = (ones, named) => ones.slice(0, 8).map(named).join(", ");

const sayOnes = (_, ones, named) => {
  const more = ones.length - 8;
  return some(ones, named) + (more > 0 ? ` and ${more} more` : "");
};

const sayItem = (number, _, named) => named(number);

const sayHashed = (values) => (number) => {
  const [row, said] = split(number, values);
  return `hash value ${said} of ${values} under function ${row}`;
};

/** Words: 32 random bits each, and what is drawn from them. */

/** Probabilities are whole numbers t / 2^32. */
const ONE = 2 ** 32;
const HALF = ONE / 2;

/** Draws from words that `take` gives, so many at a time. */
const drawing = (take) => {
  /** Heads with probability threshold / 2^32: a word that equals it is tails. */
  const coin = (threshold) => take(1)[0] < threshold;

  /** A uniform number; a word of the last, incomplete run is drawn again. */
  const below = (bound) => {
    const [word] = take(1);
    return word < ONE - (ONE % bound) ? word % bound : below(bound);
  };

  /** Bits that are one with probability threshold / 2^32: a byte decides, or, where it
   * equals the threshold's first byte, a word of its own for the other 24 bits. */
  const biased = (threshold, bits) => {
    const bytes = take(2 * ceil(bits / 8)).flatMap((word) => little(word, 4));
    const [first, rest] = split(threshold, 2 ** 24);
    const one = (byte) => +(byte === first ? coin(rest * 256) : byte < first);
    return bytes.map(one).slice(0, bits);
  };

  return { coin, below, biased };
};

const RUN_OUT = {};

/** What `work` draws from a source of words. When they run out, it begins anew with twice as
 * many, or more: the first ones stay as they are, and so does what it drew from them. */
const drawn = async (source, work) => {
  let known = [];
  for (;;) {
    let taken = 0;
    const take = (count) => {
      taken += count;
      if (taken > known.length) throw RUN_OUT;
      return known.slice(taken - count, taken);
    };
    try {
      return work(drawing(take));
    } catch (problem) {
      if (problem !== RUN_OUT) throw problem;
    }
    const wanted = max(taken - known.length, known.length);
    known = [...known, ...(await source(8 * ceil(wanted / 8)))];
  }
};

/** Words that follow from a key: HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), … They come in
 * eights. */
const keyed = (key) => {
  const block = hmac(key);
  let next = 0;
  return async (count) => {
    const blocks = range(count / 8).map(() => block(four(next++)));
    const bytes = [...concat(await Promise.all(blocks))];
    return range(count).map((at) => fromLittle(bytes.slice(4 * at, 4 * at + 4)));
  };
};

/** Words that nobody can draw again. */
const fresh = (count) => {
  const most = 16_384; // getRandomValues gives 65,536 bytes at a time
  const words = new Uint32Array(count);
  for (let at = 0; at < count; at += most) crypto.getRandomValues(words.subarray(at, at + most));
  return words;
};

/** Exact numbers: what probabilities lose, rounded up. */

/** Products of whole numbers, which may be too long for floats. */
const product = (...factors) =>
  factors.reduce((all, factor) => all * BigInt(factor), 1n);

const ceiling = (over, under) => (over + under - 1n) / under;

/** The smallest float that is at least a fraction of positive whole numbers. */
const floatUp = (over, under) => {
  const scaled = over << 4096n; // so that the quotient has all digits that count
  const shift = (scaled / under).toString(2).length - 53;
  return Number(ceiling(scaled, under << BigInt(shift))) * 2 ** (shift - 4096);
};

/** Moved up past what rounding, and the platform's logarithm, can be off. */
const up = (value) => {
  const moved = value + value * 2 ** -40;
  return moved + moved * (2 ** -53 + 2 ** -105); // the next float
};

/** ln of a ratio of two products, rounded up; 0 where it would be negative. */
const loss = (over, under) => {
  const least = product(...under);
  const excess = product(...over) - least;
  if (excess <= 0n) return 0;
  return excess >> 1000n >= least ? Infinity : up(Math.log1p(floatUp(excess, least)));
};

/** ε of keeping one of so many values with probability truth / whole. */
const responseLoss = (truth, outcomes, whole = ONE) =>
  loss([truth, outcomes - 1], [whole - truth]);

/** ε of bits that are one with these probabilities (of `whole`) for the item, and for
 * every other item: two items differ in two bits. */
const unaryLoss = (one, zero, whole = ONE) =>
  loss([one, whole - zero], [zero, whole - one]);

/** ε of one message for those who know kept bits that all differ. */
const bitsLoss = (one, zero, bits) => {
  const most = max(loss([one], [zero]), loss([ONE - zero], [ONE - one]));
  return most < Infinity ? up(bits * most) : most;
};

const UNIT = 10n ** 400n;
const NANO = 10n ** 9n; // budgets are counted in units of 1e-9 ε

/** A float as people write it, times UNIT: 0.1 is a tenth. */
const written = (value) => {
  const [digits, exponent] = value.toExponential().split("e");
  const [first, rest = ""] = digits.split(".");
  return BigInt(first + rest) * 10n ** BigInt(400 + +exponent - rest.length);
};

/** So many times an ε, rounded up. */
const times = (count, value) => floatUp(BigInt(count) * written(value), UNIT);

/** What is reserved for that, in units of 1e-9: never less than the float itself. */
const nanoUp = (count, value) => {
  const reserved = (one, unit) => Number(ceiling(BigInt(count) * one * NANO, unit));
  const exact = BigInt(ceil(value * 2 ** 500));
  return max(reserved(written(value), UNIT), reserved(exact, 2n ** 500n));
};

const nanoDown = (value) => Number((written(value) * NANO) / UNIT);

const shown = (value, digits) => `${+value.toPrecision(digits)}`;

/** Memo: what a device draws once, not as a table but as a function of its secret. */

/** Keys for everything that a device draws about a task, HMAC-SHA256 under its secret; and
 * what some work draws under such a key. */
const memoOf = ({ attribute, permanent }, secret, salt) => {
  const hashed = hmac(fromHex(secret));
  const key = (...parts) => hashed(frame(fromHex(salt), attribute, permanent, ...parts));
  const draw = async (work, ...parts) => drawn(keyed(await key(...parts)), work);
  return { key, draw };
};

/** A message's id: the same for a retry, and in no relation to those of other periods. */
const idOf = async (secret, name, first, slot) => {
  const whole = await hmac(fromHex(secret))(frame("message id", name, first, four(slot)));
  return whole.slice(0, 16);
};

/** Domains: what a value is counted as. */

const MOST_ITEMS = 2 ** 30;

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
const domainOf = (read) => {
  if (read === null) return OPEN;
  const made = DOMAINS[keys(read)];
  need(made);
  return made(...valuesOf(read));
};

/** Hashes that any language computes in 32-bit integers. */

const multiplied = Math.imul;

const mixed = (word) => {
  word = multiplied(word ^ (word >>> 16), 0x85ebca6b);
  word = multiplied(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
};

/** MurmurHash3, x86, 32 bits. */
const murmur = (bytes, state) => {
  const { length } = bytes;
  const turned = (word, by) => (word << by) | (word >>> (32 - by));
  for (let at = 0; at < length; at += 4) {
    const block = fromLittle(bytes.slice(at, at + 4));
    state ^= multiplied(turned(multiplied(block, 0xcc9e2d51), 15), 0x1b873593);
    if (at + 4 <= length) state = multiplied(turned(state, 13), 5) + 0xe6546b64;
  }
  return mixed(state ^ length);
};

/** Two numbers for a text of an open vocabulary. */
const digest = (bytes) => [0x9747b28c, 0x3c6ef372].map((seed) => murmur(bytes, seed));

/** Where a digest lies in a row of `size` places. */
const place = ([first, second], row, size) =>
  mixed(first + mixed(second + multiplied(row + 1, 0x9e3779b9))) % size;

/** Σ of the products of two numbers' digits in base `prime`, modulo the prime. */
const linear = (prime, digits, one, other) => {
  const digit = (number, at) => floor(number / prime ** at) % prime;
  return range(digits).reduce((sum, at) => sum + digit(one, at) * digit(other, at), 0) % prime;
};

/** Whether a number up to 2^32 is a power of two. */
const isPower = (number) => number > 0 && !(number & (number - 1));

const isPrime = (number) => {
  for (let at = 2; at * at <= number; at++) if (number % at === 0) return false;
  return number > 1;
};

const isOdd = (bits) => {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) > 0;
};

/** Oracles for answers that are given again and again: noise that is kept, and fresh noise
 * on top. */

const SQUARE = product(ONE, ONE);

/** Two layers of response: a kept one, and one for each message, which names the device's
 * function where there are several. `stale` is how likely a symbol stays, of 2^32. */
const responses = (kept, sent, values, functions) => {
  const [ever, instant] = [kept, sent].map((one) => responseLoss(one, values));
  const others = product(values - 1);
  const truth = product(kept, sent, others) + product(ONE - kept, ONE - sent);
  return {
    lost: ever && instant && loss([truth, others], [SQUARE * others - truth]),
    ...{ ever, instant, stale: sent },
    head: functions * values,
    tracking: functions,
    send: (words, held, seed) =>
      (functions > 1 && seed * values) + respond(words, sent, values, held),
  };
};

/** Fresh noise on kept bits: a one is sent as one with probability `one` / 2^32, a zero
 * with `zero`. */
const resent = (one, zero, bits) => ({
  instant: bitsLoss(one, zero, bits),
  stale: min(one, ONE - zero),
  bits,
  send: (words, kept, seed) => {
    const ones = words.biased(one, bits);
    const zeros = words.biased(zero, bits);
    return [seed, kept.map((bit, at) => (bit ? ones : zeros)[at])];
  },
});

/** Lines of the document, and what follows from their numbers, in that order. */
const KEPT = {
  "longitudinal unary": [
    "items kept_one kept_zero kind sent_one sent_zero",
    (items, one, zero, _, sentOne, sentZero) => {
      const said = (kept) => product(kept, sentOne) + product(ONE - kept, sentZero);
      return {
        lost:
          items &&
          one > zero &&
          sentOne > sentZero &&
          sentZero &&
          sentOne < ONE &&
          unaryLoss(said(one), said(zero), SQUARE),
        ever: unaryLoss(one, zero),
        ...resent(sentOne, sentZero, items),
        keep: (words, item) => encoded(words, one, zero, items, item),
        says: sayOnes,
      };
    },
  ],

  loloha: [
    "functions items kept kind sent values",
    (functions, items, kept, _, sent, values) => {
      const layers = responses(kept, sent, values, functions);
      // linear functions collide exactly as often as chance, where they are enough
      const digits = round(Math.log(functions) / Math.log(values));
      const exact = values ** digits === functions && functions >= items;
      const hashed = (item, seed) =>
        exact && isPrime(values)
          ? linear(values, digits, seed, item)
          : place([item, item], seed, values);
      const plain = functions === 1;
      return {
        ...layers,
        lost:
          whole(functions, 1, 256) &&
          items > 1 &&
          whole(values, 2, 2 ** 20) &&
          (!plain || values === items) &&
          layers.lost,
        seed: (words) => words.below(functions),
        keep: (words, item, seed) =>
          respond(words, kept, values, plain ? item : hashed(item, seed)),
        says: plain ? sayItem : sayHashed(values),
      };
    },
  ],

  rappor: [
    "bits cohorts family flip hashes items kind sent_one sent_zero",
    (bits, cohorts, family, flip, hashes, items, _, sentOne, sentZero) => {
      const known = family === (items ? "identity" : "murmur32");
      need(known, "oracle", "cannot use MD5 here; use the family murmur32");
      const shape = items
        ? items > 1 && (bits === items || bits * items === 2) && hashes * cohorts === 1
        : whole(bits, 2, 2 ** 16) && whole(hashes, 1, min(16, bits));
      need(shape && isPower(cohorts) && cohorts <= 256); // before they are powers
      // how many bits each of two filters has that the other has not, at most
      const most = min(hashes, bits - 1) || 1;
      const ways = [most, min(hashes, bits - most)];
      const moved = product(flip, sentOne - sentZero);
      const [held, none] = [product(sentOne, ONE) - moved, product(sentZero, ONE) + moved];
      const ratios = [
        [held, none],
        [SQUARE - none, SQUARE - held],
      ];
      if (held * (SQUARE - held) < (SQUARE - none) * none) ratios.reverse(); // the larger first
      const factors = (...pairs) =>
        [0, 1].map((side) => pairs.flatMap((pair, at) => Array(ways[at]).fill(pair[side])));
      const kept = [ONE - flip, flip];
      return {
        lost: sentOne > sentZero && flip < HALF && loss(...factors(...ratios)),
        ever: loss(...factors(kept, kept)),
        ...resent(sentOne, sentZero, bits),
        head: cohorts,
        tracking: cohorts,
        seed: (words) => words.below(cohorts),
        keep: (words, item, seed) => {
          const rows = range(hashes).map((at) => place(digest(item), seed * hashes + at, bits));
          const declared = bits > 1 ? [item] : range(item); // one bit is the item itself
          const flipped = words.biased(flip, bits);
          for (const at of new Set(items ? declared : rows)) flipped[at] ^= 1;
          return flipped;
        },
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
const rounded = (words, item, top, steps) => {
  const [whole, rest] = split(item * steps, top);
  return whole + (words.below(top) < rest);
};

const sayEnd = (number) => (number ? "high" : "low");

/** A number rounded to one end of its range, and that end told truly at `truth`. */
const binary = (items, _, truth) => ({
  lost: items > 1 && responseLoss(truth, 2),
  head: 2,
  mean: true,
  draw: (words, item) =>
    respond(words, truth, 2, rounded(words, item, items - 1, 1)),
  says: sayEnd,
});

/** Lines of the document, and what follows from their numbers, in that order. */
const MEANS = {
  "binary mean": ["items kind truth", binary],

  "hybrid mean": [
    "binary inside items kind steps truth window",
    (share, inside, items, kind, steps, truth, window) => {
      const ends = binary(items, kind, truth);
      const near = loss([inside, steps], [ONE - inside, window]);
      return {
        ...ends,
        lost:
          ends.lost &&
          near &&
          [steps, window].every((one) => whole(one, 1, 2 ** 16)) &&
          (items - 1) * steps <= 2 ** 52 &&
          max(ends.lost, near),
        head: 2 + steps + window,
        draw: (words, item) => {
          if (words.coin(share)) return ends.draw(words, item);
          const start = rounded(words, item, items - 1, steps);
          const keep = words.coin(inside);
          const inner = start + words.below(window);
          const outer = words.below(steps);
          return 2 + (keep ? inner : outer + (outer >= start && window));
        },
        says: (number) =>
          number < 2 ? sayEnd(number) : `place ${number - 2} of ${steps + window}`,
      };
    },
  ],

  "one-bit mean": [
    "items kept kind sent",
    (items, kept, _, sent) => {
      const layers = responses(kept, sent, 2, 1);
      return {
        ...layers,
        lost: items > 1 && layers.lost,
        mean: true,
        rounds: true,
        seed: (words) => words.below(items - 1),
        // an answer is a side already; no answer is a place
        keep: (words, item, seed, answered) =>
          respond(words, kept, 2, answered ? item : +(item > seed)),
        says: sayEnd,
      };
    },
  ],
};

/** Oracles for answers that are given once, about declared values. */

/** Lines of the document, and what follows from their numbers, in that order. */
const ONCE = {
  "k-ary response": [
    "items kind truth",
    (items, _, truth) => ({
      lost: responseLoss(truth, items),
      head: items,
      draw: (words, item) => respond(words, truth, items, item),
      says: sayItem,
    }),
  ],

  unary: [
    "items kind one zero",
    (items, _, one, zero) => ({
      lost: items && unaryLoss(one, zero),
      bits: items,
      draw: (words, item) => [0, encoded(words, one, zero, items, item)],
      says: sayOnes,
    }),
  ],

  "subset selection": [
    "items kind size truth",
    (items, _, size, truth) => ({
      lost:
        whole(size, 1, min(items - 1, 2 ** 16)) &&
        loss([truth, items - size], [ONE - truth, size]),
      bits: items,
      // the number of sets; about, where there are many
      outcomes: range(min(size, items - size, 99)).reduce(
        (sets, at) => (sets * (items - at)) / (at + 1),
        1,
      ),
      // a set of others (Floyd's algorithm); the true item may take the place of one
      draw: (words, item) => {
        const keep = words.coin(truth);
        const others = new Set();
        for (let last = items - 1 - size; last < items - 1; last++) {
          const drawn = words.below(last + 1);
          others.add(others.has(drawn) ? last : drawn);
        }
        const listed = [...others].map((one) => one + (one >= item));
        const at = words.below(size);
        if (keep) listed[at] = item;
        const bits = Array(items).fill(0);
        for (const one of listed) bits[one] = 1;
        return [0, bits];
      },
      says: (_, ones, named) =>
        `one of ${some(ones, named)}${size > 8 ? `, … (${size} in total)` : ""}`,
    }),
  ],

  "local hashing": [
    "digits items kind prime truth",
    (digits, items, _, prime, truth) => {
      const pool = prime ** digits;
      return {
        lost:
          items &&
          digits &&
          prime < 2 ** 20 &&
          isPrime(prime) &&
          items <= pool &&
          pool < HALF &&
          responseLoss(truth, prime),
        head: pool * prime,
        draw: (words, item) => {
          const row = words.below(pool);
          return row * prime + respond(words, truth, prime, linear(prime, digits, row, item));
        },
        says: sayHashed(prime),
      };
    },
  ],

  "Hadamard response": [
    "blocks items kind side truth",
    (blocks, items, _, side, truth) => ({
      lost:
        items &&
        isPower(blocks) &&
        isPower(side) &&
        ceil(items / blocks) < side &&
        blocks * side <= ONE &&
        responseLoss(truth, 2 * blocks),
      head: blocks * side,
      draw: (words, item) => {
        const own = words.coin(truth);
        const [row, block] = split(item + blocks, blocks);
        // of 2 · blocks − 1 halves that are equally likely, one lies in the own block
        const [further] = split(words.below(2 * blocks - 1) + 1, 2);
        let column = words.below(side);
        // in the own block: change the sign, if it is wrong, by the row's lowest bit
        const near = own || !further;
        if (near && isOdd(row & column) === own) column = (column ^ (row & -row)) >>> 0;
        return (own ? block : (block + further) % blocks) * side + column;
      },
      says: (number) => `column ${number % side} of block ${split(number, side)[0]}`,
    }),
  ],
};

/** Oracles for texts that only the server has a list of. */

const isSketch = (items, rows, columns) =>
  !items && rows > 1 && columns > 1 && isPower(columns) && rows * columns <= 2 ** 27;

/** Lines of the document, and what follows from their numbers, in that order. */
const SKETCHES = {
  "count-mean sketch": [
    "columns flip items kind rows",
    (columns, flip, items, _, rows) => ({
      lost: isSketch(items, rows, columns) && unaryLoss(ONE - flip, flip),
      head: rows,
      bits: columns,
      draw: (words, item) => {
        const row = words.below(rows);
        const bits = words.biased(flip, columns);
        bits[place(digest(item), row, columns)] = +!words.coin(flip);
        return [row, bits];
      },
      says: (row, ones) => `row ${row}, and ${ones.length} of ${columns} places`,
    }),
  ],

  "Hadamard sketch": [
    "columns items kind rows truth",
    (columns, items, _, rows, truth) => ({
      lost: isSketch(items, rows, columns) && responseLoss(truth, 2),
      head: 2 * rows * columns,
      draw: (words, item) => {
        const row = words.below(rows);
        const column = words.below(columns);
        const minus = isOdd(column & place(digest(item), row, columns));
        const said = minus === words.coin(truth);
        return (row * columns + column) * 2 + said;
      },
      says: (number) => {
        const [row, column] = split(number >> 1, columns);
        return `row ${row}, column ${column}, sign ${number % 2 ? "−" : "+"}`;
      },
    }),
  ],
};

/**
 * Oracles: how an item becomes a message that says little about it.
 *
 * A message is a number below `head`, and a list of `bits` where there are some. Words are
 * drawn in the order that the page of the test vectors states. An oracle for answers that
 * are given again draws a `seed` once, what it will `keep` once for each answer, and what it
 * will `send` for each message; another one draws all with `draw`. What loses nothing is
 * refused: where numbers do not fit together, `lost` is 0 or false.
 */

const ORACLES = { __proto__: null, ...ONCE, ...SKETCHES, ...KEPT, ...MEANS };
const CHANCES = /^(truth|one|zero|flip|kept.*|sent|binary|inside)$/; // neither 0 nor 1
const MOST_BITS = 2 ** 20; // more would keep a small device busy

/** One oracle from a document; its numbers are checked before they are used. */
const single = (read) => {
  const [lines, made] = ORACLES[read.kind] ?? [];
  const { items } = read;
  const small = ([line, value]) => {
    const inner = CHANCES.test(line);
    return /kind|family/.test(line) || whole(value, +inner, ONE - inner);
  };
  const fits = keys(read) === lines && entries(read).every(small);
  need(fits && items <= MOST_ITEMS + 1);
  const usual = { head: 1, bits: 0, instant: Infinity, stale: ONE, mean: false };
  const oracle = { ...usual, ...made(...valuesOf(read)) };
  const { lost, head, bits, keep } = oracle;
  need(0 < lost && lost < Infinity && bits <= MOST_BITS && head <= 2 ** 53);
  const outcomes = head * 2 ** min(bits, 64);
  const size = sizeOf(head) + ceil(bits / 8);
  return { ever: lost, outcomes, tracking: keep ? 1 : outcomes, ...oracle, items, size };
};

/** An oracle, or several of which a device draws one, once and for all. */
const oracleOf = (read) => {
  const sampled = read.kind === "sampled";
  const parts = (sampled ? read.parts : [read]).map(single);
  const all = (line) => parts.map((part) => part[line]);
  const most = (line) => max(...all(line));
  const alike = new Set(parts.map((part) => !part.keep)).size === 1;
  const several = alike && whole(parts.length, 2, 256) && read.items === parts.length;
  need(!sampled || (keys(read) === "items kind parts" && several));
  // less fresh noise leaves what is kept to be seen
  const seen = all(most("stale") > 0.99 * ONE ? "outcomes" : "tracking");
  return {
    ...{ sampled, parts, size: sampled + most("size") },
    ...{ lost: most("lost"), ever: most("ever"), instant: most("instant") },
    kinds: seen.reduce((sum, one) => sum + one),
  };
};

/** A record: the part's number, where there are several; the number that is said, in as
 * few bytes as hold the largest; bits, the lowest first. All parts have the same size. */
const recordOf = ({ sampled, size }, { number, own }, drawn) => {
  const [said, bits = []] = [drawn].flat();
  const record = Array(size).fill(0);
  const start = [...(sampled ? [number] : []), ...little(said, sizeOf(own.head))];
  record.splice(0, start.length, ...start);
  bits.forEach((bit, at) => (record[start.length + (at >> 3)] |= bit << (at & 7)));
  return record;
};

/** How the answer to a value becomes a message. */

const HEADER = 16; // bytes of a message in front of its record

const checkBelow = (code, value, end) => {
  need(whole(value, 0, end - 1), code, `must be a whole number below ${end}`);
};

/** What stands in front of a record: which task, period and stratum. */
const header = ({ version, tag, strata, periods }, period, stratum) => {
  checkBelow("period", period, periods);
  const at = strata.length ? strata.indexOf(stratum) : -(stratum !== undefined);
  const known = strata.length ? `one of: ${strata}` : "left out: the task declares no strata";
  need(at >= 0, "stratum", `must be ${known}`);
  return [0xd1, 1, ...little(version, 2), ...tag, ...little(period, 2), at, 0];
};

/** The part of the question that a device answers, and what it draws once for it. For each
 * purpose, `draw` gives what some work draws. */
const partOf = async ({ oracle: { sampled, parts } }, draw) => {
  const number = sampled ? await draw((words) => words.below(parts.length), "part") : 0;
  const own = parts[number];
  return { number, own, seed: own.seed ? await draw(own.seed, "seed") : 0 };
};

/** The answer to a value, as [its canonical text, item]; [NONE] if it is not counted. No
 * value makes this fail: an error would tell something about it. Values that are rounded
 * alike are one answer. */
const answerOf = ({ domain }, { number, own, seed }, value) => {
  try {
    const found = domain.answer(value, number) || [NONE];
    const side = +(found[1] > seed);
    return own.rounds && found[0] !== NONE ? [`i:${side}`, side] : found;
  } catch {
    return [NONE]; // an object can do anything when it is looked at
  }
};

/** The answer as the oracle knows it. Where the domain has no "none", that is a random
 * item. */
const itemOf = ({ domain }, { number }, [text, item], draw) => {
  const [items, , none] = domain.asks[number];
  if (!items) return utf8(text);
  if (text !== NONE) return item;
  return none ? items - 1 : draw((words) => words.below(items), "none");
};

/** A message. Without noise of its own, it says the same in every period. */
const messageOf = async (task, part, answer, draw, period, stratum, slot = 0) => {
  const head = header(task, period, stratum);
  const { own, seed } = part;
  const [text] = answer;
  const item = await itemOf(task, part, answer, draw);
  const keep = (words) => own.keep(words, item, seed, text !== NONE);
  const once = (words) => own.draw(words, item);
  const kept = own.keep && (await draw(keep, "permanent", text));
  const send = (words) => own.send(words, kept, seed);
  // by the whole digest: two documents with equal tags can be made on purpose
  const when = ["instant", task.digest, four(period), four(slot), text];
  const said = await (own.keep ? draw(send, ...when) : draw(once, "once", text));
  return concat([head, recordOf(task.oracle, part, said)]);
};

/** Days and periods. Days are counted from 1970, and begin at midnight UTC. */

const DAY = 86_400_000;
const iso = (day) => new Date(day * DAY).toISOString().slice(0, 10);
const dayOf = (moment) => floor(moment / DAY);

/** The period of a day. */
const periodOf = ({ first, end, starts, expires, every }, day) => {
  needTask(day >= first && day < end, `is answered from ${starts} until before ${expires}`);
  const number = every && floor((day - first) / every);
  const begin = first + number * every;
  return { number, first: iso(begin), until: iso(every ? min(begin + every, end) : end) };
};

/** Who may ask: Ed25519 over the exact text of a document. */

/** A public key from its hexadecimal text. */
const publicKey = (text) => {
  need(isHex(text) && text.length === 64, "trust", "must be key.public, 64 hexadecimal digits");
  return fromHex(text);
};

/** Refuses a document that this key did not sign. */
const verify = async (document, signature, trusted) => {
  const name = "Ed25519";
  let right;
  try {
    const key = await subtle().importKey("raw", trusted, name, false, ["verify"]);
    right = await subtle().verify(name, key, signature, utf8(document));
  } catch {
    throw new DitherError("device", `${name} is missing; update the browser`);
  }
  needTask(right, "is not signed by the trusted key, or was changed afterwards");
};

/** What a device keeps: lists of tasks, memos, marks, reservations, messages and moments. */

const newState = (trust, budget) => ({
  ...{ format: 1, secret: newSecret(), trust, budget },
  ...{ tasks: [], memos: [], marks: [], reservations: [], messages: [], moments: [] },
});

/** The rows of a task, and all others. */
const ofTask = (rows, task) => rows.filter((one) => one.task === task.name);
const ofOthers = (rows, task) => rows.filter((one) => one.task !== task.name);

const knownTask = ({ tasks }, { name }) => tasks.find((one) => one.name === name);
const memoRow = ({ memos }, { memo }) => memos.find((one) => one.id === memo);

/** What of the budget is not reserved. */
const leftOf = ({ reservations, budget }) =>
  reservations.reduce((left, one) => left - one.cost, budget);

/** Until which day a task has been answered, in messages that `counts`. */
const answeredUntil = (state, task, known, counts = () => true) => {
  const rows = ofTask(state.messages, task).filter(counts);
  return [known, ...rows].map((one) => one.until).sort().pop();
};

/** Notes what is known of a task now. */
const note = (state, { name, version, document, memo }, known, now) => {
  state.tasks = state.tasks.filter((one) => one !== known);
  state.tasks.push({ name, version, document, memo, until: known?.until ?? "", state: now });
  forgetUnused(state);
};

/** Deletes the salts, and with them the noise, that no joined task needs. */
const forgetUnused = (state) => {
  const used = (memo) => state.tasks.some((one) => one.state === "joined" && one.memo === memo);
  state.memos = state.memos.filter((one) => used(one.id));
  state.marks = state.marks.filter((one) => used(one.memo));
};

/** The memo that a task uses, and what has to be reserved for it in addition: tasks that
 * share a memo share its reservation, the largest of theirs. */
const needed = (state, task) => {
  const { salt = newSecret(), values = 0, cost = 0 } = memoRow(state, task) ?? {};
  const most = max(task.cost, cost);
  const memo = { id: task.memo, salt, values: max(task.distinct, values), cost: most };
  return { memo, extra: most - cost };
};

/** Whether messages lose more, say more, come more often or for longer than agreed, or are
 * about something else: that another task has paid for a memo is no consent. */
const asksMore = (task, agreed) => {
  const often = ({ every, messages }, other) => every && messages * (other.every || Infinity);
  const much = ({ losses, end }) => [losses.lifetime, losses.message, losses.change, end];
  const limits = [...much(agreed), often(agreed, task)];
  const more = [...much(task), often(task, agreed)].some((one, at) => one > limits[at]);
  const strata = (one) => stringify(one.strata); // sent as they are
  return more || task.memo !== agreed.memo || strata(task) !== strata(agreed);
};

/** One name is one line of versions, and each version one document. */
const checkSuccessor = (known, { version, document }) => {
  needTask(known.state !== "stopped", "was stopped permanently");
  const newest = `version ${known.version}, which this device knows`;
  needTask(version >= known.version, `is older than ${newest}`);
  const same = version > known.version || document === known.document;
  needTask(same, `is another document than ${newest}`);
};

const CONSENT = "ask the owner of the device, then call client.join(task)";

/** What is known of a task that was joined, and not left. */
const present = (state, task) => {
  const known = knownTask(state, task);
  needTask(known && known.state !== "left", `has not been joined, or was left; ${CONSENT}`);
  return known;
};

/** What is known of a task; an error if it may not be answered as it is. */
const joinedAs = (state, task) => {
  const known = present(state, task);
  checkSuccessor(known, task);
  return known;
};

/** The period of a day, if it may still be answered. Where a later one has been, the clock
 * has gone back, or a new version counts in another way: to answer it now would be one
 * more message than time allows. */
const openPeriod = (state, task, day) => {
  const known = joinedAs(state, task);
  const same = task.version === known.version;
  needTask(same, "is newer than the joined version; call client.update(task) first");
  const period = periodOf(task, day);
  const others = (one) => one.first !== period.first || one.until !== period.until;
  const answered = answeredUntil(state, task, known, others);
  const later = `was answered until before ${answered}; answer it later`;
  needTask(period.first >= answered, later);
  return period;
};

/** The answer, or "none" where the device has used up its distinct values. A task keeps to
 * its own number; all tasks of a memo together keep to what was reserved. */
const allowed = (state, task, answer, mark) => {
  if (answer[0] === NONE) return answer;
  const { memo, name, distinct } = task;
  const marks = state.marks.filter((one) => one.memo === memo);
  const own = ofTask(marks, task).map((one) => one.mark);
  if (own.slice(0, distinct).includes(mark)) return answer;
  const everyone = new Set(marks.map((one) => one.mark)).add(mark);
  const fits = own.length < distinct && everyone.size <= memoRow(state, task).values;
  if (!fits) return [NONE];
  state.marks.push({ memo, task: name, mark });
  return answer;
};

/** Stores: one text, with a version that grows by one. */

/** The device's text in IndexedDB, on the disk before `save` says so. */
class IndexedDBStore {
  constructor(name = "dither") {
    this.name = name;
  }

  load() {
    return within(this.name, "readonly");
  }

  async save(text, version) {
    const follows = (found) => (found?.version ?? 0) === version - 1;
    const put = (found, rows) => follows(found) && rows.put({ text, version }, "state");
    return follows(await within(this.name, "readwrite", put));
  }
}

/** What is stored, and then some work in the same transaction. One connection for each, so
 * that tabs need no care for each other. */
const within = async (name, mode, work = () => {}) => {
  const table = "device";
  const asked = indexedDB.open(name, 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore(table);
  const file = await settled(asked, "onsuccess");
  try {
    const transaction = file.transaction(table, mode, { durability: "strict" });
    const rows = transaction.objectStore(table);
    const request = rows.get("state");
    request.onsuccess = () => work(request.result, rows);
    await settled(transaction, "oncomplete");
    return request.result;
  } finally {
    file.close();
  }
};

/** What a request or a transaction ends with. */
const settled = (target, event) =>
  new Promise((resolve, reject) => {
    target[event] = () => resolve(target.result);
    target.onerror = target.onabort = () => reject(target.error);
  });

/** A task's document: every line of it, and its promise against the oracle's integers. */

const TRACKING = 256; // kept messages of more kinds would tell devices apart

const between = (low, high) => (value) => whole(value, low, high);
const isName = (text) =>
  isText(text) && canonical(text) === `s:${text}` && [...text].length <= 100;
const isDay = (day) => iso(Date.parse(day) / DAY) === day && day > "0001";
const isPromise = (value) => value > 0;

const areStrata = (strata) => {
  const known = strata.map((one) => isText(one) && canonical(one));
  return differ(known) && known.length <= 256 && known.every(Boolean);
};

/** What each line must be; of two of them, something is made. */
const LINES = {
  attribute: isName,
  distinct: between(1, 2 ** 20),
  domain: domainOf,
  epsilon: isPromise,
  every: between(0, 366),
  expires: isDay,
  for_ever: isPromise,
  format: (format) => format === "dither local task, 1",
  messages: between(1, 255),
  minimum: between(2, 2 ** 40),
  name: isName,
  oracle: oracleOf,
  starts: isDay,
  stopped: isFlag,
  strata: areStrata,
  version: between(1, 65_535),
};

/** A number as Python writes it. */
const asReal = (value) => {
  const [digits, exponent] = value.toExponential().split("e");
  if (exponent < -4 || exponent > 15) {
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : value;
};

/** JSON.parse rounds numbers, and takes 1.0 for 1: what it reads must be what is written. */
const readFrom = (document) => {
  const read = parse(document);
  need(keys(read) === keys(LINES), "document");
  const promises = /"(epsilon|for_ever)":[^,]*/g;
  const real = (_, line) => `"${line}":${asReal(read[line])}`;
  const again = stringify(read).replace(promises, real);
  need(again === document, "document", "is not in the exact form that is signed");
  return read;
};

/** Every line of a document, and its promise against the oracle's integers. */
const checked = (document) => {
  const read = readFrom(document);
  const made = {};
  for (const [line, fits] of entries(LINES)) {
    made[line] = tried(line, () => fits(read[line]));
    need(made[line], line);
  }
  const { domain, oracle } = made;
  checkPromises(read, domain, oracle);
  const dates = datesOf(read);
  // what no kept answer depends on is left out
  const lasting = (line, value) => (/^sent/.test(line) ? undefined : value);
  const permanent = stringify({ domain: read.domain, oracle: read.oracle }, lasting);
  return { ...read, ...dates, domain, oracle, permanent, document };
};

const datesOf = ({ starts, expires, every }) => {
  const [first, end] = [starts, expires].map((day) => Date.parse(day) / DAY);
  const periods = every ? ceil((end - first) / every) : 1;
  need(first < end && periods <= 65_536, "expires");
  return { first, end, periods };
};

const checkPromises = (read, { asks, once }, { parts, kinds, lost, ever }) => {
  const { every, distinct, messages } = read;
  for (const [line, really] of entries({ epsilon: lost, for_ever: ever }))
    need(really <= read[line], line, `must cover the privacy loss: ${shown(really, 6)}`);
  // each part must be of a kind that answers what is asked
  const fit = ([items, mean], at) => parts[at].items === items && parts[at].mean === mean;
  const all = parts.length === asks.length && asks.every(fit);
  need(all, "oracle", "must fit the domain");
  const single = distinct * messages === 1;
  if (!every) return need(single, "every", "is required if distinct or messages is above 1");
  const sides = parts.some((part) => part.rounds);
  need(!sides || distinct > 1, "distinct", "must be at least 2 for a mean");
  need(!once, "every", "must be 0 for words, which are asked for once");
  need(kinds <= TRACKING, "oracle", "cannot be used: kept messages would identify devices");
};

/** A task: the one document that device and server share. */

/** A question to devices; `Task.fromJSON` reads one. */
class Task {
  /** Read what Python's `task.to_json()` wrote, and check every line of it. With `trust`,
   * a public key, the signature is checked first; a client checks it when it joins, too. */
  static async fromJSON(text, { trust } = {}) {
    const { task, signature } = tried("text", () => ({ ...parse(text) }));
    const signed = isText(task) && wellFormed(task) && isHex(signature);
    need(signed, "text", "is not a signed task; pass what task.to_json() returned");
    const bytes = fromHex(signature);
    if (trust !== undefined) await verify(task, bytes, publicKey(trust));
    return Task.fromDocument(task, bytes);
  }

  /** A task from the text that is signed. */
  static async fromDocument(document, signature = new Uint8Array()) {
    const read = tried("document", () => checked(document));
    const { every, name, starts, attribute, distinct, domain, oracle } = read;
    const digest = await sha256(utf8(document));
    const permanent = await sha256(utf8(read.permanent));
    // a task that is answered once has a memo of its own: its message may be unique
    const own = every ? [] : [name, starts];
    const memo = toHex(await sha256(frame(attribute, permanent, ...own)));
    // how many answers a device can have kept: distinct values, and "none"
    const answers = every ? min(distinct, domain.different) + 1 : 1;
    // the ε of a message, of all about one value, of each message against those whose
    // answers change at other times, and of all messages for ever
    const { lost: message, ever: value, instant: change } = oracle;
    const losses = freeze({ message, value, change, lifetime: times(answers, value) });
    const cost = nanoUp(answers, value); // what a device reserves, in units of 1e-9 ε
    const known = { signature, digest, tag: digest.slice(0, 8), permanent, memo };
    return freeze(Object.assign(new Task(), { ...read, ...known, answers, losses, cost }));
  }

  /** What a message says, in words. */
  inWords(message) {
    const { sampled, parts } = this.oracle;
    const number = sampled ? message[HEADER] : 0;
    const { head, bits, says } = parts[number];
    const start = HEADER + sampled;
    const end = start + sizeOf(head);
    const ones = range(bits).filter((at) => (message[end + (at >> 3)] >> (at & 7)) & 1);
    const named = (item) => this.domain.name(item, number);
    const said = says(fromLittle(message.slice(start, end)), ones, named);
    return sampled ? `question ${number + 1} of ${parts.length}: ${said}` : said;
  }

  /** A message with fresh noise, as if from a device of its own: for tests, and pages that
   * show what noise does. A device answers with `client.answer`. */
  async rehearse(value, { period = 0, stratum } = {}) {
    const draw = (work) => drawn(fresh, work);
    const part = await partOf(this, draw);
    return messageOf(this, part, answerOf(this, part, value), draw, period, stratum);
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
  #change; // reads and writes what is stored
  #trust;

  /** Open the device in `store` (IndexedDB, if none is passed), or make a new one there.
   * `budget` is the ε of everything it ever joins, `trust` the public key whose tasks it
   * accepts; both are fixed when the device is made. */
  static async open({ store = globalThis.indexedDB && new IndexedDBStore(), budget, trust }) {
    const usual = typeof budget === "number" && 1e-6 <= budget && budget <= 1e6;
    need(usual, "budget", "must be an ε between 1e-6 and 1e6");
    need(store, "device", "the device needs a store that lasts; pass one");
    const client = new Client();
    client.#trust = publicKey(trust);
    const device = newState(toHex(client.#trust), nanoDown(budget));
    client.#change = changing(store, device);
    client.budget = device.budget / 1e9;
    // if another tab is faster, its device is the one
    const save = async () => (await store.load()) || store.save(stringify(device), 1);
    await asked(save);
    await client.left();
    return freeze(client);
  }

  /** What of the budget is not reserved. */
  left() {
    return this.#change((state) => leftOf(state) / 1e9);
  }

  async #agree(task, work) {
    needTask(task instanceof Task, "must be a Task; read one with Task.fromJSON(text)");
    await verify(task.document, task.signature, this.#trust);
    await this.#change((state) => work(state, knownTask(state, task)));
  }

  /** Agree to a task, after its owner has: reserve what it may ever lose. */
  join(task) {
    return this.#agree(task, (state, known) => {
      const open = !task.stopped && dayOf(Date.now()) < task.end;
      needTask(open, "was stopped or has ended, and cannot be joined");
      if (known) {
        checkSuccessor(known, task);
        if (known.state === "joined" && known.version === task.version) return;
        const last = iso(task.first + (task.periods - 1) * task.every);
        const answered = last < answeredUntil(state, task, known);
        needTask(!answered, "has no unanswered period left");
      }
      reserve(state, task, known);
    });
  }

  /** Take over a newer version; a stopped one ends all answers for good, also one that was
   * never joined. A version that reserves, loses or says more needs consent again: it is
   * refused, and can be joined. */
  update(task) {
    return this.#agree(task, async (state, known) => {
      if (task.stopped) {
        if (known?.state === "stopped") return;
        if (known) checkSuccessor(known, task);
        return note(state, task, known, "stopped");
      }
      joinedAs(state, task);
      if (known.version === task.version) return;
      const agreed = await Task.fromDocument(known.document);
      const more = needed(state, task).extra || asksMore(task, agreed);
      needTask(!more, `requires more than the owner agreed to; ${CONSENT}`);
      reserve(state, task, known);
    });
  }

  /** Delete the messages of a task, and its memo if no other task shares it. What was
   * reserved stays reserved: what was sent cannot be taken back. */
  leave(task) {
    return this.#change((state) => {
      const known = present(state, task);
      known.until = answeredUntil(state, task, known);
      if (known.state === "joined") known.state = "left";
      state.messages = ofOthers(state.messages, task);
      state.moments = ofOthers(state.moments, task);
      forgetUnused(state);
    });
  }

  /** The message for this period: the same bytes whatever is asked again. Ask in every
   * period, also when there is nothing to say (null): silence would tell. */
  async answer(task, value, options) {
    return (await this.parcel(task, value, options)).slice(18);
  }

  /** The message behind its id, ready to be sent: POST it to /v1/messages. */
  async parcel(task, value, { slot = 0, stratum } = {}) {
    checkBelow("slot", slot, task.messages);
    header(task, 0, stratum);
    const { message, id } = await this.#change((state) => {
      joinedAs(state, task);
      const now = Date.now(); // looked at once: it may go on, or back
      const day = iso(dayOf(now));
      const around = (one) => one.slot === slot && one.first <= day && day < one.until;
      const made = ofTask(state.messages, task).find(around);
      return made ?? newMessage(state, task, value, now, slot, stratum);
    });
    return concat([[0xd4, 1], fromHex(id), fromHex(message)]);
  }

  /** When to send the message of this period: a moment that is drawn once, from what was
   * left of the period when it was first asked for. */
  async when(task, { slot = 0 } = {}) {
    checkBelow("slot", slot, task.messages);
    const { at } = await this.#change((state) => {
      joinedAs(state, task);
      const now = Date.now();
      const { first } = periodOf(task, dayOf(now));
      const same = (one) => one.slot === slot && one.first === first;
      return ofTask(state.moments, task).find(same) ?? newMoment(state, task, now, slot);
    });
    return new Date(at);
  }

  /** What left this device, oldest first, for its owner to read. It says nothing for sure:
   * `epsilon` bounds how much. */
  sent() {
    const byTime = (one, other) => (one.at > other.at) - (one.at < other.at);
    return this.#change(({ messages }) =>
      messages.map((one) => ({ ...one, toString: inLine })).sort(byTime),
    );
  }
}

const needStore = (condition, why) =>
  need(condition, "device", `nothing was sent: the store ${why}`);

const asked = async (work) => {
  try {
    return await work();
  } catch (problem) {
    needStore(false, `failed (${problem}); try again`);
  }
};

/** Read, work, and write only if nobody else has written in between; else begin anew.
 * So what `work` returns follows from what is stored, and is stored. */
const changing = (store, device) => async (work) => {
  for (let turn = 0; turn < TRIES; turn++) {
    const found = await asked(() => store.load());
    needStore(found, "was cleared; open the client again");
    const state = tried("device", () => stateFrom(found.text, device), DAMAGED);
    const result = await work(state);
    const text = stringify(state);
    if (text === found.text || (await asked(() => store.save(text, found.version + 1))))
      return result;
  }
  needStore(false, "is busy; try again");
};

const DAMAGED = "the store is damaged; clear it to begin as a new device";

const stateFrom = (text, { trust, budget }) => {
  const state = parse(text);
  const right = state.format === 1 && /^[0-9a-f]{64}$/.test(state.secret);
  need(right, "device", DAMAGED);
  need(state.trust === trust, "trust", "must be the key that this device was made with");
  need(state.budget === budget, "budget", `must be ${state.budget / 1e9} for this device`);
  return state;
};

const reserve = (state, task, known) => {
  const { memo, extra } = needed(state, task);
  const { name } = task;
  const left = leftOf(state);
  const short = `reserves ε = ${extra / 1e9}, but only ${left / 1e9} of the budget remains`;
  need(extra <= left, "budget", `the task '${name}' ${short}`);
  if (extra) state.reservations.push({ day: iso(dayOf(Date.now())), task: name, cost: extra });
  state.memos = [...state.memos.filter((one) => one.id !== memo.id), memo];
  note(state, task, known, "joined");
};

/** A sent message on one line, without the control characters a value may have. */
function inLine() {
  const { at, task, version, first, slot, said, epsilon, message } = this;
  const when = `${at.slice(0, 16).replace("T", " ")} UTC  ${task} (version ${version})`;
  const which = `period from ${first}${slot ? `, message ${slot + 1}` : ""}`;
  const what = `your answer was turned into “${said}”, ε = ${shown(epsilon, 4)}`;
  const text = `${when}, ${which}: ${what}, ${message.length / 2} bytes`;
  return text.replace(/(?! )[\p{C}\p{Z}]/gu, (sign) => `\\u{${sign.codePointAt().toString(16)}}`);
}

const memoFor = (state, task) => memoOf(task, state.secret, memoRow(state, task).salt);

/** A new message, noted in the state. */
const newMessage = async (state, task, value, now, slot, stratum) => {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const { secret, messages } = state;
  const { name, version, oracle } = task;
  const { key, draw } = memoFor(state, task);
  const part = await partOf(task, draw);
  const wanted = answerOf(task, part, value);
  const answer = allowed(state, task, wanted, toHex(await key("mark", wanted[0])));
  const message = await messageOf(task, part, answer, draw, number, stratum, slot);
  const id = toHex(await idOf(secret, name, first, slot));
  const said = task.inWords(message) + (stratum === undefined ? "" : `, stratum ${stratum}`);
  const row = {
    ...{ at: new Date(now).toISOString(), task: name, version, first, until, slot },
    ...{ said, epsilon: oracle.lost, id, message: toHex(message) },
  };
  messages.push(row);
  return row;
};

/** A new moment, noted in the state. */
const newMoment = async (state, task, now, slot) => {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const seconds = floor((Date.parse(until) - now) / 1000);
  const below = (words) => words.below(min(max(seconds, 1), ONE));
  const { draw } = memoFor(state, task);
  const later = await draw(below, "when", task.tag, four(number), four(slot));
  const row = { task: task.name, slot, first, at: (floor(now / 1000) + later) * 1000 };
  state.moments.push(row);
  return row;
};

export { Client, DitherError, IndexedDBStore, Task };
