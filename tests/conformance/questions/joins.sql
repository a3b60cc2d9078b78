-- two tables of one unit
SELECT COUNT(*), SUM(cost), SUM(height) FROM patients p JOIN visits v ON p.patient_id = v.patient_id;

-- USING
SELECT sex, COUNT(*), SUM(cost) FROM patients JOIN visits USING (patient_id) GROUP BY sex;

-- further conditions
SELECT COUNT(*), SUM(cost) FROM patients p JOIN visits v ON p.patient_id = v.patient_id AND v.cost > p.height * 10 AND p.sex = 'M';

-- a table with itself: pairs of a unit's rows
SELECT COUNT(*), SUM(a.change * b.change) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.visit_id < b.visit_id;

-- LEFT JOIN keeps units without a partner
SELECT COUNT(*), COUNT(v.visit_id), COUNT(DISTINCT p.patient_id), COUNT(DISTINCT v.patient_id), SUM(v.cost) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id;

-- who never came
SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (patient_id) WHERE v.visit_id IS NULL;

-- RIGHT JOIN
SELECT COUNT(*), COUNT(p.sex), COUNT(DISTINCT v.patient_id) FROM patients p RIGHT JOIN visits v ON p.patient_id = v.patient_id;

-- FULL JOIN
SELECT COUNT(*), COUNT(v.visit_id), COUNT(p.height), COUNT(DISTINCT patient_id) FROM patients p FULL JOIN visits v USING (patient_id);

-- a condition outside of a LEFT JOIN drops rows
SELECT COUNT(*), COUNT(v.cost) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id AND v.urgent WHERE p.height > 100;

-- rows that find their owner through a parent's key
SELECT COUNT(*), SUM(severity), COUNT(DISTINCT code) FROM diagnoses;

-- joined on the parent's key
SELECT severity, COUNT(*), SUM(cost) FROM diagnoses d JOIN visits v ON d.visit_id = v.visit_id GROUP BY severity;

-- three tables
SELECT sex, COUNT(*), SUM(severity) FROM patients JOIN visits USING (patient_id) JOIN diagnoses USING (visit_id) WHERE ward <> 'A' GROUP BY sex;

-- visits without a diagnosis
SELECT COUNT(*) FROM visits v LEFT JOIN diagnoses d ON v.visit_id = d.visit_id WHERE d.severity IS NULL;

-- a public table, several rows of which meet one private row
SELECT COUNT(*), SUM(cost), SUM(hours), SUM(cost * hours) FROM visits JOIN shifts USING (ward);

-- a public table on the right of LEFT JOIN
SELECT COUNT(*), COUNT(nurse), SUM(hours) FROM visits v LEFT JOIN shifts s ON v.ward = s.ward AND s.hours > 5;

-- a public table first
SELECT country, COUNT(*), SUM(beds) FROM regions r RIGHT JOIN patients p ON r.region = p.region GROUP BY country;
SELECT country, COUNT(*), SUM(beds) FROM regions r JOIN patients p ON r.region = p.region GROUP BY country;

-- every row with every row of a public table
SELECT COUNT(*), SUM(height) FROM patients CROSS JOIN shifts;

-- an inequality with a public table
SELECT COUNT(*) FROM patients p JOIN regions r ON p.height > r.beds;

-- private and public tables together
SELECT country, COUNT(*), SUM(cost) FROM visits JOIN patients USING (patient_id) JOIN regions USING (region) GROUP BY country;

-- a key of the side that can be missing
SELECT sex, ward, COUNT(*) FROM patients LEFT JOIN visits USING (patient_id) GROUP BY sex, ward;
SELECT sex, ward, COUNT(*) FROM patients JOIN visits USING (patient_id) WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY sex, ward;

-- what is missing counts as something else
SELECT SUM(COALESCE(cost, -1)) AS s, COUNT(DISTINCT v.ward), COUNT(DISTINCT p.sex) FROM patients p LEFT JOIN visits v USING (patient_id);

-- a table with a parent's key, joined with itself
SELECT COUNT(*), SUM(a.severity * b.severity) FROM diagnoses a JOIN diagnoses b ON a.visit_id = b.visit_id;

-- two public tables
SELECT COUNT(*), SUM(t.hours) FROM visits v JOIN shifts s ON v.ward = s.ward JOIN shifts t ON s.nurse = t.nurse;

-- a query over a public table
SELECT COUNT(*), SUM(h) FROM visits JOIN (SELECT ward, hours * 2 AS h FROM shifts WHERE hours > 3) s USING (ward);
