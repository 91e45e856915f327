/**
 * What tests import as fast-check. `npm test` makes up the same cases each time, so that it is never red by chance; PROPERTY_SEED makes
 * up others, as scripts/test-often.mjs does with each run.
 */
const fc = require('../../node_modules/fast-check/lib/cjs/fast-check.js');

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.PROPERTY_SEED ?? 1) });

module.exports = fc;
