// Writes a man page for each command from its own --help: npm run build && node scripts/write-man.mjs [folder]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const folder = process.argv[2] ?? join(ROOT, 'dist/man');
const { bin, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const ABOUT = {
  weir: 'the rate limit service, with example rules where RUNTIME_ROOT is not set',
  ratelimit: 'the rate limit service',
  'ratelimit-client': 'asks the rate limit service one question',
  'ratelimit-config-check': 'checks rule files',
  'ratelimit-hash-value': 'prints the tokens of secret values',
  'ratelimit-simulate': 'decides the requests of a log by rules',
  identity: 'the identity service, its users, sessions and tokens',
};
/** Helps beside `--help`. */
const MORE = { identity: [['serve', '--help']] };

const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');

mkdirSync(folder, { recursive: true });
for (const [name, file] of Object.entries(bin)) {
  if (ABOUT[name] === undefined) throw new Error(`${name} has no line in scripts/write-man.mjs`);
  const helps = [['--help'], ...(MORE[name] ?? [])].map((words) =>
    execFileSync(process.execPath, [join(ROOT, file), ...words], { encoding: 'utf8' }),
  );
  const page = `.TH ${name.toUpperCase()} 1 "" "Weir ${version}"
.SH NAME
${escaped(`${name} - ${ABOUT[name]}`)}
.SH DESCRIPTION
.nf
${escaped(helps.join('\n')).trimEnd()}
.fi
`;
  writeFileSync(join(folder, `${name}.1`), page);
}
