const { createHash } = require('node:crypto');
const { default: Sequencer } = require('@jest/test-sequencer');

/** What waits for other processes takes longest: half a minute and more, the first row. Begun last, one core would do nothing at the end. */
const FIRST = [
  /release\/(install|wire-clients)|e2e\/(identity|leases|store-kind|workers|time-zones)\.|security\/|redis-(scripts-again|processes|answers)\./,
  /release\/dashboard|parity\//,
  /\/(e2e|release)\//,
  /\/chaos\//,
  /\/integration\//,
];

/** Begins with the folders of long tests; jest knows the times of tests only where they ran before. ORDER_SEED mixes all. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const { ORDER_SEED: seed } = process.env;
    if (seed !== undefined) return inOrderOf(tests, seed);
    const rank = ({ path }) => {
      const at = FIRST.findIndex((folder) => folder.test(path));
      return at === -1 ? FIRST.length : at;
    };
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
};

function inOrderOf(tests, seed) {
  const keyed = tests.map((test) => [
    createHash('sha1')
      .update(seed + test.path)
      .digest('hex'),
    test,
  ]);
  return keyed.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, test]) => test);
}
