-- compared with texts and dates
SELECT COUNT(*) FROM visits WHERE day >= '2022-07-01' AND day < DATE '2023-07-01' AND moment > '2022-07-04 12:00:00';

-- intervals
SELECT COUNT(*) FROM visits WHERE day < DATE '2022-01-31' + INTERVAL 1 MONTH OR day - INTERVAL 2 WEEK > '2023-11-30' OR day + 7 = '2023-01-10';

-- differences
SELECT COUNT(*), SUM(day - DATE '2022-01-01') AS days FROM visits WHERE day - DATE '2022-03-01' > 30;

-- DATE_DIFF
SELECT SUM(DATE_DIFF('day', DATE '2022-01-01', day)) AS days, SUM(DATE_DIFF('month', DATE '2022-01-15', day)) AS months, SUM(DATE_DIFF('year', DATE '2021-12-31', day)) AS years FROM visits;

-- parts of a date
SELECT SUM(YEAR(day) - 2022), SUM(MONTH(day)), SUM(DAY(day)), SUM(EXTRACT(quarter FROM day)), SUM(DAYOFWEEK(day)), SUM(DAYOFYEAR(day)), SUM(EXTRACT(week FROM day)) FROM visits;

-- parts of a time
SELECT SUM(HOUR(moment)), SUM(MINUTE(moment)), SUM(SECOND(moment)), COUNT(*) FILTER (WHERE CAST(moment AS DATE) = day) AS same FROM visits;

-- by month
SELECT DATE_TRUNC('month', day) AS month, COUNT(*), SUM(cost) FROM visits GROUP BY month;
SELECT DATE_TRUNC('month', day)::DATE AS month, COUNT(*), SUM(cost) FROM visits WHERE day IS NOT NULL GROUP BY month;

-- by quarter and by week
SELECT DATE_TRUNC('quarter', moment) AS quarter, COUNT(*) FROM visits GROUP BY quarter;
SELECT DATE_TRUNC('quarter', moment) AS quarter, COUNT(*) FROM visits WHERE day IS NOT NULL GROUP BY quarter;

-- by week
SELECT DATE_TRUNC('week', day) AS week, COUNT(*) FROM visits GROUP BY 1;
SELECT DATE_TRUNC('week', day)::DATE AS week, COUNT(*) FROM visits WHERE day IS NOT NULL GROUP BY 1;

-- by day
SELECT day, COUNT(*), SUM(change) FROM visits GROUP BY day;
SELECT day, COUNT(*), SUM(change) FROM visits WHERE day IS NOT NULL GROUP BY day;

-- by year and month
SELECT EXTRACT(year FROM day) AS year, MONTH(day) AS month, COUNT(*) FROM visits GROUP BY year, month ORDER BY year, month;
SELECT year(r.d) AS y, month(r.d) AS m, (SELECT COUNT(*) FROM visits v WHERE date_trunc('month', v.day) = r.d) FROM (SELECT unnest(generate_series(DATE '2022-01-01', DATE '2023-12-01', INTERVAL 1 MONTH)) AS d) r ORDER BY y, m;

-- by hour of the day
SELECT HOUR(moment) AS hour, COUNT(*) FROM visits GROUP BY hour;
SELECT HOUR(moment) AS hour, COUNT(*) FROM visits WHERE moment IS NOT NULL GROUP BY hour;

-- age at a visit
SELECT SUM(DATE_DIFF('year', born, day)) AS years, COUNT(*) FROM visits JOIN patients USING (patient_id) WHERE day > born + INTERVAL 18 YEAR;

-- truncated in a condition
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('month', day) = DATE '2022-07-01' OR DATE_TRUNC('year', moment) = TIMESTAMP '2023-01-01';

-- by decade
SELECT EXTRACT(year FROM born) // 10 * 10 AS decade, COUNT(*) FROM patients GROUP BY decade;

-- days of the week
SELECT SUM(EXTRACT(isodow FROM day)), SUM(EXTRACT(dow FROM moment)), SUM(EXTRACT(month FROM moment)) FROM visits;
