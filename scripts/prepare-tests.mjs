// Makes sure that the real servers which the tests talk to are installed. Never skips in silence.
import { spawnSync } from 'node:child_process';

const needed = [
  { command: 'redis-server', package: 'redis-server' },
  { command: 'memcached', package: 'memcached' },
  { command: 'curl', package: 'curl' },
  { command: 'openssl', package: 'openssl' },
  { command: 'h2load', package: 'nghttp2-client' },
  { command: 'chromium-headless-shell', package: 'chromium-headless-shell' },
  { command: 'prometheus', package: 'prometheus' },
  { command: 'nginx', package: 'nginx-light' },
];

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

const hook = ['--require', './test/support/typescript-hook.cjs'];
const others = spawnSync(process.execPath, [...hook, 'test/support/install-programs.ts'], {
  stdio: 'inherit',
});
process.exitCode = others.status ?? 1;
