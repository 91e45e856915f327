// Writes docs/internals/faults.md from the names of the tests that mount the faults; with --print to standard output.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';

const root = new URL('../', import.meta.url);
const { collectTestNames } = createRequire(import.meta.url)(
  '../test/support/collect-test-names.cjs',
);

const FILES = [
  'chaos/faults/servers',
  'chaos/faults/redis-sentinel',
  'chaos/faults/redis-cluster',
  'chaos/faults/redis-answers',
  'chaos/faults/redis-operator-answers',
  'chaos/faults/redis-cluster-answers',
  'release/faults-behind-envoy',
  'chaos/faults/memcached-answers',
];

const INTRODUCTION = `# Faults

What callers see of every fault of a store, and what becomes of the counters. [outages.md](../outages.md) is the short form, with what a rule
can answer instead: here \`on_store_error\` is \`error\`, the default, and over HTTP both statuses are a 503. In every row calls are right
again within 2.5 seconds of the end of the fault, without help, unless the row says otherwise; no call takes longer than a second at
\`KVSTORE_TIMEOUT=300ms\`. Where a store refuses or does not answer, \`redis_error\` counts the call, and \`store_unknown_outcome\` one whose hits may
be counted or not.

This page is written by \`npm run docs\` from the names of the tests that cause each fault ([how](testing.md#faults)).
`;

const OF_FAULTS = ['fault', 'the caller sees', 'the counters hold'];
const OF_ANSWERS = [
  'the command',
  'the server answers',
  'who notices it',
  'the log says of the store',
  'the hits are',
];

const tableOf = ([store, names]) => {
  const rows = names.map((name) => name.split(' → '));
  const heads = [OF_FAULTS, OF_ANSWERS].find(({ length }) => length === rows[0].length);
  const lines = [heads, heads.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `## ${store}\n\n${lines.join('\n')}\n`;
};

const files = FILES.map((name) => fileURLToPath(new URL(`test/${name}.test.ts`, root)));
const text = [INTRODUCTION, ...[...collectTestNames(files)].map(tableOf)].join('\n');
const { prettier } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const page = await format(text, { ...prettier, parser: 'markdown' });

if (process.argv.includes('--print')) process.stdout.write(page);
else writeFileSync(new URL('docs/internals/faults.md', root), page);
