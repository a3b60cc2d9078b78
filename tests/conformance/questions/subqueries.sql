-- a named query
WITH a AS (SELECT * FROM visits WHERE ward = 'A') SELECT COUNT(*), SUM(cost) FROM a;

-- named queries that build on each other
WITH a AS (SELECT patient_id, cost, change FROM visits WHERE urgent), b AS (SELECT cost + change AS x FROM a WHERE cost > 10) SELECT COUNT(*), SUM(x) FROM b;

-- a named query used twice
WITH v AS (SELECT patient_id, cost FROM visits WHERE cost > 100) SELECT COUNT(*), SUM(a.cost - b.cost) FROM v a JOIN v b ON a.patient_id = b.patient_id;

-- names given to columns
SELECT SUM(x), COUNT(y) FROM (SELECT cost, note FROM visits) AS t(x, y);

-- expressions inside and outside
SELECT SUM(double + 1) FROM (SELECT 2 * cost AS double FROM visits WHERE change > 0) WHERE double > 100;

-- every column
SELECT COUNT(*), SUM(cost) FROM (SELECT * FROM visits) WHERE ward IN ('A', 'B');

-- UNION ALL of two tables
SELECT COUNT(*), COUNT(DISTINCT id) FROM (SELECT patient_id AS id FROM visits UNION ALL SELECT patient_id FROM patients);

-- UNION ALL of a table with itself
SELECT COUNT(*), SUM(cost) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits WHERE urgent);

-- UNION ALL of integers and reals
SELECT COUNT(*), SUM(x) FROM (SELECT cost AS x FROM visits UNION ALL SELECT weight FROM patients UNION ALL SELECT paid FROM visits);

-- UNION ALL of keys, of which only the first may be NULL
SELECT k, COUNT(*) FROM (SELECT sex AS k FROM patients UNION ALL SELECT ward FROM visits) GROUP BY k;
SELECT k, COUNT(*) FROM (SELECT sex AS k FROM patients UNION ALL SELECT ward FROM visits WHERE ward IS DISTINCT FROM 'E') GROUP BY k;

-- UNION ALL of keys
SELECT k, COUNT(*) FROM (SELECT ward AS k FROM visits UNION ALL SELECT sex FROM patients WHERE sex IS NOT NULL) GROUP BY k;
SELECT k, COUNT(*) FROM (SELECT ward AS k FROM visits WHERE ward IS DISTINCT FROM 'E' UNION ALL SELECT sex FROM patients WHERE sex IS NOT NULL) GROUP BY k;

-- a summary of a UNION ALL
SELECT SUM(LEAST(n, 99)) AS n, COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM (SELECT patient_id AS id FROM visits UNION ALL SELECT patient_id FROM patients) GROUP BY id);

-- units in another table
SELECT COUNT(*), SUM(cost) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE sex = 'F');

-- units in no row of another table
SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits);

-- units in no row of a part of the same table
SELECT COUNT(*), SUM(cost) FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE urgent) AND change > 0;

-- units with enough rows
SELECT sex, COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3) GROUP BY sex;

-- units through a link
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT v.patient_id FROM visits v JOIN diagnoses d ON v.visit_id = d.visit_id WHERE d.code = 'J10');

-- values of a public table
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM shifts WHERE hours > 5);

-- values outside of a public table
SELECT COUNT(*) FROM patients WHERE region NOT IN (SELECT region FROM regions WHERE beds > 100);

-- both kinds of IN
SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM shifts) AND patient_id IN (SELECT patient_id FROM patients WHERE height > 150) AND cost > 50;

-- IN within NOT IN
SELECT COUNT(*) FROM diagnoses d JOIN visits v ON d.visit_id = v.visit_id WHERE v.patient_id IN (SELECT patient_id FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE urgent));

-- IN nothing
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE height > 220);

-- NOT IN nothing
SELECT COUNT(*) FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM patients WHERE height > 220);

-- outside of an empty part of a public table
SELECT COUNT(*), COUNT(ward) FROM visits WHERE ward NOT IN (SELECT ward FROM shifts WHERE hours > 50);

-- expressions on both sides of IN
SELECT COUNT(*) FROM visits WHERE LOWER(ward) NOT IN (SELECT LOWER(ward) FROM shifts);

-- UNION ALL of three parts
SELECT COUNT(*), COUNT(DISTINCT p) FROM (SELECT patient_id AS p FROM visits WHERE urgent UNION ALL SELECT patient_id FROM visits WHERE NOT urgent UNION ALL SELECT v.patient_id FROM visits v JOIN diagnoses d USING (visit_id));
