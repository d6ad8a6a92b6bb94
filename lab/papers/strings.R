# k-means in R for strings.py: Rscript strings.R FOLDER CLUSTERS STARTS
#
# With FOLDER/matrix.txt its rows are clustered; otherwise the rows of the cosine distances between the documents in
# FOLDER/texts.txt, one a line, by tm's TF-IDF of the terms in more than 5 % of them. Writes FOLDER/labels.txt.
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
matrix_file <- file.path(folder, "matrix.txt")
if (file.exists(matrix_file)) {
  points <- as.matrix(read.table(matrix_file))
} else {
  library(tm)
  texts <- readLines(file.path(folder, "texts.txt"), encoding = "UTF-8")
  terms <- DocumentTermMatrix(VCorpus(VectorSource(texts)), control = list(weighting = weightTfIdf))
  weights <- as.matrix(removeSparseTerms(terms, sparse = 0.95))
  unit <- weights / sqrt(rowSums(weights^2))
  points <- 1 - tcrossprod(unit)
}
set.seed(42)
found <- kmeans(points, centers = as.integer(given[2]), nstart = as.integer(given[3]), iter.max = 100)
writeLines(as.character(found$cluster), file.path(folder, "labels.txt"))
