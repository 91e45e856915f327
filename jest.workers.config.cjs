// `npm run test:workers`: tests that run with several workers.
const { jest } = require('./package.json');

const { collectCoverageFrom, coverageReporters, coverageThreshold, ...shared } = jest;

module.exports = {
  ...shared,
  rootDir: __dirname,
  testMatch: ['<rootDir>/test/parity/*.workers.ts'],
  maxConcurrency: 3,
};
