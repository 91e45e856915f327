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
RUN npm run build && npm prune --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY proto ./proto
COPY ui ./ui
COPY LICENSE NOTICE ./
RUN ln -s /app/dist/src/bin/ratelimit.js /bin/ratelimit \
  && ln -s /app/dist/src/bin/ratelimit-client.js /bin/ratelimit-client \
  && ln -s /app/dist/src/bin/ratelimit-config-check.js /bin/ratelimit-config-check \
  && ln -s /app/dist/src/bin/ratelimit-hash-value.js /bin/ratelimit-hash-value \
  && ln -s /app/dist/src/bin/identity.js /bin/identity
USER node
EXPOSE 8080 8081 6070 8082
HEALTHCHECK --interval=5s --timeout=2s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.PORT||8080)+'/healthcheck').then(a=>process.exit(a.ok?0:1),()=>process.exit(1))"]
CMD ["/bin/ratelimit"]
