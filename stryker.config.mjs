/** What `scripts/test-mutants.mjs` runs, folder by folder. */
export default {
  testRunner: 'loaded-tests',
  plugins: ['./test/support/mutants/test-runner.mjs'],
  coverageAnalysis: 'perTest',
  // Tables and constants of a module are made before any test: each such mutant would take a process of its own.
  ignoreStatic: true,
  incremental: true,
  tempDirName: '.cache/stryker',
  ignorePatterns: ['.cache', 'dist', 'docs', 'ui', 'deploy'],
  concurrency: 1,
  timeoutMS: 6_000,
  timeoutFactor: 3,
  reporters: ['progress-append-only'],
};
