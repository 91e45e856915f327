const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** Within the copy of the project that StrykerJS works on. */
const INDEX = join(__dirname, '../../../.cache/mutants/tests-of-files.json');

/** StrykerJS names the tests that reach a mutant; without this jest would load every file to look for them. */
module.exports = class CoveringTests {
  constructor({ globalConfig }) {
    this.names = globalConfig.testNamePattern && new RegExp(globalConfig.testNamePattern);
  }

  sort(tests) {
    if (!this.names || !existsSync(INDEX)) return tests;
    const namesOf = JSON.parse(readFileSync(INDEX, 'utf8'));
    return tests.filter(({ path }) => namesOf[path].some((name) => this.names.test(name)));
  }

  allFailedTests(tests) {
    return tests;
  }

  /** The first run, before any mutant, says which tests each file has. */
  cacheResults(_, { testResults }) {
    if (this.names) return;
    const namesOf = testResults.map(({ testFilePath, testResults: results }) => [
      testFilePath,
      results.map(({ fullName }) => fullName),
    ]);
    mkdirSync(dirname(INDEX), { recursive: true });
    writeFileSync(INDEX, JSON.stringify(Object.fromEntries(namesOf)));
  }
};
