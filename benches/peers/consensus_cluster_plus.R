# Writes the cases by which the consensus of partitions is compared with ConsensusClusterPlus and the PAC of diceR.
#
#     Rscript benches/peers/consensus_cluster_plus.R > experiments/tests/consensus_cluster_plus.json
#
# Needs R with ConsensusClusterPlus (Bioconductor), not diceR: its PAC is one line.
# `cargo test -p mustlink-experiments --test it consensus_cluster_plus` compares.

suppressMessages(library(ConsensusClusterPlus))
grDevices::pdf(NULL) # The package always draws.

SEED <- 20100115

# Three groups of genes by samples, far enough apart that most resamples find them, near enough that some do not.
table_of <- function() {
  set.seed(1)
  centre <- rep(c(-1.6, 0, 1.6), times = c(7, 6, 5))
  round(matrix(rnorm(8 * 18, mean = rep(centre, each = 8)), nrow = 8), 3)
}

# Every partition of the resamples: the package counts them and forgets them.
partitions <- list()
keep <- function(labels) {
  partitions[[length(partitions) + 1]] <<- labels
  labels
}
tree_of <- function(distances, k) keep(cutree(hclust(distances, method = "average"), k))

# Numbers that the package only draws: its own function runs with other functions of drawing, which keep what they get.
curves_of <- function(ml) {
  draw <- ConsensusClusterPlus:::CDF
  found <- list(distributions = list(), areas = NULL, changes = NULL)
  where <- environment(draw)
  spied <- draw
  plots <- new.env()
  plots$lines <- function(x, y, ...) found$distributions[[length(found$distributions) + 1]] <<- y
  plots$plot <- function(x, y, ..., main) if (main == "Delta area") found$changes <<- y
  plots$legend <- function(...) NULL
  parent.env(plots) <- where
  environment(spied) <- plots
  spied(ml)
  found$areas <- sapply(found$distributions, function(y) sum(y) / length(y))
  found
}

case_of <- function(name, share_of_items, share_of_features, repeats, largest) {
  partitions <<- list()
  data <- table_of()
  colnames(data) <- seq_len(ncol(data))
  found <- suppressMessages(ConsensusClusterPlus(
    data, maxK = largest, reps = repeats, pItem = share_of_items, pFeature = share_of_features,
    clusterAlg = "tree_of", distance = "euclidean", innerLinkage = "average", finalLinkage = "average", seed = SEED
  ))
  icl <- suppressMessages(calcICL(found))
  # A resample of features has lost the names of its objects; all objects are in it.
  members <- matrix(-1, nrow = length(partitions), ncol = ncol(data))
  for (m in seq_along(partitions)) {
    own <- partitions[[m]]
    objects <- if (length(own) == ncol(data)) seq_along(own) else as.integer(names(own))
    members[m, objects] <- own - 1
  }
  ml <- c(list(0), lapply(found[-1], function(one) one$ml))
  curves <- curves_of(ml)
  of_number <- lapply(2:largest, function(k) {
    one <- found[[k]]
    index <- one$ml[lower.tri(one$ml)]
    of_k <- function(table) table[table[, "k"] == k, ]
    list(
      k = k,
      members = members[seq_len(nrow(members)) %% (largest - 1) == (k - 1) %% (largest - 1), ],
      index = index,
      classes = unname(one$consensusClass) - 1,
      cdf = curves$distributions[[k - 1]],
      area = curves$areas[k - 1],
      change = curves$changes[k - 1],
      clusters = unname(of_k(icl$clusterConsensus)[, "clusterConsensus"]),
      # The distribution at .9 less that at .1 of Senbabaoglu et al., by R's own distribution function.
      pac = ecdf(index)(0.9) - ecdf(index)(0.1),
      # diceR's PAC with these bounds, by its definition: the share of pairs with lower < index < upper.
      pac_dicer = mean(index > 0.1 & index < 0.9)
    )
  })
  list(name = name, numbers = of_number)
}

json <- function(x) {
  if (is.list(x) && !is.null(names(x))) {
    paste0("{", paste0("\"", names(x), "\": ", sapply(x, json), collapse = ", "), "}")
  } else if (is.list(x)) {
    paste0("[", paste(sapply(x, json), collapse = ",\n"), "]")
  } else if (is.matrix(x)) {
    paste0("[", paste(apply(x, 1, json_row), collapse = ",\n"), "]")
  } else if (is.character(x)) {
    paste0("\"", x, "\"")
  } else if (length(x) == 1) {
    format(x, digits = 17)
  } else {
    json_row(x)
  }
}
json_row <- function(x) {
  number <- function(v) if (is.na(v)) "null" else format(v, digits = 17)
  paste0("[", paste(sapply(x, number), collapse = ","), "]")
}

versions <- list(
  R = as.character(getRversion()),
  ConsensusClusterPlus = as.character(packageVersion("ConsensusClusterPlus"))
)
# Resamples of objects, resamples of features, and so few objects that some pairs are never resampled together.
cases <- list(
  case_of("objects", 0.8, 1, 12, 4), case_of("features", 1, 0.5, 12, 4), case_of("few", 0.4, 1, 8, 3)
)
cat(json(list(`made by` = versions, cases = cases)), "\n", sep = "")
