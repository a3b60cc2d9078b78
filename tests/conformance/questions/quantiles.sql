-- medians of integers
--: radius 50
SELECT MEDIAN(cost), MEDIAN(change), QUANTILE_DISC(cost, 0.5) FROM visits;
SELECT quantile_disc(cost, 0.5), quantile_disc(change, 0.5), quantile_disc(cost, 0.5) FROM visits;

-- many levels
--: radius 50
SELECT QUANTILE_DISC(cost, 0.01) AS a, QUANTILE_DISC(cost, 0.1) AS b, QUANTILE_DISC(cost, 0.25) AS c, QUANTILE_DISC(cost, 0.75) AS d, QUANTILE_DISC(cost, 0.9) AS e, QUANTILE_DISC(cost, 0.99) AS f FROM visits;

-- other words for the same
--: radius 50
SELECT PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY cost) AS a, QUANTILE(change, 0.7) AS b, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY change) AS c, APPROX_QUANTILE(cost, 0.6) AS d FROM visits;
SELECT quantile_disc(cost, 0.3), quantile_disc(change, 0.7), quantile_disc(change, 0.25), quantile_disc(cost, 0.6) FROM visits;

-- for each key
--: radius 50
SELECT ward, MEDIAN(cost), QUANTILE_DISC(change, 0.9) AS high FROM visits GROUP BY ward HAVING COUNT(*) > 0;
SELECT ward, quantile_disc(cost, 0.5), quantile_disc(change, 0.9) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward;

-- under a condition
--: radius 50
SELECT MEDIAN(cost) FILTER (WHERE urgent) AS urgent, MEDIAN(cost + change) AS both FROM visits;
SELECT quantile_disc(cost, 0.5) FILTER (WHERE urgent), (SELECT quantile_disc(x, 0.5) FROM (SELECT cost + change AS x FROM visits)) FROM visits;

-- dates
--: radius 50
SELECT MEDIAN(day), QUANTILE_DISC(day, 0.9) AS late, MIN(day), MAX(day) FROM visits;
SELECT quantile_disc(day, 0.5), quantile_disc(day, 0.9), MIN(day), MAX(day) FROM visits;

-- reals on the grid of points
--: radius 50
SELECT MEDIAN(FLOOR(paid / 32) * 32) AS paid, MEDIAN(ROUND(share * 4000) / 4000) AS share FROM visits;
SELECT quantile_disc(FLOOR(paid / 32) * 32, 0.5), quantile_disc(ROUND(share * 4000) / 4000, 0.5) FROM visits;

-- where each unit has one row
--: radius 50
SELECT MEDIAN(height), QUANTILE_DISC(height, 0.2) AS low, MEDIAN(YEAR(born)) AS born FROM patients;
SELECT quantile_disc(height, 0.5), quantile_disc(height, 0.2), quantile_disc(YEAR(born), 0.5) FROM patients;

-- extremes
--: radius 50
SELECT MIN(cost), MAX(cost), MIN(change), MAX(change) FROM visits;

-- extremes where each unit has one row
--: radius 50
SELECT MIN(height), MAX(height), MIN(YEAR(born)), MAX(YEAR(born)) FROM patients;

-- extremes for each key
--: radius 50
SELECT severity, MIN(cost), MAX(cost) FROM visits JOIN diagnoses USING (visit_id) GROUP BY severity;

-- levels 0 and 1
--: radius 50
SELECT QUANTILE_DISC(change, 0) AS low, QUANTILE_DISC(change, 1) AS high FROM visits;
SELECT MIN(change), MAX(change) FROM visits;

-- the median of each unit's count
--: radius 50
SELECT MEDIAN(LEAST(n, 50)) AS n, QUANTILE_DISC(LEAST(n, 50), 0.9) AS many FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
SELECT quantile_disc(n, 0.5), quantile_disc(n, 0.9) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- the largest of each unit's count
--: noise Laplace
SELECT MAX(LEAST(n, 50)) AS most, MIN(n) FROM (SELECT patient_id, LEAST(COUNT(*), 50) AS n FROM visits GROUP BY patient_id);

-- arithmetic over quantiles
--: radius 50
SELECT MAX(cost) - MIN(cost) AS span, YEAR(MAX(day)) AS year, MAX(day) - MIN(day) AS days FROM visits;
