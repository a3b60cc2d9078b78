-- integers
SELECT SUM(cost) FROM visits;

-- integers of both signs
SELECT SUM(change), SUM(-change), SUM(ABS(change)), SUM(SIGN(change)) FROM visits;

-- integers far from zero
SELECT SUM(height), SUM(height - 130) FROM patients;

-- reals on the grid
SELECT SUM(paid), SUM(paid - 512), SUM(-paid) FROM visits;

-- reals of a table with one row for each unit
SELECT SUM(weight) FROM patients;

-- reals off the grid
--: about 1e-5
SELECT SUM(share), SUM(share * 100) FROM visits;

-- NULL counts for nothing
SELECT SUM(cost), SUM(COALESCE(cost, 7)), SUM(IFNULL(paid, 0)) FROM visits;

-- products and differences
SELECT SUM(cost * change), SUM(cost - change), SUM(cost * 3 + change) FROM visits;

-- CASE
SELECT SUM(CASE WHEN urgent THEN cost WHEN ward = 'A' THEN -change ELSE 1 END) FROM visits;

-- CASE of a value, without ELSE
SELECT SUM(CASE ward WHEN 'A' THEN cost WHEN 'B' THEN 2 * cost END) AS total FROM visits;

-- IF, NULLIF, LEAST and GREATEST
SELECT SUM(IF(urgent, cost, 0)), SUM(NULLIF(change, 0)), SUM(LEAST(cost, 1000)), SUM(GREATEST(change, -10, -20)) FROM visits;

-- modulo and whole division
SELECT SUM(cost % 7), SUM(cost // 7), SUM(change % 7), SUM(change // 7) FROM visits;

-- rounding
SELECT SUM(ROUND(paid)), SUM(FLOOR(paid)), SUM(CEIL(paid)), SUM(ROUND(cost, -2)) FROM visits;

-- rounding to what is not on the grid
--: about 1e-5
SELECT SUM(ROUND(paid, 1)), SUM(ROUND(share, 2)) FROM visits;

-- casts
SELECT SUM(CAST(paid AS INTEGER)), SUM(cost::DOUBLE), SUM(CAST(CAST(cost AS VARCHAR) AS INTEGER) % 10) FROM visits;

-- what a cast cannot read is NULL
SELECT SUM(LEAST(GREATEST(TRY_CAST(SUBSTRING(note, 5, 1) AS INTEGER), 0), 9)) AS total FROM visits;

-- division gives reals, and NULL by zero
--: about 1e-5
SELECT SUM(cost / 8), SUM(LEAST(100 / cost, 100)) FROM visits;
SELECT SUM(cost / 8), SUM(LEAST(100 / NULLIF(cost, 0), 100)) FROM visits;

-- functions of reals
--: about 1e-4
SELECT SUM(SQRT(cost)), SUM(LN(cost + 1)), SUM(EXP(share)), SUM(POWER(share, 2)) FROM visits;

-- lengths of texts
SELECT SUM(LEAST(LENGTH(note), 20)), SUM(LEAST(LENGTH(TRIM(UPPER(note))), 20)) FROM visits;

-- FILTER
SELECT SUM(cost) FILTER (WHERE ward = 'A') AS a, SUM(change) FILTER (WHERE cost BETWEEN 100 AND 2000) AS b FROM visits;

-- many aggregates at once
SELECT COUNT(*), SUM(cost), SUM(change), SUM(paid), COUNT(DISTINCT patient_id), COUNT(DISTINCT doctor) FROM visits;

-- modulo and whole division by what is negative
SELECT SUM(change % -7), SUM(change // -7), SUM(-change % 7) FROM visits;

-- halves are rounded away from zero, and cast to the even side
SELECT SUM(ROUND(change / 4)), SUM(ROUND(paid)), SUM(CAST(change / 4 AS INTEGER)), SUM(CAST(paid AS INTEGER)) FROM visits;

-- large numbers
--: radius 1e14
SELECT SUM(cost * 100000000) AS a, SUM(cost * cost * cost) AS b FROM visits;

-- products beyond 64 bits are reals
--: radius 1e26 about 1e-6
SELECT SUM(LEAST(cost * 100000000000000000000, 1e22)) AS a FROM visits;

-- what has no value is NULL
SELECT COUNT(SQRT(change)), COUNT(LN(change)), COUNT(1 / change) FROM visits;
SELECT COUNT(*) FILTER (WHERE change >= 0), COUNT(*) FILTER (WHERE change > 0), COUNT(*) FILTER (WHERE change <> 0) FROM visits;
