# bwlint in a container: docker build -t bwlint . && docker run --rm -v "$PWD:/src:ro" bwlint check .
FROM python:3.12-slim AS build
COPY . /bwlint
RUN python -m venv /opt/bwlint && /opt/bwlint/bin/python -m pip install --no-cache-dir /bwlint

FROM python:3.12-slim
# git tells where a repository begins and what has changed; nothing that a repository names is run.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/bwlint /opt/bwlint
RUN useradd --create-home bwlint && git config --system --add safe.directory '*'
USER bwlint
ENV PATH=/opt/bwlint/bin:$PATH
WORKDIR /src
ENTRYPOINT ["bwlint"]
