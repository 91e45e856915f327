// Runs jest on the paths given, in one worker of a cluster, as `WORKERS` does: whatever a test listens on is opened by this
// process, which hands each connection on (round robin). Two workers would get the same port where both ask for any.
import cluster from 'node:cluster';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const paths = process.argv.slice(2);
const { resolve } = createRequire(import.meta.url);

cluster.schedulingPolicy = cluster.SCHED_RR;
cluster.setupPrimary({
  exec: join(dirname(resolve('jest/package.json')), 'bin/jest.js'),
  // The channel to this process keeps jest from ending by itself.
  args: [...paths, '--runInBand', '--coverage=false', '--forceExit'],
  serialization: 'advanced',
});
cluster.fork().once('exit', (code, signal) => {
  if (signal !== null) process.stderr.write(`jest ended by ${signal}\n`);
  process.exit(code ?? 1);
});
