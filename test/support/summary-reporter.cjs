const { writeSync } = require('node:fs');

/** Ends a run with one plain line, behind all that other reporters print: `N passed, N failed`. */
module.exports = class SummaryReporter {
  onRunComplete(
    _,
    { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, testResults },
  ) {
    const brokenSuites = testResults.filter((suite) => suite.testExecError).length;
    const failed = numFailedTests + (numFailedTests === 0 ? numFailedTestSuites : brokenSuites);
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.once('exit', () => {
      // After what other reporters still write.
      writeSync(1, `\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
    });
  }
};
