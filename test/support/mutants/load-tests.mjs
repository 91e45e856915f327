import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { ModernFakeTimers } from '@jest/fake-timers';
import { expect } from 'expect';
import fc from 'fast-check';
import { fn } from 'jest-mock';
import * as circus from 'jest-circus';

const require = createRequire(import.meta.url);

/** The tests of these files, each with the hooks around it, as jest's own `describe` and `it` gather them. */
export function loadTests(paths) {
  require('../typescript-hook.cjs');
  const { beforeAll, afterAll, beforeEach, afterEach, describe, it, test } = circus;
  Object.assign(globalThis, { beforeAll, afterAll, beforeEach, afterEach, describe, it, test });
  Object.assign(globalThis, { expect, jest: fakes() });
  // One example shows that a change is seen; the smallest one takes long to find.
  fc.configureGlobal({ endOnFailure: true, seed: 1 });
  return paths.flatMap((path) => {
    circus.resetState();
    require(path);
    const tests = testsOf(
      circus.getState().rootDescribeBlock,
      relative(process.cwd(), path),
      [],
      [],
    );
    return [...tests].map((test) => ({ ...test, fileName: path }));
  });
}

function* testsOf(block, name, before, after) {
  const hooks = (type) => block.hooks.filter((hook) => hook.type === type).map(({ fn }) => fn);
  if (hooks('beforeAll').length + hooks('afterAll').length > 0) {
    throw new Error(`${name}: expected no hook that runs once for several tests`);
  }
  const allBefore = [...before, ...hooks('beforeEach')];
  const allAfter = [...hooks('afterEach'), ...after];
  for (const [position, child] of block.children.entries()) {
    const childName = `${name} ${child.name}`;
    if (child.type === 'describeBlock') yield* testsOf(child, childName, allBefore, allAfter);
    // The rows of a table may have one name.
    else
      yield {
        id: `${childName} (${position})`,
        name: childName,
        steps: [...allBefore, child.fn],
        after: allAfter,
      };
  }
}

/** The part of `jest` that these tests use. */
function fakes() {
  const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
  return {
    fn,
    useFakeTimers: () => timers.useFakeTimers(),
    useRealTimers: () => timers.useRealTimers(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    now: () => timers.now(),
    setSystemTime: (ms) => timers.setSystemTime(ms),
  };
}
