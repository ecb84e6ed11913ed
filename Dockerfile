# The review desk and the auto-responder in one image: `docker build -t noisybayes .`; see docs/howto-docker.md
FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE CHANGELOG.md CITATION.cff ./
COPY src src
COPY examples examples
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
# postgres: a store outside the container; zh: Chinese words; excel: uploaded workbooks
RUN pip install --no-cache-dir "$(echo /wheels/noisybayes-*.whl)[postgres,zh,excel]" \
    && useradd --uid 10001 --create-home noisybayes \
    && install --directory --owner noisybayes /data
# a number, which a cluster can check not to be root
USER 10001
WORKDIR /data
# the SQLite store and the folders of trained bots
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/api/health', timeout=4)"]
ENTRYPOINT ["noisybayes"]
# an address that others can reach needs a token: set NOISYBAYES_TOKEN
CMD ["serve", "--host", "0.0.0.0", "--store", "/data/noisybayes.db"]
