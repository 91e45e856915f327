// Loads test files without running them, and answers the names of their tests under those of their groups.
require('./typescript-hook.cjs');
const { format } = require('node:util');

/** @returns {Map<string, string[]>} the names of the tests of each outermost `describe` */
module.exports.collectTestNames = (files) => {
  const groups = new Map();
  let group = '';
  const nothing = () => undefined;
  const describe = (name, body) => {
    group = name;
    body();
  };
  const it = (name) => groups.set(group, [...(groups.get(group) ?? []), name]);
  describe.skip = describe;
  it.each = (rows) => (name) => {
    for (const row of rows) it(format(name, ...[row].flat().slice(0, 1)));
  };
  const hooks = { beforeAll: nothing, beforeEach: nothing, afterAll: nothing, afterEach: nothing };
  Object.assign(globalThis, hooks, { describe, it, jest: { setTimeout: nothing } });
  for (const file of files) require(file);
  return groups;
};
