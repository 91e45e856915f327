// `npm run test:mutants`: the tests of src/core, src/decisions and streams, as StrykerJS runs them.
const { jest } = require('./package.json');

module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/test/unit', '<rootDir>/test/streams', '<rootDir>/src', '<rootDir>/streams'],
  testMatch: [
    '<rootDir>/test/unit/{core,decisions}/**/*.test.ts',
    '<rootDir>/test/streams/**/*.test.ts',
  ],
  testEnvironment: 'node',
  testSequencer: '<rootDir>/test/support/mutants/covering-tests.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/mutants/late-errors.cjs'],
  transform: jest.transform,
  transformIgnorePatterns: jest.transformIgnorePatterns,
  watchman: false,
  // What a mutant lets wait for ever is seen soon.
  testTimeout: 3_000,
};
