-- declared texts, of which one never occurs and one that occurs is not declared
SELECT ward, COUNT(*), SUM(cost), SUM(change) FROM visits GROUP BY ward;
SELECT ward, COUNT(*), SUM(cost), SUM(change) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward;

-- NULL where it is declared
SELECT sex, COUNT(*), SUM(height), SUM(weight) FROM patients GROUP BY sex;

-- truths
SELECT urgent, COUNT(*), SUM(paid) FROM visits GROUP BY urgent;
SELECT urgent, COUNT(*), SUM(paid) FROM visits WHERE urgent IS NOT NULL GROUP BY urgent;

-- two keys
SELECT ward, urgent, COUNT(*) FROM visits GROUP BY ward, urgent;
SELECT ward, urgent, COUNT(*) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') AND urgent IS NOT NULL GROUP BY ward, urgent;

-- three keys of three types
SELECT sex, urgent, cost > 1000 AS expensive, COUNT(*), SUM(cost) FROM visits JOIN patients USING (patient_id) GROUP BY ALL;
SELECT sex, urgent, cost > 1000, COUNT(*), SUM(cost) FROM visits JOIN patients USING (patient_id) WHERE urgent IS NOT NULL AND cost IS NOT NULL GROUP BY ALL;

-- bins of integers
SELECT cost // 500 AS bin, COUNT(*), SUM(cost) FROM visits GROUP BY bin;
SELECT cost // 500 AS bin, COUNT(*), SUM(cost) FROM visits WHERE cost IS NOT NULL GROUP BY bin;

-- bins of integers of both signs
SELECT CAST(FLOOR(change / 10) AS INTEGER) AS bin, COUNT(*) FROM visits GROUP BY bin;

-- bins of reals
SELECT CAST(FLOOR(weight / 10) AS INTEGER) * 10 AS kilos, COUNT(*) FROM patients GROUP BY kilos;
SELECT CAST(FLOOR(weight / 10) AS INTEGER) * 10 AS kilos, COUNT(*) FROM patients WHERE weight IS NOT NULL GROUP BY kilos;

-- bands
SELECT CASE WHEN cost < 1000 THEN 'low' WHEN cost < 3000 THEN 'middle' ELSE 'high' END AS band, COUNT(*), SUM(cost) FROM visits GROUP BY band;

-- a band that leaves rows out
SELECT CASE WHEN cost < 1000 THEN 'low' WHEN cost > 3000 THEN 'high' END AS band, COUNT(*) FROM visits GROUP BY band;
SELECT CASE WHEN cost < 1000 THEN 'low' WHEN cost > 3000 THEN 'high' END AS band, COUNT(*) FROM visits WHERE cost < 1000 OR cost > 3000 GROUP BY band;

-- a function of a declared key
SELECT LOWER(ward) AS ward, COUNT(*) FROM visits GROUP BY LOWER(ward);
SELECT LOWER(ward) AS ward, COUNT(*) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY LOWER(ward);

-- several keys that become one
SELECT CASE ward WHEN 'A' THEN 'old' WHEN 'B' THEN 'old' ELSE 'new' END AS wing, COUNT(*) FROM visits GROUP BY wing;

-- NULL made into a key
SELECT COALESCE(ward, 'none') AS ward, COUNT(*) FROM visits GROUP BY 1;
SELECT COALESCE(ward, 'none') AS ward, COUNT(*) FROM visits WHERE ward IS DISTINCT FROM 'E' GROUP BY 1;

-- a small range of integers
SELECT severity, COUNT(*) FROM diagnoses GROUP BY severity;

-- a key that is not shown
SELECT COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n;
SELECT COUNT(v.visit_id) AS n FROM (VALUES ('A'), ('B'), ('C'), ('D'), ('closed')) AS w(ward) LEFT JOIN visits v USING (ward) GROUP BY ward ORDER BY n;

-- a key of a public table
SELECT country, COUNT(*), SUM(height) FROM patients JOIN regions USING (region) GROUP BY country;

-- names in a public table that declared keys lead to
SELECT nurse, COUNT(*), SUM(hours) FROM visits JOIN shifts USING (ward) GROUP BY nurse;
SELECT nurse, COUNT(*), SUM(hours) FROM visits JOIN shifts USING (ward) WHERE nurse IN (SELECT nurse FROM shifts WHERE ward IN ('A', 'B', 'C', 'D', 'closed')) GROUP BY nurse;

-- expressions of two columns of a public table, some of whose rows have no partner
SELECT UPPER(s.nurse) AS who, s.hours > 5 AS long, COUNT(*) FROM visits v LEFT JOIN shifts s ON v.ward = s.ward AND s.hours > 2 GROUP BY who, long;
SELECT UPPER(s.nurse) AS who, s.hours > 5 AS long, COUNT(*) FROM visits v JOIN shifts s ON v.ward = s.ward AND s.hours > 2 WHERE nurse IN (SELECT nurse FROM shifts WHERE ward IN ('A', 'B', 'C', 'D', 'closed')) AND s.hours IS NOT NULL GROUP BY who, long;
