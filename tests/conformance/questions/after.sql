-- arithmetic over aggregates
SELECT SUM(cost) - 2 * SUM(change) AS d, SUM(cost) * 3 AS t, -COUNT(*) AS n, COUNT(*) % 10 AS digit, COUNT(*) // 7 AS weeks FROM visits;

-- ratios
SELECT SUM(cost) / COUNT(*) AS each, 100.0 * COUNT(*) FILTER (WHERE urgent) / COUNT(*) AS percent, COUNT(*) / NULLIF(COUNT(*) - COUNT(*), 0) AS none FROM visits;

-- functions of aggregates
SELECT GREATEST(COUNT(*), 1000) AS g, CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS how, SUM(cost) > SUM(paid) AS more, CAST(COUNT(*) AS VARCHAR) || ' rows' AS words FROM visits;

-- rounded
SELECT ROUND(SUM(cost) / COUNT(*), 2) AS each, ROUND(SUM(paid)) AS paid, FLOOR(SUM(cost) / 1000) AS thousands, ABS(SUM(change)) AS change FROM visits;

-- HAVING
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 20;
SELECT ward, COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward HAVING n > 20;

-- HAVING with an aggregate that is not shown
SELECT ward, SUM(cost) FROM visits GROUP BY ward HAVING COUNT(*) FILTER (WHERE urgent) > 5 AND ward <> 'A';
SELECT ward, SUM(cost) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward HAVING COUNT(*) FILTER (WHERE urgent) > 5 AND ward <> 'A';

-- HAVING without keys, true
SELECT COUNT(*) FROM visits HAVING COUNT(*) > 100;

-- HAVING without keys, false
SELECT COUNT(*) FROM visits HAVING COUNT(*) > 100000;

-- ORDER BY a number, then a key
SELECT severity, COUNT(*) AS n FROM diagnoses GROUP BY severity ORDER BY n DESC, severity;

-- ORDER BY place and expression
SELECT severity, COUNT(*) FROM diagnoses GROUP BY severity ORDER BY 2, -severity;

-- ORDER BY an aggregate that is not shown
SELECT severity FROM diagnoses GROUP BY severity ORDER BY COUNT(*) DESC, severity;

-- LIMIT and OFFSET
SELECT severity, COUNT(*) AS n FROM diagnoses GROUP BY severity ORDER BY n DESC, severity LIMIT 2 OFFSET 1;

-- LIMIT 0
SELECT severity, COUNT(*) FROM diagnoses GROUP BY severity ORDER BY severity LIMIT 0;

-- the most frequent private keys
--: noise Gaussian
SELECT doctor, COUNT(*) AS n FROM visits GROUP BY doctor HAVING n > 10 ORDER BY n DESC, doctor LIMIT 3;
SELECT doctor, COUNT(*) AS n FROM visits WHERE doctor IS NOT NULL GROUP BY doctor HAVING n > 10 ORDER BY n DESC, doctor LIMIT 3;

-- a label and keys twice
SELECT 'all' AS label, severity, severity + 1 AS next, COUNT(*) FROM diagnoses GROUP BY severity ORDER BY severity;

-- the same aggregate twice
SELECT COUNT(*), COUNT(*), SUM(cost), SUM(cost) + COUNT(*) FROM visits;

-- NULL comes last
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex DESC;

-- ORDER BY ALL
SELECT urgent, ward, SUM(cost) FROM visits GROUP BY ALL ORDER BY ALL;
SELECT u, w, COALESCE(SUM(cost), 0) FROM (VALUES (TRUE), (FALSE)) a(u) CROSS JOIN (VALUES ('A'), ('B'), ('C'), ('D'), ('closed')) b(w) LEFT JOIN visits ON urgent = u AND ward = w GROUP BY ALL ORDER BY ALL;
