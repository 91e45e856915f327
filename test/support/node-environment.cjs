const { promisify } = require('node:util');
const { TestEnvironment } = require('jest-environment-node');

/** A timer that is still open at the end of a suite fails it, with where it was started. */
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

  async teardown() {
    const open = [...this.timers].filter(([timer]) => timer.hasRef());
    for (const [timer] of open) timer.unref();
    await super.teardown();
    if (open.length > 0) throw new Error(open.map(([, { stack }]) => stack).join('\n'));
  }
};
