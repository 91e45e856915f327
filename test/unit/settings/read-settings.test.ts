import fc from 'fast-check';
import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';
import { problemsOf, settingsOf } from './results';

describe('settings', () => {
  it('hold the defaults of the document in an empty environment', () => {
    expect(settingsOf({})).toEqual({
      check: { config: undefined },
      configuration: {
        type: 'FILE',
        forceStartWithoutInitialConfig: false,
        runtimeRoot: '/srv/runtime_data/current',
        runtimeSubdirectory: undefined,
        runtimeAppDirectory: 'config',
        runtimeIgnoreDotFiles: false,
        runtimeWatchRoot: true,
        mergeDomains: false,
      },
      xds: {
        nodeId: 'default',
        nodeMetadata: {},
        serverTarget: 'localhost:18000',
        connectRetryIntervalMs: 3_000,
        backoff: { initialMs: 10_000, maxMs: 60_000, jitter: 0.5 },
        maxMessageSizeBytes: undefined,
        tls: undefined,
        additionalHeaders: {},
      },
      servers: {
        http: { host: '0.0.0.0', port: 8080 },
        grpc: {
          host: '0.0.0.0',
          port: 8081,
          unixSocket: undefined,
          unixSocketMode: 0o666,
          transport: 'wire',
          reflection: true,
          maxConnectionAgeMs: 86_400_000,
          maxConnectionAgeGraceMs: 3_600_000,
          tls: undefined,
        },
        debug: { host: '0.0.0.0', port: 6070 },
      },
      clientFiles: { stores: [], rules: [] },
      workers: 1,
      admin: { api: 'read', tokenFile: undefined, protectAll: false, hosts: [] },
      bounds: {
        maxDescriptors: 256,
        maxEntries: 64,
        maxNameBytes: 1_024,
        maxValueBytes: 65_536,
        maxJsonBytes: 1_048_576,
        maxGrpcMessageBytes: 4_194_304,
        maxUnpackRatio: 100,
        maxHeldBytes: 134_217_728,
        maxConnections: 10_000,
        debugAllowedHosts: undefined,
      },
      logging: { level: 'warning', format: 'text' },
      health: {
        needsConfiguration: false,
        needsStoreConnection: false,
        needsEqualKeys: true,
        drainDelayMs: 0,
      },
      decisionLog: { mode: 'off', sample: 0.01, file: undefined, maxPerSecond: 100 },
      decisions: {
        shadowMode: false,
        quotaMode: false,
        nearLimitRatio: 0.8,
        dynamicMetadata: false,
        holdBack: false,
        unitMultiplierOnWire: false,
        keyPrefix: '',
        ttlJitterSeconds: 300,
        localCacheSizeBytes: 0,
      },
      leases: { mode: 'off', timeMs: 100, share: 0.5, minRate: 20, maxBytes: 16_777_216 },
      secrets: { keysFile: undefined },
      timeZones: { folder: undefined },
      responseHeaders: {
        enabled: false,
        limit: 'RateLimit-Limit',
        remaining: 'RateLimit-Remaining',
        reset: 'RateLimit-Reset',
        policies: 'off',
        retryAfter: false,
        jitterPercent: 0,
        near: undefined,
        body: 'off',
      },
      backend: 'memory',
      store: undefined,
      perSecondStore: undefined,
      storeFailure: { onStoreError: 'error', failureReplicas: 1 },
      memstore: undefined,
      memory: { maxKeys: 1_000_000, maxBytes: undefined },
      statistics: {
        output: 'statsd',
        flushIntervalMs: 10_000,
        statsd: { host: 'localhost', port: 8125, protocol: 'tcp', isAsked: false },
        extraTags: {},
        maxSeries: 100_000,
        mogrifiers: [],
        pullMetrics: {
          host: undefined,
          port: 9090,
          addressSetting: 'PULLMETRICS_ADDR',
          path: '/metrics',
          mapperFile: undefined,
          responseTimeAsMilliseconds: false,
        },
      },
      tracing: undefined,
      identity: {
        host: '0.0.0.0',
        port: 8082,
        metricsAddress: undefined,
        corsOrigins: undefined,
        trustedProxies: undefined,
        userinfoProfile: 'documented',
        store: 'embedded',
        storeFile: 'identity-store.json',
        rateLimit: 'process',
        rateLimitAddress: undefined,
        rateLimitTimeoutMs: 250,
        rateLimitFailure: 'allow',
      },
    });
  });

  it('report one line each, whatever the environment holds', () => {
    const names = SUBJECTS.flatMap(({ settings }) => settings.map(({ name }) => name));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (env) => {
        const result = readSettings(env);
        const lines = result.ok ? result.warnings : result.problems;
        expect(lines.filter((line) => /[\n\r]/.test(line))).toEqual([]);
      }),
    );
  });
});

describe('the management server', () => {
  it.each(['tok en:hush', 'x:hush\u00e9', 'x-bin:hush'])(
    'gets no headers that gRPC does not take, and their values are not told: %j',
    (headers) => {
      const [problem, ...others] = problemsOf({
        KVSTORE_URL: 'a:1',
        CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: headers,
      });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS.*: expected /);
      expect(problem).not.toContain('hush');
    },
  );

  it('gets headers, metadata, TLS files and a backoff', () => {
    const { xds } = settingsOf({
      CONFIG_GRPC_XDS_NODE_METADATA: 'zone=a',
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: 'authorization:Bearer x',
      CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true',
      CONFIG_GRPC_XDS_SERVER_TLS_CACERT: '/ca',
      CONFIG_GRPC_XDS_SERVER_TLS_SAN: 'xds.test',
      XDS_CLIENT_BACKOFF_RANDOM_FACTOR: '1.5',
      XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES: '1024',
    });
    expect(xds).toMatchObject({
      nodeMetadata: { zone: 'a' },
      additionalHeaders: { authorization: 'Bearer x' },
      tls: { certFile: undefined, keyFile: undefined, caFile: '/ca', serverName: 'xds.test' },
      backoff: { jitter: 1 },
      maxMessageSizeBytes: 1024,
    });
  });

  it('gets no jitter when it is off, and the default size for 0', () => {
    const { xds } = settingsOf({
      XDS_CLIENT_BACKOFF_JITTER: 'false',
      XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES: '0',
    });
    expect([xds.backoff.jitter, xds.maxMessageSizeBytes]).toEqual([0, undefined]);
  });
});

describe('the operator API', () => {
  const base = { BACKEND_TYPE: 'memory' };
  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])(
    'may change counters without a token where the debug port is on %s',
    (host) => {
      expect(settingsOf({ ...base, ADMIN_API: 'write', DEBUG_HOST: host }).admin.api).toBe('write');
    },
  );

  it.each(['0.0.0.0', '10.0.0.1', '::', 'debug.internal', '127.evil.test'])(
    'stops the start where everybody on %s could change counters, and says the way out',
    (host) => {
      expect(problemsOf({ ...base, ADMIN_API: 'write', DEBUG_HOST: host })).toEqual([
        expect.stringMatching(/^ADMIN_API="write" lets everybody.*ADMIN_TOKEN_FILE.*127.0.0.1/),
      ]);
      const token = { ADMIN_TOKEN_FILE: '/token' };
      const { admin } = settingsOf({ ...base, ...token, ADMIN_API: 'write', DEBUG_HOST: host });
      expect(admin.tokenFile).toBe('/token');
    },
  );
});
