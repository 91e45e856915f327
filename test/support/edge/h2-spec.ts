import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** h2spec 2.2.1 with -S; fewer would mean that it gave up half-way. */
export const H2SPEC_TESTS = 146;

export interface SpecCase {
  /** `http2/5.1: DATA frame on a closed stream`: section, then what is sent. */
  readonly name: string;
  readonly failed: boolean;
  readonly skipped: boolean;
}

/** Runs all tests of h2spec, strict, against a port of this machine. */
export async function runH2spec(
  program: string,
  port: number,
  path = '/',
): Promise<readonly SpecCase[]> {
  const folder = mkdtempSync(join(tmpdir(), 'h2spec-'));
  const report = join(folder, 'junit.xml');
  const where = ['-h', '127.0.0.1', '-p', String(port), '-P', path];
  try {
    // Its exit code says that something failed; the report says what.
    await new Promise<void>((done) => {
      execFile(program, [...where, '-S', '-o', '2', '-j', report], { maxBuffer: 1e8 }, () => {
        done();
      });
    });
    return parseJunit(readFileSync(report, 'latin1'));
  } finally {
    rmSync(folder, { recursive: true });
  }
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
