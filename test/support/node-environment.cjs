const { promisify } = require('node:util');
const { TestEnvironment } = require('jest-environment-node');

/**
 * Libraries that are closed do not end all of their timers (ioredis 2 s for a connection that does not end, chokidar 1 s for an
 * event): they would keep a worker of jest from ending in the half second that it has.
 */
module.exports = class NodeEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const { setTimeout: start, clearTimeout: clear } = this.global;
    this.timers = new Set();
    const started = (callback, ms, ...words) => {
      const timer = start(
        (...given) => {
          this.timers.delete(timer);
          callback(...given);
        },
        ms,
        ...words,
      );
      this.timers.add(timer);
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
    for (const timer of this.timers) timer.unref();
    await super.teardown();
  }
};
