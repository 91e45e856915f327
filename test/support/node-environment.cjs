const { appendFileSync } = require('node:fs');
const { promisify } = require('node:util');
const { TestEnvironment } = require('jest-environment-node');

/** A timer that is open at the end of a suite is a failure, with where it was started. */
module.exports = class NodeEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.path = context.testPath;
  }

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
      this.timers.set(timer, new OwnError(`${ms} ms`));
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
    for (const [timer, { stack }] of this.timers) {
      if (timer.hasRef()) appendFileSync('/tmp/w/timers.txt', `${this.path}\n${stack}\n\n`);
      timer.unref();
    }
    await super.teardown();
  }
};
