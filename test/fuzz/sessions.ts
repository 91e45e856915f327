import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PREFACE } from '../support/h2-frames';
import type { Random } from './random';

/** `npm` and `jest` run from the root of the checkout. */
const FOLDER = join(process.cwd(), 'test/fixtures/h2-sessions');
const HEADER_BYTES = 9;

/** What one client sent over one connection, cut into its preface and frames. */
export interface CapturedSession {
  /** `envoy.hex#0` */
  readonly name: string;
  readonly frames: readonly Buffer[];
}

/** The sessions of each client, so that a client with many of them does not crowd out the others. */
export type Corpus = readonly (readonly CapturedSession[])[];

/** All captured sessions, in a stable order, so that a seed means the same run again. */
export function readCorpus(): Corpus {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.hex'));
  return files.sort().map((file) => {
    const sessions = parseSessions(readFileSync(join(FOLDER, file), 'latin1'));
    return sessions.map((frames, index) => ({ name: `${file}#${String(index)}`, frames }));
  });
}

export function pickSession(random: Random, corpus: Corpus): readonly Buffer[] {
  return random.pick(random.pick(corpus)).frames;
}

/** A line per frame, an empty line between sessions, `#` before remarks. */
function parseSessions(text: string): Buffer[][] {
  const paragraphs = text.split(/\n\s*\n/);
  const sessions = paragraphs.map((paragraph) =>
    paragraph
      .split('\n')
      .map((line) => line.replace(/#.*/, '').replaceAll(' ', ''))
      .filter((line) => line !== '')
      .map((line) => Buffer.from(line, 'hex')),
  );
  return sessions.filter((frames) => frames.length > 0);
}

export function formatSession(bytes: Buffer): string {
  return splitFrames(bytes)
    .map((frame) => `${frame.toString('hex')}\n`)
    .join('');
}

/** The preface (if there is one), then frames; what is cut off at the end is the last piece. */
export function splitFrames(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  if (bytes.subarray(0, PREFACE.length).equals(PREFACE)) {
    pieces.push(bytes.subarray(0, PREFACE.length));
    at = PREFACE.length;
  }
  while (at < bytes.length) {
    const size = bytes.length - at < 3 ? Infinity : HEADER_BYTES + bytes.readUIntBE(at, 3);
    const end = Math.min(bytes.length, at + size);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
