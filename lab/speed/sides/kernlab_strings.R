# kernlab: kernelMatrix of the first 60 documents. It appends the newline itself, so it is taken off here.
library(kernlab)

prepare <- function(inputs) {
  points <- as.integer(inputs$points)
  ends <- as.integer(inputs$ends)[1:60]
  starts <- c(1L, head(ends, -1) + 1L)
  mapply(function(start, end) intToUtf8(points[start:(end - 1L)]), starts, ends, SIMPLIFY = FALSE)
}

run <- function(texts) {
  kernel <- stringdot(type = "boundrange", length = 12, normalized = FALSE)
  list(gram = as.matrix(kernelMatrix(kernel, texts)@.Data))
}
