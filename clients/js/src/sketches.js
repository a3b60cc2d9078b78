/** Oracles for texts that only the server has a list of. */
import { split } from "./drawing.js";
import { responseLoss, unaryLoss } from "./exact.js";
import { digest, isOdd, isPower, place } from "./hashes.js";
import { ONE } from "./words.js";

const isSketch = (items, rows, columns) =>
  !items && rows > 1 && columns > 1 && isPower(columns) && rows * columns <= 2 ** 27;

/** Lines of the document, and what follows from their numbers, in that order. */
export const SKETCHES = {
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
