# The image of the rate limit service. Needs nothing but the files copied here.
ARG NODE_IMAGE=node:lts-slim

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
RUN ln -s /app/dist/src/bin/ratelimit.js /bin/ratelimit \
  && ln -s /app/dist/src/bin/ratelimit-client.js /bin/ratelimit-client \
  && ln -s /app/dist/src/bin/ratelimit-config-check.js /bin/ratelimit-config-check \
  && ln -s /app/dist/src/bin/identity.js /bin/identity
USER node
EXPOSE 8080 8081 6070 8082
HEALTHCHECK --interval=5s --timeout=2s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.PORT||8080)+'/healthcheck').then(a=>process.exit(a.ok?0:1),()=>process.exit(1))"]
CMD ["/bin/ratelimit"]
