# The image of the rate limit service. Needs nothing but the files copied here.
# The digest decides and covers every platform; the tag says what it is. To renew both:
#   docker buildx imagetools inspect node:<version>-bookworm-slim
ARG NODE_IMAGE=node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci
COPY scripts ./scripts
COPY src ./src
COPY streams ./streams
RUN npm run build && npm prune --omit=dev \
  && find dist node_modules -type f '(' -name '*.ts' -o -name '*.[cm]ts' -o -name '*.map' -o -name '.tsbuildinfo' ')' -delete

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Weir" \
  org.opencontainers.image.description="A rate limit decision service for Envoy" \
  org.opencontainers.image.licenses="Apache-2.0"
# The heap of Node 24 grows to twice that of Node 20 without these bounds (docs/sizing.md has the figures).
ENV NODE_ENV=production \
  NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=1024" \
  IDENTITY_STORE_FILE=/var/lib/weir/identity-store.json
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY proto ./proto
COPY ui ./ui
COPY zoneinfo ./zoneinfo
COPY LICENSE NOTICE ./
RUN ln -s /app/dist/src/bin/ratelimit.js /bin/ratelimit \
  && ln -s /app/dist/src/bin/ratelimit-client.js /bin/ratelimit-client \
  && ln -s /app/dist/src/bin/ratelimit-config-check.js /bin/ratelimit-config-check \
  && ln -s /app/dist/src/bin/ratelimit-hash-value.js /bin/ratelimit-hash-value \
  && ln -s /app/dist/src/bin/ratelimit-simulate.js /bin/ratelimit-simulate \
  && ln -s /app/dist/src/bin/identity.js /bin/identity \
  && mkdir -p /var/lib/weir && chown 65532:65532 /var/lib/weir && chmod 700 /var/lib/weir
# By number, so that Kubernetes can see that it is not root.
USER 65532:65532
# The embedded store of the identity service; nothing else is written, so that the root may be read-only.
VOLUME /var/lib/weir
EXPOSE 8080 8081 6070 8082 9090
# No HEALTHCHECK: it would start a second Node every few seconds. Ask GET /livez and /readyz of 8080 from outside.
ENTRYPOINT ["/bin/ratelimit"]
