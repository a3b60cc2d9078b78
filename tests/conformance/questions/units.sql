-- the sum of each unit's sum
SELECT SUM(LEAST(total, 100000)) AS total, COUNT(*) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id);

-- how many units have how many rows
SELECT LEAST(n, 6) AS visits, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY visits;

-- each unit's largest and least value
SELECT SUM(most), SUM(least), COUNT(most) FROM (SELECT patient_id, MAX(cost) AS most, MIN(change) AS least FROM visits GROUP BY patient_id);

-- each unit's different values
SELECT wards, COUNT(*) FROM (SELECT patient_id, LEAST(COUNT(DISTINCT ward), 5) AS wards FROM visits GROUP BY patient_id) GROUP BY wards;

-- each unit's mean
--: about 1e-5
SELECT SUM(mean), COUNT(mean) FROM (SELECT patient_id, AVG(cost) AS mean FROM visits GROUP BY patient_id);

-- a sum of reals
SELECT SUM(LEAST(total, 65536.0)) AS total FROM (SELECT patient_id, SUM(paid) AS total FROM visits GROUP BY patient_id);

-- HAVING within a unit
SELECT COUNT(*), SUM(LEAST(n, 100)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING COUNT(*) > 3 AND SUM(cost) > 1000);

-- a unit and a key
SELECT ward, COUNT(*), SUM(LEAST(n, 100)) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) GROUP BY ward;
SELECT ward, COUNT(*), SUM(LEAST(n, 100)) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY patient_id, ward) GROUP BY ward;

-- FILTER within a unit
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) FILTER (WHERE urgent) AS urgent, MAX(day) AS last FROM visits GROUP BY patient_id) WHERE urgent > 0 AND last > '2022-06-30';

-- arithmetic over a unit's aggregates
SELECT SUM(LEAST(GREATEST(extra, -1000), 100000)) AS extra FROM (SELECT patient_id, SUM(cost) - 100 * COUNT(*) AS extra FROM visits GROUP BY patient_id);

-- a unit's rows, once each
SELECT COUNT(*), COUNT(note) FROM (SELECT DISTINCT patient_id, ward, note FROM visits);

-- a summary joined with a table of the unit
SELECT sex, COUNT(*), SUM(LEAST(n, 50)) FROM patients JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY 1) v USING (patient_id) GROUP BY sex;

-- two summaries joined
SELECT COUNT(*), SUM(LEAST(a.n, 50) * LEAST(b.n, 50)) AS pairs FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE urgent GROUP BY 1) a JOIN (SELECT patient_id, COUNT(*) AS n FROM visits WHERE NOT urgent GROUP BY 1) b ON a.patient_id = b.patient_id;

-- a summary over a link
SELECT COUNT(*), SUM(LEAST(s, 200)) AS total FROM (SELECT v.patient_id, SUM(severity) AS s FROM visits v JOIN diagnoses d USING (visit_id) GROUP BY v.patient_id);

-- a summary of a summary
SELECT SUM(LEAST(most, 50)) AS most FROM (SELECT patient_id, MAX(n) AS most FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) GROUP BY patient_id);

-- first visits by month
SELECT DATE_TRUNC('month', first) AS month, COUNT(*) FROM (SELECT patient_id, MIN(day) AS first FROM visits GROUP BY patient_id) GROUP BY month;
SELECT DATE_TRUNC('month', first)::DATE AS month, COUNT(*) FROM (SELECT patient_id, MIN(day) AS first FROM visits GROUP BY patient_id HAVING first IS NOT NULL) GROUP BY month;

-- a truth for each unit
SELECT often, COUNT(*) FROM (SELECT patient_id, COUNT(*) > 3 AS often FROM visits GROUP BY ALL) GROUP BY often;

-- units without rows beside a summary
SELECT COUNT(*), SUM(COALESCE(LEAST(n, 50), 0)) AS n FROM patients LEFT JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t USING (patient_id);

-- a summary of a join
SELECT COUNT(*) FROM (SELECT v.patient_id FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY v.patient_id HAVING MAX(height) > 150 AND MIN(cost) < 500);

-- different values of a part of each unit's rows
SELECT SUM(LEAST(k, 9)) AS k FROM (SELECT patient_id, COUNT(DISTINCT note) FILTER (WHERE urgent) AS k FROM visits GROUP BY patient_id);

-- a sum of CASE within a unit
SELECT SUM(LEAST(GREATEST(k, -100000), 100000)) AS k FROM (SELECT patient_id, SUM(CASE WHEN urgent THEN cost ELSE -cost END) AS k FROM visits GROUP BY patient_id);

-- the time between a unit's first and last row
SELECT SUM(span) AS span FROM (SELECT patient_id, MAX(day) - MIN(day) AS span FROM visits GROUP BY patient_id);
