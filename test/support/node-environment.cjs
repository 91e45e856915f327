const { setTimeout } = require('node:timers/promises');
const { promisify } = require('node:util');
const { TestEnvironment } = require('jest-environment-node');

/** How long timers of libraries may outlive a suite: ioredis lets a connection take 2 s to end, and chokidar counts an event for 1 s. */
const LIBRARIES_MS = 3_000;

/** A timer that is still open at the end of a suite fails it, with where it was started; one of a library only after its time. */
module.exports = class NodeEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const { setTimeout: start, clearTimeout: clear, Error: OwnError } = this.global;
    this.timers = new Map();
    const started = (callback, ms, ...words) => {
      const timer = start(
        (...given) => {
          this.timers.delete(timer);
          callback(...given);
        },
        ms,
        ...words,
      );
      this.timers.set(timer, new OwnError(`a timer of ${ms} ms is open at the end of the suite`));
      return timer;
    };
    started[promisify.custom] = start[promisify.custom];
    this.global.setTimeout = started;
    this.global.clearTimeout = (timer) => {
      this.timers.delete(timer);
      clear(timer);
    };
  }

  /** The stacks of the timers that are open. */
  open() {
    return [...this.timers].filter(([timer]) => timer.hasRef()).map(([, { stack }]) => stack);
  }

  async teardown() {
    const endMs = performance.now() + LIBRARIES_MS;
    while (this.open().some(isOfLibrary) && performance.now() < endMs) await setTimeout(10);
    const open = this.open();
    for (const timer of this.timers.keys()) timer.unref();
    await super.teardown();
    if (open.length > 0) throw new Error(open.join('\n'));
  }
};

/** The first line of a stack is the message, the second is `started`. */
const isOfLibrary = (stack) => stack.split('\n')[2]?.includes('/node_modules/') === true;
