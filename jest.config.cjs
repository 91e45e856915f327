// All suites, in four sorts: CONTRIBUTING says which to run when.
const { availableParallelism } = require('node:os');

/** Types are checked by `npm run check`; this only strips them. */
const swc = (syntax) => ({
  jsc: { parser: { syntax }, target: 'es2023' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
});

/** What each sort of suite needs; other configurations build on it. */
const suite = {
  testEnvironment: '<rootDir>/test/support/node-environment.cjs',
  transform: {
    '^.+\\.ts$': ['<rootDir>/test/support/swc-transform.cjs', swc('typescript')],
    'node_modules/jose/.+\\.js$': ['@swc/jest', swc('ecmascript')],
  },
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/seeded-fast-check.cjs' },
  collectCoverageFrom: [
    'src/core/**/*.ts',
    'src/fields/**/*.ts',
    'src/wire/**/*.ts',
    'streams/**/*.ts',
  ],
};
const run = {
  reporters: ['default', '<rootDir>/test/support/summary-reporter.cjs'],
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
  testTimeout: 60_000,
  // Tests wait for other processes a good deal of their time: two work more than there are cores.
  maxWorkers: 2 + availableParallelism(),
  // A worker that has grown is begun anew: with a heap of 600 MB and more it does not end in the half second that jest waits.
  workerIdleMemoryLimit: '400MB',
};
/** The nearest tests cover every line. To count lines makes others up to three times as slow. */
const COVERING = [
  'scenarios/memory',
  'streams',
  'unit/core',
  'unit/decisions',
  'unit/fields',
  'unit/wire',
];
const NEAR = ['contract', 'fuzz', 'parity', 'scenarios', 'unit'];
const EDGE = ['chaos', 'e2e', 'integration'];
const folderOf = (name) => `<rootDir>/test/${name}/`;
const suitesIn = (folders) => folders.map((name) => `${folderOf(name)}**/*.test.ts`);
const uncounted = { ...suite, coveragePathIgnorePatterns: ['/'] };

module.exports = {
  ...run,
  collectCoverageFrom: suite.collectCoverageFrom,
  coverageReporters: ['text-summary'],
  coverageThreshold: {
    './src/core/': { lines: 100 },
    './src/fields/': { lines: 100 },
    './src/wire/': { lines: 100 },
    './streams/': { lines: 100 },
  },
  // `npm test` runs the first two, `npm run test:edge` and `npm run test:release` one each, `npx jest <path>` whatever lies there.
  projects: [
    { ...suite, displayName: 'covering', testMatch: suitesIn(COVERING) },
    {
      ...uncounted,
      displayName: 'near',
      testMatch: suitesIn(NEAR),
      testPathIgnorePatterns: COVERING.map(folderOf),
      globalSetup: '<rootDir>/test/support/start-near-stores.cjs',
      globalTeardown: '<rootDir>/test/support/stop-near-stores.cjs',
    },
    { ...uncounted, displayName: 'edge', testMatch: suitesIn(EDGE) },
    { ...uncounted, displayName: 'release', testMatch: suitesIn(['release']) },
  ],
};
