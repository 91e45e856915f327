// Makes sure that what the tests start is installed: node scripts/prepare-tests.mjs test | edge | release [programs to build]
// Never skips in silence. Only `release` builds programs: all of them, or those that are named (test/support/edge/programs.ts).
import { spawnSync } from 'node:child_process';

const [sort = 'release', ...programs] = process.argv.slice(2);
const near = [
  { command: 'redis-server', package: 'redis-server' },
  { command: 'memcached', package: 'memcached' },
  { command: 'openssl', package: 'openssl' },
];
const edge = [
  ...near,
  { command: 'curl', package: 'curl' },
  { command: 'h2load', package: 'nghttp2-client' },
];
const release = [
  ...edge,
  { command: 'chromium-headless-shell', package: 'chromium-headless-shell' },
  { command: 'prometheus', package: 'prometheus' },
  { command: 'nginx', package: 'nginx-light' },
];
const needed = { test: near, edge, release }[sort];
if (needed === undefined) {
  console.error(`expected test, edge or release, found ${JSON.stringify(sort)}`);
  process.exit(2);
}

const missing = needed.filter(
  ({ command }) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0,
);
if (missing.length > 0) {
  const packages = missing.map((one) => one.package);
  if (process.getuid?.() !== 0 || spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0) {
    console.error(`the tests need ${packages.join(', ')}: apt-get install ${packages.join(' ')}`);
    process.exit(1);
  }
  console.log(`installing ${packages.join(', ')} for the tests …`);
  const run = (args) =>
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status;
  run(['update', '-q']);
  if (run(['install', '-qy', '--no-install-recommends', ...packages]) !== 0) {
    console.error(`apt-get install ${packages.join(' ')} failed: install them by hand`);
    process.exit(1);
  }
}

if (sort === 'release') {
  const hook = ['--require', './test/support/typescript-hook.cjs'];
  const words = [...hook, 'test/support/edge/install-programs.ts', ...programs];
  const others = spawnSync(process.execPath, words, { stdio: 'inherit' });
  process.exitCode = others.status ?? 1;
}
