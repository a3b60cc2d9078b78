-- units with a row in another table
SELECT COUNT(*), SUM(height) FROM patients p WHERE EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 2000);

-- units without one
SELECT COUNT(*), SUM(height) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 2000);

-- rows with a partner through a link, each once
SELECT COUNT(*), SUM(cost), SUM(paid) FROM visits WHERE EXISTS (SELECT * FROM diagnoses d WHERE d.visit_id = visits.visit_id AND severity > 1) AND ward <> 'D';

-- and those without
SELECT COUNT(*), SUM(cost) FROM visits v WHERE NOT EXISTS (SELECT * FROM diagnoses d WHERE d.visit_id = v.visit_id) AND v.cost > 10;

-- from the child's side
SELECT COUNT(*), SUM(severity) FROM diagnoses d WHERE EXISTS (SELECT visit_id FROM visits v WHERE v.visit_id = d.visit_id AND v.urgent);

-- an earlier visit of the same unit
SELECT COUNT(*), SUM(cost) FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE w.patient_id = v.patient_id AND w.day < v.day AND w.cost > v.cost);

-- no later one
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT * FROM visits w WHERE w.patient_id = v.patient_id AND w.day > v.day AND v.cost > 5);

-- partners in several tables
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM visits v, diagnoses d, shifts s WHERE d.visit_id = v.visit_id AND v.patient_id = p.patient_id AND s.ward = v.ward AND (d.severity > 3 OR s.hours > 8));

-- EXISTS within NOT EXISTS
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT * FROM diagnoses d WHERE d.visit_id = v.visit_id AND d.severity >= 3));

-- partners in a public table
SELECT COUNT(*), SUM(height) FROM patients p WHERE EXISTS (SELECT * FROM regions r WHERE r.region = p.region AND r.beds < p.height);

-- none in a public table
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM regions r WHERE r.region = p.region);

-- a public table that is not compared
SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT * FROM regions WHERE beds > 150) AND NOT EXISTS (SELECT * FROM regions WHERE beds > 500);

-- a parent's key among those of its children
SELECT COUNT(*), SUM(cost) FROM visits WHERE visit_id IN (SELECT visit_id FROM diagnoses WHERE severity = 5);

-- and not among them
SELECT COUNT(*), SUM(cost) FROM visits WHERE visit_id NOT IN (SELECT visit_id FROM diagnoses WHERE severity < 4);

-- an id that a join left out
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT v.patient_id FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id AND v.urgent);

-- in a summary of each unit
SELECT COUNT(*), SUM(LEAST(n, 20)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT * FROM diagnoses d WHERE d.visit_id = v.visit_id) GROUP BY patient_id) t;

-- one row for each parent
SELECT COUNT(*), SUM(LEAST(n, 9)), SUM(LEAST(s, 20)) FROM (SELECT visit_id, COUNT(*) AS n, SUM(severity) AS s FROM diagnoses GROUP BY visit_id HAVING MAX(severity) > 2) t;

-- parents by what their children add up to
SELECT COUNT(*), SUM(cost) FROM visits WHERE visit_id IN (SELECT visit_id FROM diagnoses GROUP BY visit_id HAVING SUM(severity) > 4);
