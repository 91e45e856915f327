const { setTimeout: start, clearTimeout: clear } = globalThis;

/** A test that a change lets wait for ever has failed. */
const TEST_MS = 5_000;

/** Undefined for a test that passed, else why it failed. */
export async function runTest({ steps, after }) {
  const uncaught = [];
  const onUncaught = (error) => uncaught.push(error);
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);
  try {
    await inTime(inOrder(steps));
  } catch (error) {
    uncaught.push(error);
  }
  try {
    await inTime(inOrder(after));
    // rxjs throws what has no handler in a turn of its own.
    await new Promise((resolve) => start(resolve, 0));
  } catch (error) {
    uncaught.push(error);
  } finally {
    process.off('uncaughtException', onUncaught);
    process.off('unhandledRejection', onUncaught);
  }
  return uncaught.length > 0 ? String(uncaught[0]?.stack ?? uncaught[0]) : undefined;
}

async function inOrder(steps) {
  for (const step of steps) await (step.length > 0 ? new Promise((done) => step(done)) : step());
}

async function inTime(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = start(() => reject(new Error(`took more than ${TEST_MS} ms`)), TEST_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clear(timer);
  }
}
