# Prints Gower's dissimilarities of the R package cluster: the golden values in the tests of `gower`.
#
#     Rscript benches/peers/gower.R

library(cluster)

table <- data.frame(
  size = c(1, 4, 1, 4, 1),
  colour = factor(c("red", "red", "blue", "green", "blue")),
  shape = factor(c("round", "square", "round", "round", "square"))
)
cat(as.character(packageVersion("cluster")), "\n")
print(as.vector(daisy(table, metric = "gower")), digits = 17)
