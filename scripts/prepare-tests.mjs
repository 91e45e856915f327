// Makes sure that what the tests start is installed: node scripts/prepare-tests.mjs test | edge | release [programs to build]
// As root it installs what is missing from Debian. Elsewhere `test` goes on without it, after a line that says what is left out, and
// the others end; under CI=true both are an error. Only `release` builds programs: all, or those named (test/support/edge/programs.ts).
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const { findFakeTime } = createRequire(import.meta.url)('../test/support/fake-time.cjs');

const [sort = 'release', ...programs] = process.argv.slice(2);
const succeeds = (...words) => spawnSync('sh', ['-c', ...words]).status === 0;
const command = (name, of = name) => ({ package: of, isThere: succeeds(`command -v ${name}`) });
const test = [
  command('redis-server'),
  command('memcached'),
  { package: 'libfaketime', isThere: findFakeTime() !== undefined },
];
const edge = [
  command('redis-server'),
  command('memcached'),
  command('curl'),
  command('h2load', 'nghttp2-client'),
];
const release = [
  ...edge,
  command('chromium-headless-shell'),
  command('prometheus'),
  command('nginx', 'nginx-light'),
  command('openssl'),
];
const needed = { test, edge, release }[sort];
if (needed === undefined) {
  console.error(`expected test, edge or release, found ${JSON.stringify(sort)}`);
  process.exit(2);
}

const missing = needed.filter(({ isThere }) => !isThere).map((one) => one.package);
if (missing.length > 0) install(missing);

if (sort === 'release') {
  const hook = ['--require', './test/support/typescript-hook.cjs'];
  const words = [...hook, 'test/support/edge/install-programs.ts', ...programs];
  const others = spawnSync(process.execPath, words, { stdio: 'inherit' });
  process.exitCode = others.status ?? 1;
}

function install(packages) {
  const words = `apt-get install ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !succeeds('command -v apt-get')) {
    if (sort === 'test' && process.env.CI !== 'true') {
      console.log(
        `without ${packages.join(', ')} the tests on Redis and memcached are left out: ${words}`,
      );
      return;
    }
    console.error(`the tests need ${packages.join(', ')}: ${words}`);
    process.exit(1);
  }
  console.log(`installing ${packages.join(', ')} for the tests …`);
  const run = (...given) =>
    spawnSync('apt-get', given, { stdio: ['ignore', 'ignore', 'inherit'] }).status;
  run('update', '-q');
  if (run('install', '-qy', '--no-install-recommends', ...packages) === 0) return;
  console.error(`${words} failed: install them by hand`);
  process.exit(1);
}
