// `npm run siege`: the tests that bound time, one after the other.
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const { projects, coverageThreshold, ...run } = require('./jest.config.cjs');

const [{ displayName, ...suite }] = projects;

/** Helpers that judge figures: a test file that imports one takes part in the siege. */
const judges =
  /(?:support\/edge\/(?:figure|fault-drill)|\/(?:transport|identity-store)\.contract|dashboard\/rules)'/;
const tests = readdirSync(join(__dirname, 'test'), { recursive: true })
  .filter((file) => /\.test\.ts$/.test(file))
  .filter((file) => judges.test(readFileSync(join(__dirname, 'test', file), 'utf8')));

module.exports = {
  ...run,
  ...suite,
  rootDir: __dirname,
  testMatch: [
    '<rootDir>/test/siege/**/*.siege.ts',
    ...tests.map((file) => `<rootDir>/test/${file}`),
  ],
  globals: { isSiege: true },
  maxWorkers: 1,
  // All suites run in the process of jest itself, and what one leaves open would keep it from ending.
  forceExit: true,
};
