import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '../../../scripts/node-binary.mjs');

/** A Node that is not the one of this test: the least that package.json takes, the one between, that of the image. */
export function nodeBinary(major: 20 | 22 | 24): string {
  return execFileSync(process.execPath, [SCRIPT, String(major)], { encoding: 'utf8' }).trim();
}
