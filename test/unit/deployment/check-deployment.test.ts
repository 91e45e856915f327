import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parse } from 'yaml';
import { checkDeployment as checkWith } from '../../../src/deployment/check-deployment';
import { DIFFERENCES } from '../../../src/deployment/differences';
import { toFacts } from '../../../src/deployment/facts';
import type { Mount } from '../../../src/deployment/workload';
import { readTable } from '../../support/text-table';

const FIXTURES = join(__dirname, '../../fixtures/deployments');
const PAGE = readFileSync(join(__dirname, '../../../docs/replacing-the-reference.md'), 'utf8');
const tableOf = (name: string) => readTable(readFileSync(join(__dirname, name), 'utf8'));

const checkDeployment = (paths: readonly string[], input = '') =>
  checkWith(paths, Readable.from(Buffer.from(input)));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployment-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The lines without the path of the file and the last line, which is the same for all, differences by their first words; then how many mistakes there are. */
async function linesOf(path: string): Promise<readonly string[]> {
  const { lines, mistakes } = await checkDeployment([path]);
  expect(lines.at(-1)).toMatch(/^\d+ more differences, which no deployment shows, are in docs/);
  const said = lines
    .slice(0, -1)
    .map((line) => line.replace(`${path}: `, '').replace(/(differs?: .{36}\S*) .*$/, '$1 …'));
  return mistakes === 0 ? said : [...said, `mistakes: ${String(mistakes)}`];
}

async function ofText(text: string | Uint8Array, name = 'file.yaml'): Promise<readonly string[]> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return linesOf(path);
}

describe('the table of differences', () => {
  const rows = PAGE.split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:-|The reference|What )/.test(line))
    .map((line) => /^\| (.*?) +\| /.exec(line)?.[1] ?? '');

  it('has every row of the page, each once: a new row says how a deployment shows it, or that none does', () => {
    const entriesOf = (cell: string) => DIFFERENCES.filter(({ row }) => cell.startsWith(row));
    expect(rows.filter((cell) => entriesOf(cell).length !== 1)).toEqual([]);
    expect(rows).toHaveLength(DIFFERENCES.length);
  });
});

interface Shown {
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly mounts?: readonly Pick<Mount, 'path' | 'keys'>[];
}

describe('a difference that a deployment decides', () => {
  const decided = DIFFERENCES.filter(({ find }) => typeof find === 'function');
  const lines = readFileSync(join(__dirname, 'differences.txt'), 'utf8').trim().split('\n');
  const cases = lines.slice(1).map((line) => {
    const [begin = '', concerned = '', not = ''] = line.split(' -> ');
    return { begin, concerned: parse(concerned) as Shown, not: parse(not) as Shown };
  });

  it('has a case', () => {
    const without = decided.filter(({ row }) => !cases.some(({ begin }) => row.startsWith(begin)));
    expect(without).toEqual([]);
    expect(cases).toHaveLength(decided.length);
  });

  it.each(cases)('is said of who is concerned, and of nobody else: $begin', (row) => {
    const [difference] = decided.filter(({ row: name }) => name.startsWith(row.begin));
    const found = ({ env = {}, words = [], mounts }: Shown) => {
      const { find } = difference ?? {};
      const workload = {
        name: 'w',
        env: new Map(Object.entries(env)),
        words,
        mounts: mounts?.map((mount) => ({ ...mount, isConfigMap: true, isSubPath: false })),
      };
      return typeof find === 'function' ? find(toFacts(workload)) : 'no such row';
    };
    expect(found(row.concerned)).toEqual(expect.any(String));
    expect(found(row.not)).toBeUndefined();
  });
});

describe('the shape of a public deployment: a file of our own, in the form of theirs', () => {
  const shapes = tableOf('shapes.txt');

  it('has a case for each', () => {
    expect(shapes.map(({ title }) => title)).toEqual(readdirSync(FIXTURES).sort());
  });

  it.each(shapes)('$title: what differs is said, and no secret', async ({ title, expected }) => {
    const lines = await linesOf(join(FIXTURES, title));
    expect(lines).toEqual(expected);
    expect(lines.join('\n')).not.toContain('hunter');
  });
});

it.each(tableOf('files.txt'))('a file with $title', async ({ given, options, expected }) => {
  expect(await ofText(given, options['name'] as string | undefined)).toEqual(expected);
});

it('shows no secret, wherever it stands', async () => {
  const more = await ofText(
    [
      'RUNTIME_ROOT=/data',
      ...[
        'REDIS_URL',
        'REDIS_AUTH',
        'MEMCACHE_HOST_PORT',
        'CONFIG_GRPC_XDS_SERVER_URL',
        'EXTRA_TAGS',
        'CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS',
        'OTEL_EXPORTER_OTLP_ENDPOINT',
      ].map((name) => `${name}=hunter2 hunter2`),
      'TRACING_ENABLED=true',
      'hunter2',
    ].join('\n'),
  );
  const broken = await ofText('kind: Pod\na: "hunter2\nb: [\n');
  expect(broken[0]).toMatch(/^$|not valid YAML/);
  expect([...more, ...broken].join('\n')).not.toContain('hunter');
  expect(more.join('\n')).toContain('refused');
});

describe('a file of another system', () => {
  const SETTINGS = 'REDIS_URL=redis:6379\nexport USE_STATSD="false"\n';
  const windows = (text: string) => text.replaceAll('\n', '\r\n');

  it.each([
    ['ends its lines with CR LF', Buffer.from(windows(SETTINGS))],
    ['begins with a byte order mark', Buffer.from(`\ufeff${SETTINGS}`)],
    ['is UTF-16', Buffer.from(`\ufeff${windows(SETTINGS)}`, 'utf16le')],
  ])('is read as any other where it %s', async (_, bytes) => {
    expect(await ofText(bytes)).toEqual(await ofText(SETTINGS));
  });

  it('may be a manifest with a byte order mark and CR LF', async () => {
    const manifest = readFileSync(join(FIXTURES, 'ingress.yaml'), 'utf8');
    expect(await ofText(`\ufeff${windows(manifest)}`)).toEqual(await ofText(manifest));
  });
});

it('is read from the standard input where its name is -', async () => {
  const { lines } = await checkDeployment(['-'], 'USE_STATSD=false\nREDIS_URL=r:6379');
  expect(lines).toContainEqual(
    expect.stringMatching(/^<standard input>: environment: differs: USE_STATSD=false/),
  );
});

describe('a file that cannot be read', () => {
  const NO_TEXT =
    'the file holds no text in UTF-8 or UTF-16: expected a manifest of Kubernetes, a composition or a file of NAME=value';

  it.each([
    [Buffer.from([0x1f, 0x8b, 8, 0xff]), NO_TEXT],
    ['kind: Pod\0', NO_TEXT],
    ['['.repeat(10_000), 'lists and maps are nested too deep'],
    [`# ${'x'.repeat(1_048_576)}`, 'the file is larger than 1 MiB'],
  ])('is named with the reason: %#', async (text, reason) => {
    const lines = await ofText(text);
    expect([lines[0], lines.at(-1)]).toEqual([reason, 'mistakes: 1']);
  });

  it('may be missing, or no file at all', async () => {
    const missing = join(folder, 'missing');
    const { lines, mistakes } = await checkDeployment([missing, folder]);
    expect(lines[0]).toBe(`${missing}: the file cannot be read: it does not exist (ENOENT)`);
    expect(lines[1]).toMatch(/the file cannot be read/);
    expect(mistakes).toBe(2);
  });
});
