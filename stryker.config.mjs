/** What `scripts/test-mutants.mjs` runs, folder by folder. */
export default {
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  jest: { configFile: 'jest.mutants.config.cjs', enableFindRelatedTests: false },
  coverageAnalysis: 'perTest',
  // Tables and constants of a module are made before any test: each such mutant would take all tests.
  ignoreStatic: true,
  incremental: true,
  tempDirName: '.cache/stryker',
  ignorePatterns: ['.cache', 'dist', 'docs', 'ui', 'deploy', 'examples'],
  timeoutMS: 10_000,
  reporters: ['progress-append-only'],
};
