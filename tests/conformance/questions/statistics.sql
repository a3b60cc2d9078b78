-- means of integers
--: about 1e-9
SELECT AVG(cost), AVG(change), AVG(-change), AVG(cost % 10) FROM visits;

-- means of reals
--: about 1e-6
SELECT AVG(paid), AVG(share), AVG(paid * share) FROM visits;

-- a mean of a condition
--: about 1e-9
SELECT AVG(cost > 1000), AVG(CASE WHEN urgent THEN 1 ELSE 0 END) FROM visits;
SELECT AVG(CAST(cost > 1000 AS INTEGER)), AVG(CASE WHEN urgent THEN 1 ELSE 0 END) FROM visits;

-- means where each unit has one row
--: about 1e-9
SELECT AVG(height), AVG(weight) FROM patients;

-- means for each key
--: about 1e-9
SELECT ward, AVG(cost), COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 0;
SELECT ward, AVG(cost), COUNT(*) FROM visits WHERE ward IN ('A', 'B', 'C', 'D') GROUP BY ward;

-- a mean under a condition
--: about 1e-9
SELECT AVG(cost) FILTER (WHERE urgent) AS a, AVG(cost) FILTER (WHERE NOT urgent) AS b FROM visits;

-- variances of integers
--: about 1e-9
SELECT VAR_POP(cost), VAR_SAMP(cost), VARIANCE(change), STDDEV_POP(change), STDDEV_SAMP(cost), STDDEV(change) FROM visits;

-- variances of reals
--: about 1e-4
SELECT VAR_POP(paid), VAR_SAMP(share), STDDEV(paid), STDDEV_POP(share) FROM visits;

-- a variance where each unit has one row
--: about 1e-4
SELECT VAR_SAMP(weight), STDDEV_POP(height) FROM patients;

-- variances for each key
--: about 1e-9
SELECT sex, VAR_POP(height), STDDEV(height) FROM patients GROUP BY sex;

-- covariances
--: about 1e-9
SELECT COVAR_POP(cost, change), COVAR_SAMP(cost, change) FROM visits;

-- covariances of reals
--: about 1e-3
SELECT COVAR_POP(paid, share), COVAR_SAMP(cost, paid) FROM visits;

-- correlations
--: about 1e-3
SELECT CORR(cost, change), CORR(change, cost) FROM visits WHERE cost < 2000;

-- a correlation of what goes together
--: about 1e-3
SELECT CORR(cost, cost + 20 * change), CORR(paid, -paid) FROM visits;

-- a correlation where each unit has one row
--: about 1e-3
SELECT CORR(height, weight), COVAR_SAMP(height, weight) FROM patients;

-- the mean of each unit's total
--: about 1e-9
SELECT AVG(LEAST(total, 20000)) AS mean, STDDEV(LEAST(total, 20000)) AS spread FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id);

-- a pair counts where both are there
--: about 1e-3
SELECT COVAR_POP(cost, paid), COVAR_POP(paid, cost) FROM visits WHERE cost IS NULL OR paid IS NULL OR urgent;

-- a mean over private keys
--: about 1e-9 noise Gaussian
SELECT doctor, AVG(cost), VAR_POP(change) FROM visits GROUP BY doctor;
SELECT doctor, AVG(cost), VAR_POP(change) FROM visits WHERE doctor IS NOT NULL GROUP BY doctor;
