import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_LAPSES, MAX_OPEN } from '../../../core/budgets/budget';
import { MAX_STRAYS } from '../../../core/budgets/stored';
import { KINDS } from '../../../core/kinds/kinds';
import { MAX_LOGGED } from '../../../core/kinds/sliding-log';
import { SPARE_SECONDS } from '../../../core/kinds/ticks';
import { COUNTED, NO_INTEGER } from '../store-errors';

/** A script as Redis knows it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

/** The two scripts for plain windows, alone and decided together, and how scripts get their keys (see keys.lua). */
export interface Scripts {
  readonly add: Script;
  readonly holdBack: Script;
  readonly isDeclaringKeys: boolean;
}

/** What Lua and TypeScript have to agree on: the first line of each script makes locals of them. */
const SHARED = {
  COUNTED,
  NO_INTEGER,
  MAX_LAPSES,
  MAX_LOGGED,
  MAX_OPEN,
  MAX_STRAYS,
  SPARE_MS: SPARE_SECONDS * 1_000,
};

const HEAD = `local ${Object.keys(SHARED).join(', ')} = ${Object.values(SHARED)
  .map((value) => JSON.stringify(value))
  .join(', ')}\n`;

/** The text of a file beside this one. */
function file(name: string): string {
  return readFileSync(join(__dirname, `${name}.lua`), 'utf8');
}

/** Files one after the other: each sees the locals of those before it. */
function files(...names: readonly string[]): string {
  return names.map(file).join('');
}

function script(...parts: readonly string[]): Script {
  const source = HEAD + parts.join('');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** Makes a kind when a call first needs it: to make all of them costs as much as some charges. */
const MAKE_KIND = `local function makeKind(letter)
${KINDS.map(kindLua).join('')}end
`;

function kindLua({ letter, readsFirst, lua }: (typeof KINDS)[number]): string {
  return `if letter == '${letter}' then
local readsFirst = ${String(readsFirst)}
${file(`kinds/${lua.file}`)}end
`;
}

const COUNTING = files('keys', 'counts');
const TIMED = COUNTING + files('clock', 'numbers') + MAKE_KIND + file('limits');
const CHARGE = file('charge');

/** For a single server. */
export const SCRIPTS: Scripts = {
  add: script(COUNTING, file('add')),
  holdBack: script(COUNTING, file('hold-back')),
  isDeclaringKeys: true,
};

export const CLUSTER_SCRIPTS: Scripts = { ...SCRIPTS, isDeclaringKeys: false };

/** For all kinds, also for requests that are decided together. */
export const OPERATIONS_SCRIPT = script(TIMED, CHARGE, file('operations'));

/** What a counter with budgets is in Redis: the same for decisions and for operators. */
const RECORD = files('texts', 'budgets/record-layout');
const HASH = file('budgets/hash-layout');

/** Making the functions of the general way costs as much as ten charges, so they are made when the first charge needs them. */
const GENERAL = `local function general()
${CHARGE}${HASH}${files('budgets/open', 'budgets/find', 'budgets/commit', 'budgets/save', 'budgets/run')}end
`;

/** For batches with budgets. */
export const BUDGETS_SCRIPT = script(
  TIMED,
  RECORD,
  files('budgets/head', 'budgets/reservations', 'budgets/one-limit', 'budgets/arguments'),
  GENERAL,
  file('budgets/main'),
);

/** What operators read and change, by EVAL. Arguments and answers: at the head of each file. */
export const READ_LOG = operators(file('operators/read-log'));
export const SET_LOG = operators(file('operators/set-log'));
export const READ_COUNTER = ofCounter('operators/read-counter');
export const PUT_PART = ofCounter('operators/put-part');
export const RESET_RECORD = ofCounter('operators/reset-record');

function operators(...parts: readonly string[]): string {
  return script(file('numbers'), ...parts).source;
}

/** Their first argument is the kind of the counter: see counter.lua. */
function ofCounter(name: string): string {
  return operators(RECORD, HASH, files('operators/record-text', 'operators/counter', name));
}
