-- two tables of one unit with a comma
SELECT COUNT(*), SUM(cost), SUM(height) FROM patients p, visits v WHERE p.patient_id = v.patient_id;

-- a link, and a condition on each side
SELECT ward, COUNT(*), SUM(severity) FROM visits v, diagnoses d WHERE d.visit_id = v.visit_id AND v.cost > 100 AND d.code = 'J10' GROUP BY ward;
SELECT w, (SELECT COUNT(*) FROM visits v, diagnoses d WHERE d.visit_id = v.visit_id AND v.cost > 100 AND d.code = 'J10' AND v.ward = w), (SELECT COALESCE(SUM(severity), 0) FROM visits v, diagnoses d WHERE d.visit_id = v.visit_id AND v.cost > 100 AND d.code = 'J10' AND v.ward = w) FROM (VALUES ('A'), ('B'), ('C'), ('D'), ('closed')) t(w);

-- tables in an order in which neighbours do not belong together
SELECT COUNT(*), SUM(height), SUM(severity), SUM(cost) FROM diagnoses d, regions r, patients p, visits v WHERE r.region = p.region AND d.visit_id = v.visit_id AND p.patient_id = v.patient_id;

-- what * means does not depend on how the tables are joined
SELECT COUNT(*), SUM(s), SUM(h), SUM(c) FROM (SELECT * FROM diagnoses d, patients p, visits v WHERE d.visit_id = v.visit_id AND p.patient_id = v.patient_id AND sex <> 'X') AS t (a, b, s, e, f, g, k, l, h, n, o, p, q, r, c);

-- a public table with every row
SELECT COUNT(*), SUM(hours) FROM visits v, shifts s;

-- conditions of several tables that link nothing
SELECT COUNT(*) FROM visits v, shifts s, regions r WHERE v.ward = s.ward AND (s.hours > 6 OR r.beds < v.cost) AND NOT (s.nurse = 'Ann' AND r.country = 'N');

-- JOIN binds closer than a comma
SELECT COUNT(*), COUNT(v.visit_id), SUM(r.beds) FROM regions r, patients p LEFT JOIN visits v ON p.patient_id = v.patient_id AND v.urgent WHERE r.region = p.region;

-- a RIGHT JOIN after a comma
SELECT COUNT(*), COUNT(v.visit_id), SUM(s.hours) FROM shifts s, visits v RIGHT JOIN patients p ON p.patient_id = v.patient_id WHERE s.nurse = 'Ann';

-- CROSS JOIN with its condition in WHERE
SELECT COUNT(*), SUM(cost) FROM patients CROSS JOIN visits WHERE visits.patient_id = patients.patient_id;

-- a table with itself, three times
SELECT COUNT(*) FROM visits a, visits b, visits c WHERE a.patient_id = c.patient_id AND b.patient_id = c.patient_id AND a.cost < b.cost AND b.cost < c.cost;

-- decimals are added exactly
SELECT COUNT(*) FROM patients WHERE height / 100.0 BETWEEN 0.1 + 1.6 AND 0.3 + 1.9;
