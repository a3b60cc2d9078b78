"""Statistics of noisy sums: counts, means, variances and quantiles, with intervals."""
