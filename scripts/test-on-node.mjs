// Runs tests on another Node, without coverage: node scripts/test-on-node.mjs 20 | 22 | 24 [what jest takes]
// Without anything for jest: all of them. Build first.
import { execFileSync, spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';

const [major = '', ...words] = process.argv.slice(2);
const script = join(import.meta.dirname, 'node-binary.mjs');
const stdio = ['ignore', 'pipe', 'inherit'];
const binary = execFileSync(process.execPath, [script, major], { encoding: 'utf8', stdio }).trim();
// First in PATH too, for what the tests start by name.
const PATH = `${dirname(binary)}${delimiter}${process.env.PATH}`;
const jest = join(import.meta.dirname, '../node_modules/jest/bin/jest.js');
const { status } = spawnSync(binary, [jest, '--coverage=false', '--forceExit', ...words], {
  stdio: 'inherit',
  env: { ...process.env, PATH },
});
process.exitCode = status ?? 1;
