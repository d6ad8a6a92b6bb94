# The command in a container, as an unprivileged user:
#   docker build -t grampus .
#   docker run --rm --network none -v "$PWD:/data" --user "$(id -u):$(id -g)" grampus cluster news/ --report news.html
FROM python:3.13-slim-bookworm AS build
RUN apt-get update \
 && apt-get install --no-install-recommends --yes g++=4:12.* \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY requirements/core.lock requirements/image.lock requirements/
RUN python -m venv /tools \
 && /tools/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/core.lock \
 && python -m venv /grampus \
 && /grampus/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/image.lock
COPY pyproject.toml README.md LICENSE ./
COPY native native
COPY src src
RUN PATH="/tools/bin:$PATH" /tools/bin/python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /grampus/bin/python -m pip install --no-cache-dir --no-deps /wheels/*.whl

FROM python:3.13-slim-bookworm
RUN useradd --create-home --uid 10001 grampus
COPY --from=build /grampus /grampus
ENV PATH="/grampus/bin:$PATH" GRAMPUS_CACHE=/tmp/grampus OPENBLAS_NUM_THREADS=1
USER 10001
WORKDIR /data
ENTRYPOINT ["grampus"]
CMD ["--help"]
