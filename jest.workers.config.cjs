// `npm run test:workers`: end-to-end tests and the recorded answers on services with two workers each.
const { projects, coverageThreshold, ...run } = require('./jest.config.cjs');

const [{ displayName, ...suite }] = projects;

/** What is left out, and why: docs/internals/testing.md. */
const e2e = [
  'alerts envoy-headers envoy-xds envoy explain first-rules limits-from outage-log prometheus readiness redis',
  'requests-in-flight response-headers rules runbook secrets start statistics statsd tls token-budgets tracing',
];
module.exports = {
  ...run,
  ...suite,
  rootDir: __dirname,
  testMatch: [
    '<rootDir>/test/side-by-side/*.workers.ts',
    `<rootDir>/test/(e2e|release)/(${e2e.join(' ').replaceAll(' ', '|')}).test.ts`,
    '<rootDir>/test/release/h2spec.test.ts',
    '<rootDir>/test/integration/xds.service.test.ts',
  ],
  maxConcurrency: 3,
  // A single suite runs in the process of jest itself.
  forceExit: true,
};
