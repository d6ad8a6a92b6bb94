# Time one side in this process: Rscript worker.R SCRIPT INPUTS OUTPUTS REPORT WARMUPS [PACKAGE...]
# INPUTS and OUTPUTS are folders of NAME.csv without headers; SCRIPT defines run(inputs), perhaps prepare(inputs).
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1])
files <- list.files(arguments[2], pattern = "\\.csv$", full.names = TRUE)
inputs <- lapply(files, function(file) as.matrix(read.csv(file, header = FALSE)))
names(inputs) <- sub("\\.csv$", "", basename(files))
state <- if (exists("prepare")) prepare(inputs) else inputs
for (i in seq_len(as.integer(arguments[5]))) run(state)
seconds <- system.time(outputs <- run(state))[["elapsed"]]
for (name in names(outputs)) {
  write.table(outputs[[name]], file.path(arguments[3], paste0(name, ".csv")),
              sep = ",", row.names = FALSE, col.names = FALSE)
}
packages <- arguments[-(1:5)]
versions <- vapply(packages, function(name) sprintf('"%s": "%s"', name, packageVersion(name)), "")
cat(sprintf('{"seconds": %.6f, "versions": {%s}}', seconds, paste(versions, collapse = ", ")), file = arguments[4])
