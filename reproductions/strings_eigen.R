# Which end of the spectrum R's eigen() gives first: Rscript strings_eigen.R GRAM.csv LABELS.txt
# GRAM.csv is a normalised Gram matrix without a header, LABELS.txt has one class a line.
given <- commandArgs(trailingOnly = TRUE)
S <- as.matrix(read.csv(given[1], header = FALSE))
classes <- readLines(given[2])
n <- nrow(S)
found <- eigen(diag(n) - S / rowSums(S))
for (columns in list(first = 1:3, last = (n - 2):n)) {
  cat("columns", range(columns), "eigenvalues", range(Re(found$values[columns])), "\n")
  set.seed(1)
  runs <- lapply(1:10, function(i) kmeans(Re(found$vectors[, columns]), 3)$cluster)
  largest <- sapply(runs, function(run) max(table(run)))
  cat("largest cluster, mean of ten runs:", mean(largest), "\n")
  print(table(classes, runs[[which.max(largest)]]))
}
