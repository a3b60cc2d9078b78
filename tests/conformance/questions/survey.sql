-- rows
SELECT COUNT(*), COUNT(age), COUNT(income), COUNT(region) FROM answers;

-- sums
SELECT SUM(age), SUM(score), SUM(income), SUM(smokes) FROM answers;
SELECT SUM(age), SUM(score), SUM(income), SUM(CAST(smokes AS INTEGER)) FROM answers;

-- a declared key
SELECT party, COUNT(*), SUM(age), SUM(score), SUM(income) FROM answers GROUP BY party;
SELECT party, COUNT(*), SUM(age), SUM(score), SUM(income) FROM answers WHERE party IN ('left', 'right', 'none') GROUP BY party;

-- two keys and bins
SELECT smokes, age // 10 AS decade, COUNT(*) FROM answers GROUP BY ALL;
SELECT smokes, age // 10 AS decade, COUNT(*) FROM answers WHERE smokes IS NOT NULL AND age IS NOT NULL GROUP BY ALL;

-- private keys
--: noise Gaussian
SELECT region, COUNT(*), SUM(score) FROM answers GROUP BY region;
SELECT region, COUNT(*), SUM(score) FROM answers WHERE region IS NOT NULL GROUP BY region HAVING COUNT(*) > 1;

-- times
SELECT DATE_TRUNC('day', moment) AS day, COUNT(*) FROM answers GROUP BY day;

-- different values
SELECT COUNT(DISTINCT region), COUNT(DISTINCT age), COUNT(DISTINCT party) FROM answers;

-- different values for each key
SELECT party, COUNT(DISTINCT age // 10) AS decades FROM answers GROUP BY party;
SELECT party, COUNT(DISTINCT age // 10) AS decades FROM answers WHERE party IN ('left', 'right', 'none') GROUP BY party;

-- a public table
SELECT country, COUNT(*), SUM(beds), SUM(age) FROM answers a LEFT JOIN regions r ON a.region = r.region GROUP BY country;
SELECT country, COUNT(*), SUM(beds), SUM(age) FROM answers a JOIN regions r ON a.region = r.region GROUP BY country;

-- every row of a public table
SELECT COUNT(*), SUM(beds - age) FROM answers JOIN regions ON age < beds;

-- rows put together
SELECT COUNT(*), SUM(age) FROM (SELECT age FROM answers UNION ALL SELECT age FROM answers WHERE smokes);

-- values of a public table
SELECT COUNT(*), SUM(age) FROM answers WHERE region IN (SELECT region FROM regions WHERE beds > 50) AND age > 17;

-- means
--: about 1e-9
SELECT AVG(age), AVG(score), AVG(income), AVG(smokes) FROM answers;
SELECT AVG(age), AVG(score), AVG(income), AVG(CAST(smokes AS INTEGER)) FROM answers;

-- variances and correlations
--: about 1e-3
SELECT VAR_POP(age), STDDEV(income), COVAR_SAMP(age, score), CORR(age, score), CORR(income, 2 * income + score) FROM answers;

-- quantiles
SELECT MEDIAN(age), QUANTILE_DISC(score, 0.9) AS high, MEDIAN(CAST(moment AS DATE)) AS day FROM answers;
SELECT quantile_disc(age, 0.5), quantile_disc(score, 0.9), quantile_disc(CAST(moment AS DATE), 0.5) FROM answers;

-- extremes
--: noise Laplace
SELECT MIN(age), MAX(age), MIN(score), MAX(score) FROM answers;

-- medians for each key
SELECT party, MEDIAN(age), MEDIAN(score) FROM answers GROUP BY party;
SELECT party, quantile_disc(age, 0.5), quantile_disc(score, 0.5) FROM answers WHERE party IN ('left', 'right', 'none') GROUP BY party;

-- after it all
SELECT party, COUNT(*) AS n, ROUND(SUM(age) / COUNT(*), 1) AS age FROM answers GROUP BY party HAVING n > 10 ORDER BY n DESC, party LIMIT 2;
SELECT party, COUNT(*) AS n, ROUND(SUM(age) / COUNT(*), 1) AS age FROM answers WHERE party IN ('left', 'right', 'none') GROUP BY party HAVING n > 10 ORDER BY n DESC, party LIMIT 2;
