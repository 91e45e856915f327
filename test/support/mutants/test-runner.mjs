import { resolve } from 'node:path';
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { loadTests } from './load-tests.mjs';
import { runTest } from './run-test.mjs';

/**
 * Loads the tests once, and then lets StrykerJS switch one change on after the other: a change takes milliseconds, where its
 * runner for jest takes seconds to load the tests anew.
 */
class LoadedTests {
  static inject = tokens(commonTokens.options);

  #options;
  #tests = [];
  #stryker = (globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {});

  constructor(options) {
    this.#options = options;
  }

  capabilities() {
    // With `ignoreStatic` no change asks for it; a new process for each that also runs while tests load would take seconds.
    return { reloadEnvironment: true };
  }

  init() {
    this.#tests = loadTests(this.#options.testFiles.map((path) => resolve(path)));
  }

  async dryRun() {
    const tests = [];
    for (const test of this.#tests) {
      this.#stryker.currentTestId = test.id;
      tests.push(await this.#run(test));
      this.#stryker.currentTestId = undefined;
    }
    const msOf = new Map(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs]));
    this.#tests.sort((one, other) => msOf.get(one.id) - msOf.get(other.id));
    return { status: DryRunStatus.Complete, tests, mutantCoverage: this.#stryker.mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    const named = testFilter && new Set(testFilter);
    const results = [];
    for (const test of this.#tests) {
      if (named && !named.has(test.id)) continue;
      Object.assign(this.#stryker, {
        activeMutant: activeMutant.id,
        hitLimit,
        hitCount: hitLimit && 0,
      });
      const result = await this.#run(test);
      this.#stryker.activeMutant = undefined;
      const endless = determineHitLimitReached(this.#stryker.hitCount, hitLimit);
      if (endless) return toMutantRunResult(endless);
      results.push(result);
      if (result.status === TestStatus.Failed) {
        await this.#expectUnchanged(test);
        break;
      }
    }
    return toMutantRunResult({ status: DryRunStatus.Complete, tests: results });
  }

  /** What a change left behind in a module must not count against the next one: StrykerJS starts a new process. */
  async #expectUnchanged(test) {
    Object.assign(this.#stryker, { hitLimit: undefined, hitCount: undefined });
    const { status, failureMessage } = await this.#run(test);
    if (status === TestStatus.Failed)
      throw new Error(`${test.id} fails without a change: ${failureMessage}`);
  }

  async #run(test) {
    const startedAt = performance.now();
    const failureMessage = await runTest(test);
    return {
      id: test.id,
      name: test.name,
      fileName: test.fileName,
      timeSpentMs: performance.now() - startedAt,
      status: failureMessage === undefined ? TestStatus.Success : TestStatus.Failed,
      failureMessage,
    };
  }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, 'loaded-tests', LoadedTests),
];
