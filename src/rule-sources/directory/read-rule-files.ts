import { basename } from 'node:path';
import { isError, type RuleProblem, WHOLE } from '../../fields/problem';
import { describeCode, errorCode } from '../../platform/errors';
import { NOT_READ, type RuleFile, type RuleFiles } from '../load-result';
import { type DirectoryEntry, findOverwritten } from './entries';
import type { Survey } from './survey';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const UNREADABLE_NOW = 'unreadable-now';
const SUFFIXES = ['.yaml', '.yml'];
/** Error codes of a file that may be readable a moment later without a visible change. */
const PASSING = new Set([
  'EAGAIN',
  'EBUSY',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ESTALE',
  'ETIMEDOUT',
]);
/** Prefix of the lock that Emacs creates beside a file that it edits: a dangling link. */
const EDITOR_LOCK = '.#';

/** Reads the rule files of a survey, `maxBytes` in all; an unreadable file is a problem. */
export async function readRuleFiles(survey: Survey, maxBytes: number): Promise<RuleFiles> {
  if (survey.entries === undefined) {
    const message = `${survey.noun} cannot be read: ${survey.obstacle ?? ''}`;
    return { files: [], problems: [problem('error', 'no-directory', survey.directory, message)] };
  }
  const { files, problems } = await readEntries(survey, survey.entries, maxBytes);
  if (files.length === 0 && !problems.some(isError)) problems.push(noRuleFiles(survey));
  return survey.isFile ? { files, problems, isFile: true } : { files, problems };
}

async function readEntries(survey: Survey, entries: readonly DirectoryEntry[], maxBytes: number) {
  const files: RuleFile[] = [];
  const problems: RuleProblem[] = [];
  const candidates = entries.filter((entry) => isRuleFile(survey, entry));
  const overwritten =
    survey.takes === 'named' ? NONE : findOverwritten(candidates, survey.appDirectory);
  const isCandidate = new Set(candidates);
  let left = maxBytes;
  for (const entry of entries) {
    if (entry.target.kind === 'directory') continue;
    const isRead = isCandidate.has(entry) && !overwritten.has(entry);
    const found = isRead
      ? await readEntry(entry, left, maxBytes)
      : passOver(entry, overwritten.get(entry));
    if (found === undefined) continue;
    if ('bytes' in found) {
      files.push(found);
      left -= found.bytes.length;
    } else problems.push(found);
  }
  return { files, problems };
}

const NONE: ReadonlyMap<DirectoryEntry, string> = new Map();

/** Files that editors and people leave beside rule files. */
const NEVER_RULES = ['~', '.md'];

function isRuleFile({ isFile, takes }: Survey, { name, target, leftOut }: DirectoryEntry): boolean {
  if (target.kind === 'directory' || leftOut !== undefined) return false;
  if (isFile || endsInOneOf(name, SUFFIXES)) return true;
  if (takes === 'named' || target.kind !== 'file') return false;
  return !basename(name).startsWith('.') && !endsInOneOf(name, NEVER_RULES);
}

function endsInOneOf(name: string, suffixes: readonly string[]): boolean {
  return suffixes.some((suffix) => name.endsWith(suffix));
}

function noRuleFiles({ directory, entries = [], takes }: Survey): RuleProblem {
  const names = entries.slice(0, 10).map(({ name }) => JSON.stringify(name));
  const instead = names.length === 0 ? 'it is empty' : `it holds ${names.join(', ')}`;
  const suffixes = SUFFIXES.join(' or ');
  const none =
    takes === 'named'
      ? `no file in this directory or below it ends in ${suffixes}`
      : 'no rule file is in this directory or below it';
  return problem('warning', 'no-rule-files', directory, `${none}: ${instead}`);
}

/** Whether to read again although no change was seen. */
export function mustRetry({ problems }: RuleFiles): boolean {
  return problems.some((found) => found.class === UNREADABLE_NOW);
}

async function readEntry(
  { name, path, isLink, target }: DirectoryEntry,
  left: number,
  maxBytes: number,
): Promise<RuleFile | RuleProblem | undefined> {
  if (target.kind === 'unreachable') {
    if (basename(name).startsWith(EDITOR_LOCK)) return undefined;
    return unreadable(name, target.code, isLink);
  }
  if (target.kind !== 'file') {
    return problem('warning', 'not-a-file', name, 'not read: not a regular file');
  }
  try {
    const bytes = await readBounded(path, left);
    return bytes === undefined
      ? tooLarge(name, target.stats.size, maxBytes)
      : { file: name, bytes };
  } catch (error) {
    return unreadable(name, errorCode(error), isLink);
  }
}

/** A file that the reference reads, or that somebody may take for a rule file. */
function passOver(
  { name, target, leftOut }: DirectoryEntry,
  insteadOf: string | undefined,
): RuleProblem | undefined {
  if (insteadOf !== undefined) {
    const other = JSON.stringify(insteadOf);
    const message = `not read: ${other} has the same path once / is written as a dot, and comes after it`;
    return problem('warning', NOT_READ, name, message);
  }
  if (leftOut !== undefined) return problem('warning', NOT_READ, name, leftOut);
  if (target.kind !== 'file' || basename(name).startsWith('.')) return undefined;
  return problem('warning', NOT_READ, name, 'not read: rename it to .yaml, or move it elsewhere');
}

function unreadable(name: string, code: string, isLink: boolean): RuleProblem {
  const reason =
    isLink && code === 'ENOENT' ? 'it is a broken symbolic link (ENOENT)' : describeCode(code);
  const kind = PASSING.has(code) ? UNREADABLE_NOW : 'unreadable-file';
  return problem('error', kind, name, `the file cannot be read: ${reason}`);
}

function tooLarge(name: string, size: bigint, maxBytes: number): RuleProblem {
  const message = `the file holds ${String(size)} bytes: expected at most ${String(maxBytes)} in all rule files together`;
  return problem('error', 'too-large', name, message);
}

function problem(
  severity: RuleProblem['severity'],
  kind: string,
  file: string,
  message: string,
): RuleProblem {
  return { severity, class: kind, file, at: WHOLE, message };
}

/** Larger than the reads of a slow disk, small enough not to stall. */
const PIECE_BYTES = 262_144;

/** Reads at most `maxBytes` of a file; undefined when it is larger. Rejects with the system's error. */
export async function readBounded(
  path: Buffer,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // A name may have become a pipe since it was checked; opening that must not wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    let bytes = new Uint8Array(size + 1);
    let length = 0;
    for (;;) {
      const piece = Math.min(PIECE_BYTES, bytes.length - length);
      const { bytesRead } = await file.read(bytes, length, piece, null);
      if (bytesRead === 0) return bytes.slice(0, length);
      length += bytesRead;
      if (length > maxBytes) return undefined;
      if (length === bytes.length) {
        const larger = new Uint8Array(length + PIECE_BYTES);
        larger.set(bytes);
        bytes = larger;
      }
    }
  } finally {
    await file.close();
  }
}
