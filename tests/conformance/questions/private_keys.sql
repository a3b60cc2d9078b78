-- names that several units share
--: noise Gaussian
SELECT region, COUNT(*), SUM(height) FROM patients GROUP BY region;
SELECT region, COUNT(*), SUM(height) FROM patients WHERE region IS NOT NULL GROUP BY region HAVING COUNT(*) > 1;

-- of a table with many rows for each unit
--: noise Gaussian
SELECT doctor, COUNT(*), SUM(cost), COUNT(DISTINCT patient_id) FROM visits GROUP BY doctor;
SELECT doctor, COUNT(*), SUM(cost), COUNT(DISTINCT patient_id) FROM visits WHERE doctor IS NOT NULL GROUP BY doctor;

-- with a public key beside it
--: noise Gaussian
SELECT doctor, ward, COUNT(*), SUM(change) FROM visits GROUP BY doctor, ward;
SELECT doctor, ward, COUNT(*), SUM(change) FROM visits WHERE doctor IS NOT NULL AND ward IN ('A', 'B', 'C', 'D') GROUP BY doctor, ward;

-- with a public key before it
--: noise Gaussian
SELECT urgent, doctor, COUNT(*) FROM visits GROUP BY urgent, doctor;
SELECT urgent, doctor, COUNT(*) FROM visits WHERE doctor IS NOT NULL AND urgent IS NOT NULL GROUP BY urgent, doctor;

-- two of them
--: noise Gaussian
SELECT doctor, note, COUNT(*), SUM(cost) FROM visits GROUP BY doctor, note;
SELECT doctor, note, COUNT(*), SUM(cost) FROM visits WHERE doctor IS NOT NULL AND note IS NOT NULL GROUP BY doctor, note HAVING COUNT(DISTINCT patient_id) > 1;

-- an expression of a text
--: noise Gaussian
SELECT SUBSTRING(note, 1, 3) AS start, COUNT(*) FROM visits GROUP BY start;
SELECT SUBSTRING(note, 1, 3) AS start, COUNT(*) FROM visits WHERE note IS NOT NULL GROUP BY start HAVING COUNT(DISTINCT patient_id) > 1;

-- integers without bounds
--: noise Gaussian
SELECT visit_id % 5 AS digit, COUNT(*) FROM visits GROUP BY digit;

-- keys alone
--: noise Gaussian
SELECT DISTINCT doctor FROM visits;
SELECT DISTINCT doctor FROM visits WHERE doctor IS NOT NULL;

-- medians and different values for each
--: radius 50 noise Gaussian
SELECT doctor, MEDIAN(cost), MEDIAN(change), COUNT(DISTINCT note) FROM visits GROUP BY doctor;
SELECT doctor, quantile_disc(cost, 0.5), quantile_disc(change, 0.5), COUNT(DISTINCT note) FROM visits WHERE doctor IS NOT NULL GROUP BY doctor;

-- units for each
--: noise Gaussian
SELECT note, COUNT(DISTINCT patient_id) AS units FROM visits GROUP BY note;
SELECT note, COUNT(DISTINCT patient_id) AS units FROM visits WHERE note IS NOT NULL GROUP BY note HAVING units > 1;

-- none at all
--: noise Gaussian
SELECT doctor, COUNT(*) FROM visits WHERE cost > 4000 GROUP BY doctor;

-- with a public key between two of them
--: noise Gaussian
SELECT doctor, urgent, note, COUNT(*), SUM(change) FROM visits GROUP BY doctor, urgent, note;
SELECT doctor, urgent, note, COUNT(*), SUM(change) FROM visits WHERE urgent IS NOT NULL AND (doctor, note) IN (SELECT (doctor, note) FROM visits WHERE urgent IS NOT NULL AND doctor IS NOT NULL AND note IS NOT NULL GROUP BY ALL HAVING COUNT(DISTINCT patient_id) > 1) GROUP BY ALL;

-- beside a public key that can be NULL
--: noise Gaussian
SELECT sex, region, COUNT(*) FROM patients GROUP BY sex, region;
SELECT sex, region, COUNT(*) FROM patients WHERE region IS NOT NULL AND region <> 'island' GROUP BY sex, region;

-- of a public table
--: noise Gaussian
WITH s AS (SELECT hours, nurse FROM shifts) SELECT nurse, COUNT(*) FROM visits JOIN s ON s.hours < visits.cost GROUP BY nurse;
