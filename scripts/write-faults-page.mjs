// Writes docs/faults.md from the names of the tests that mount the faults; with --print to standard output.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';

const root = new URL('../', import.meta.url);
const { collectTestNames } = createRequire(import.meta.url)(
  '../test/support/collect-test-names.cjs',
);

const FILES = [
  'redis',
  'redis-sentinel',
  'redis-cluster',
  'redis-answers',
  'redis-other-answers',
  'memcached',
  'memcached-answers',
  'outage-policies',
];

const INTRODUCTION = `# Faults

What callers see of every fault of a store, and what becomes of the counters. This page is written by \`npm run docs\` from the names of
the tests in \`test/chaos/faults\`. Each of them mounts its fault on a real store while four callers ask the built service over gRPC
without a pause, takes it away, and sees that

- callers got answers and these statuses, and no others, and no call took longer than a second (\`KVSTORE_TIMEOUT=300ms\`);
- calls were right again within 2.5 seconds, and \`/healthcheck\` said so, with nobody's help;
- the counters held what the last column says.

The table of memcached's commands is played by a server of the tests that answers one command as the row says, and all others as memcached does.

The tables of Redis's answers are written from tests in which a server of ours answers a command with an error, each error of a row after the other:
a call gets what the row says within a second, the log has the server's words, the statistics (under
\`ratelimit.service.call.should_rate_limit\`) count one call, and calls are right again once the server answers rightly.
Those of other commands, and of answers that are no errors, are played for the part of the service that talks to Redis, with a time-out
of 300 ms; each is right again within 2.5 seconds.

\`UNAVAILABLE\` and \`DEADLINE_EXCEEDED\` are what callers see under \`on_store_error: error\`, the default; for the others see the end of the
page and [outages.md](outages.md). Over HTTP both are a 503.
`;

const OF_FAULTS = ['fault', 'the caller sees', 'the counters hold'];
const OF_ANSWERS = [
  'what is asked',
  'the server answers',
  'the caller sees',
  'the log says, with these words',
  'counted in',
  'right again, once it answers rightly',
];

const OF_OTHERS = [
  'what is asked',
  'the server answers',
  'who notices it',
  'the log says of the store, with these words',
];

const tableOf = ([store, names]) => {
  const rows = names.map((name) => name.split(' → '));
  const heads = [OF_FAULTS, OF_OTHERS, OF_ANSWERS].find(({ length }) => length === rows[0].length);
  const lines = [heads, heads.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `## ${store}\n\n${lines.join('\n')}\n`;
};

const files = FILES.map((name) =>
  fileURLToPath(new URL(`test/chaos/faults/${name}.test.ts`, root)),
);
const text = [INTRODUCTION, ...[...collectTestNames(files)].map(tableOf)].join('\n');
const { prettier } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const page = await format(text, { ...prettier, parser: 'markdown' });

if (process.argv.includes('--print')) process.stdout.write(page);
else writeFileSync(new URL('docs/faults.md', root), page);
