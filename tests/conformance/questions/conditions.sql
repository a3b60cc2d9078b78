-- comparisons
SELECT COUNT(*), SUM(cost) FROM visits WHERE cost >= 100 AND cost < 3000 AND change <> 0 AND NOT change = 5;

-- BETWEEN and IN
SELECT COUNT(*) FROM visits WHERE cost BETWEEN 500 AND 2500 AND ward IN ('A', 'C', 'E') AND change NOT IN (1, 2, 3);

-- NULL in three-valued logic
SELECT COUNT(*) FROM visits WHERE (urgent OR cost > 1000) AND NOT (urgent AND cost < 2000);

-- IS NULL and IS DISTINCT FROM
SELECT COUNT(*) FROM visits WHERE (note IS NULL OR cost IS NOT NULL) AND ward IS DISTINCT FROM 'A' AND urgent IS NOT TRUE;

-- LIKE
SELECT COUNT(*) FROM visits WHERE note LIKE 'Check%' OR note LIKE '_l_';

-- ILIKE, NOT LIKE and ESCAPE
SELECT COUNT(*) FILTER (WHERE note ILIKE 'check%') AS a, COUNT(*) FILTER (WHERE note NOT LIKE '%u%') AS b, COUNT(*) FILTER (WHERE note LIKE '%!%' ESCAPE '!') AS c FROM visits;

-- text functions
SELECT COUNT(*) FROM visits WHERE STARTS_WITH(note, 'flu') OR CONTAINS(note, 'leg') OR LEFT(note, 2) = 'ét' OR UPPER(note) = 'CHECK-UP';

-- an empty text is not NULL
SELECT COUNT(*), COUNT(note) FROM visits WHERE note = '' OR LENGTH(note) = 0;

-- CONCAT leaves NULLs out and || does not
SELECT COUNT(ward || doctor) AS both, COUNT(CONCAT(ward, doctor)) AS all_rows, COUNT(*) FILTER (WHERE CONCAT(ward, doctor) = 'ALi') AS one FROM visits;

-- CASE in WHERE
SELECT COUNT(*) FROM visits WHERE CASE WHEN urgent THEN cost > 100 ELSE change > 0 END;

-- an expression of aggregates in FILTER conditions only
SELECT SUM(cost) FILTER (WHERE urgent IS NULL) AS unknown, SUM(cost) FILTER (WHERE urgent IS NOT NULL) AS known FROM visits;

-- ids compared as whole numbers
SELECT COUNT(*) FROM visits WHERE patient_id > 9007199254741000 AND patient_id <> 9007199254741003;

-- a column under another name
SELECT COUNT(*), SUM(v.cost) FROM visits AS v WHERE v.change > 0;

-- names in any case
SELECT Count(*), SUM(Cost) FROM VISITS WHERE URGENT;

-- texts in order
SELECT COUNT(*) FILTER (WHERE note < 'd') AS a, COUNT(*) FILTER (WHERE note >= 'flu') AS b, COUNT(*) FILTER (WHERE ward > doctor) AS c FROM visits;

-- truths compared
SELECT COUNT(*) FILTER (WHERE urgent = TRUE) AS a, COUNT(*) FILTER (WHERE urgent IS TRUE) AS b, COUNT(*) FILTER (WHERE urgent <> (cost > 1000)) AS c FROM visits;

-- casts to text
SELECT COUNT(*) FILTER (WHERE CAST(urgent AS VARCHAR) = 'true') AS a, COUNT(*) FILTER (WHERE CAST(day AS VARCHAR) LIKE '2022-0%') AS b, COUNT(*) FILTER (WHERE CAST(paid AS VARCHAR) LIKE '%.5') AS c FROM visits;

-- texts backwards
SELECT COUNT(*) FILTER (WHERE STARTS_WITH(REVERSE(note), 'pu')) AS a, COUNT(*) FILTER (WHERE REVERSE(note || '🎉é') LIKE 'é🎉u%') AS b FROM visits;

-- parts of texts
SELECT COUNT(*) FILTER (WHERE SUBSTRING(note, 2, 2) = 'lu') AS a, COUNT(*) FILTER (WHERE SUBSTRING(note, -2, 2) = 'up') AS b FROM visits;

-- NULL in a list
SELECT COUNT(*) FILTER (WHERE ward IN ('A', NULL)) AS a, COUNT(*) FILTER (WHERE ward NOT IN ('A', NULL)) AS b FROM visits;
