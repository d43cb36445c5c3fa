# The image of Tollgate: docker build --tag tollgate .
# docs/operating.md says how to run it, alone or with compose.yaml.

FROM node:24-trixie-slim AS build
# The Node that Tollgate runs on needs libatomic.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1
WORKDIR /opt/tollgate
COPY . .
RUN node scripts/setup.js && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM debian:trixie-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --home-dir /data tollgate \
  && install --directory --owner tollgate --mode 0700 /data
COPY --from=build /opt/tollgate /opt/tollgate
RUN ln -s /opt/tollgate/tollgate /opt/tollgate/node_modules/node-linux-*/bin/node /usr/local/bin/

USER tollgate
WORKDIR /data
VOLUME /data
# The embedded database, if none is configured, and the encryption key.
ENV TOLLGATE_DATA=/data
# Listens on all addresses of the container. From outside, only published ports can be reached.
ENV HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tollgate"]
CMD ["start"]
