import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The service imports this file before all others: rxjs comes as 223 files, which take 60 ms to load, and as one, which takes
 * seven. Without the single file the others are loaded.
 */
const inFiles = require.resolve('rxjs');
const inOne = join(inFiles, '../../bundles/rxjs.umd.js');
if (existsSync(inOne)) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- rxjs does not export its path
  require(inOne);
  require.cache[inFiles] = require.cache[inOne];
}
