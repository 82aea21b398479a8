"""Names that options and their values have in scikit-learn."""

from __future__ import annotations

#: Options with their names in scikit-learn.
NAMES = {
    "k": "n_clusters",
    "restarts": "n_init",
    "max_iterations": "max_iter",
    "tolerance": "tol",
    "components": "n_components",
    "min_points": "min_samples",
}

#: For each plugin, scikit-learn's names of options with the plugin's own names.
ALIASES = {
    "dbscan": {"eps": "radius"},
    "gaussian_mixture": {"covariance_type": "covariance"},
    "hdbscan": {"cluster_selection_epsilon": "epsilon", "cluster_selection_method": "selection"},
    "hierarchical": {"distance_threshold": "max_distance"},
    "optics": {"eps": "radius"},
}

#: Scikit-learn's names of values of options, with the plugins' own names.
VALUES = {"eom": "excess_of_mass", "k-means++": "kmeans_plus_plus"}
