# The peer: fpc's prediction strength with k-means, 20 splits.
suppressMessages(library(fpc))

prepare <- function(inputs) {
  set.seed(0)
  inputs$x
}

run <- function(x) {
  found <- prediction.strength(x, Gmin = 2, Gmax = 15, M = 20, clustermethod = kmeansCBI, classification = "centroid")
  list(means = found$mean.pred[2:15])
}
