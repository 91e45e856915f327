/**
 * Preloaded into the built service by a test: its time of day stands where the test puts it, in each of its processes. The
 * file that WEIR_TEST_CLOCK names holds it: Unix seconds, a double, little-endian.
 */
const { openSync, readSync } = require('node:fs');
const clock = require('../../dist/src/platform/clock');

const file = openSync(process.env.WEIR_TEST_CLOCK, 'r');
const bytes = Buffer.alloc(8);

clock.systemClock = () => {
  readSync(file, bytes, 0, bytes.length, 0);
  return bytes.readDoubleLE(0);
};
