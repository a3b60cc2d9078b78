-- rows
SELECT COUNT(*) FROM visits;

-- rows of a table with one row for each unit
SELECT COUNT(*) FROM patients;

-- rows with a value
SELECT COUNT(note), COUNT(cost), COUNT(paid), COUNT(1), COUNT(*) FROM visits;

-- the unit's id is always there
SELECT COUNT(patient_id) FROM visits;

-- no row at all
SELECT COUNT(*), COUNT(cost), SUM(cost) FROM visits WHERE cost > 4000;
SELECT 0, 0, 0;

-- units
SELECT COUNT(DISTINCT patient_id) FROM visits;

-- units under a condition, and all of them
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE urgent) AS urgent, COUNT(DISTINCT patient_id) AS units FROM visits;

-- units for each public key
SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward;
SELECT ward, COUNT(DISTINCT patient_id) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward;

-- different values of a column
SELECT COUNT(DISTINCT note), COUNT(DISTINCT cost), COUNT(DISTINCT day), COUNT(DISTINCT urgent) FROM visits;

-- different values of an expression
SELECT COUNT(DISTINCT LOWER(note)) AS notes, COUNT(DISTINCT MONTH(day)) AS months, COUNT(DISTINCT cost // 100) FROM visits;

-- different values for each public key
SELECT urgent, COUNT(DISTINCT doctor), COUNT(DISTINCT note) FROM visits GROUP BY urgent;
SELECT urgent, COUNT(DISTINCT doctor), COUNT(DISTINCT note) FROM visits WHERE urgent IS NOT NULL GROUP BY urgent;

-- different reals
SELECT COUNT(DISTINCT paid), COUNT(DISTINCT share) FROM visits;

-- different pairs
SELECT COUNT(DISTINCT doctor || '/' || note) FROM visits;

-- FILTER
SELECT COUNT(*) FILTER (WHERE urgent) AS a, COUNT(*) FILTER (WHERE NOT urgent) AS b, COUNT(cost) FILTER (WHERE ward = 'A') AS c FROM visits;

-- conditions that are counted
SELECT COUNT_IF(cost > 1000) AS many, SUM(urgent) AS urgent FROM visits;
SELECT COUNT(*) FILTER (WHERE cost > 1000), SUM(CAST(urgent AS INTEGER)) FROM visits;
