import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startH2TestServer, type H2TestServer } from '../support/h2-test-server';

/** `go install` writes it without a v2 in its path, so that the version is an incompatible one. */
const MODULE = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible';
const CACHE = resolve(__dirname, '../../.cache/bin');
/** What may fail. Nothing: put a name here only with the RFC's section that allows it. */
const ALLOWED_FAILURES: readonly string[] = [];
/** h2spec 2.2.1 with -S; fewer would mean that it gave up half-way. */
const TEST_COUNT = 146;

interface SpecCase {
  readonly name: string;
  readonly failed: boolean;
  readonly skipped: boolean;
}

function onPath(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), CACHE];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** h2spec from PATH or our cache; else installed there if Go is present; else undefined. */
function findH2spec(): string | undefined {
  const found = onPath('h2spec');
  const go = onPath('go');
  if (found !== undefined || go === undefined) return found;
  mkdirSync(CACHE, { recursive: true });
  try {
    execFileSync(go, ['install', MODULE], { env: { ...process.env, GOBIN: CACHE }, stdio: 'pipe' });
  } catch {
    return undefined; // no network: the same as no Go
  }
  return onPath('h2spec');
}

/** The file may hold control characters, which XML does not allow. */
function parseJunit(xml: string): SpecCase[] {
  const legible = xml.replace(/[^\n\x20-\xff]/g, '');
  const cases = legible.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return [...cases].map(([, attributes = '', body = '']) => ({
    name: `${attribute(attributes, 'package')}: ${attribute(attributes, 'classname')}`,
    failed: /<(failure|error)\b/.test(body),
    skipped: body.includes('<skipped'),
  }));
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
}

const h2spec = findH2spec();
/** In CI it must be there: without it the suite fails there, and is left out elsewhere. */
const optional = h2spec === undefined && process.env['CI'] === undefined;
const whereH2specIs = optional ? describe.skip : describe;

whereH2specIs('our HTTP/2 under h2spec, strict', () => {
  let server: H2TestServer;
  let cases: SpecCase[];

  beforeAll(async () => {
    server = await startH2TestServer();
    const folder = mkdtempSync(join(tmpdir(), 'h2spec-'));
    const report = join(folder, 'junit.xml');
    const options = ['-h', '127.0.0.1', '-p', String(server.port), '-S', '-o', '2', '-j', report];
    // Its exit code says that something failed; the report says what.
    await new Promise<void>((done) => {
      execFile(h2spec ?? '', options, { maxBuffer: 1e8 }, () => {
        done();
      });
    });
    cases = parseJunit(readFileSync(report, 'latin1'));
    rmSync(folder, { recursive: true });
  }, 180_000);

  afterAll(async () => {
    await server.close();
  });

  it('fails no test but those that are named', () => {
    const failures = cases.filter(({ failed }) => failed).map(({ name }) => name);
    expect(failures.filter((name) => !ALLOWED_FAILURES.includes(name))).toEqual([]);
  });

  it('runs all of them and skips none', () => {
    expect(cases.filter(({ skipped }) => skipped)).toEqual([]);
    expect(cases).toHaveLength(TEST_COUNT);
  });
});
