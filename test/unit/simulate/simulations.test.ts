import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { simulate } from '../../../src/simulate/simulate';
import { createTemporaryDirectory, type TemporaryDirectory } from '../../support/rule-directory';
import { readTable } from '../../support/text-table';

const START = Date.parse('2026-11-22T14:00:00Z');

let folder: TemporaryDirectory;
beforeEach(() => {
  folder = createTemporaryDirectory();
});
afterEach(() => {
  folder.remove();
});

/** The rules of a folder of their own. */
function directory(name: string, rules: string): string {
  folder.write(`${name}/shop.yaml`, rules);
  return folder.at(name);
}

/** `SECOND [@DOMAIN] KEY=VALUE,KEY=VALUE & …`, or `FIRST..LAST` for one in each second; what begins with `!` is no such line. */
function linesOf(text: string): readonly string[] {
  if (text.startsWith('!')) return [text.slice(1)];
  const [, first = '', last = first, domain = 'shop', asked = ''] =
    /^(\d+)(?:\.\.(\d+))?(?: @(\S+))? (.*)$/.exec(text) ?? [];
  const descriptors = asked
    .split(' & ')
    .map((one) => one.split(',').map((entry) => entry.split('=')));
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => {
    const time = new Date(START + (Number(first) + at) * 1_000).toISOString();
    return JSON.stringify({ time, domain, descriptors });
  });
}

interface Options {
  /** Further arguments. */
  readonly args?: string;
  /** The rules to compare with, by what is replaced in the first ones. */
  readonly next?: readonly (readonly [string, string])[];
}

/** What is printed, and how it ends. */
async function play(log: string, rules: string, { args = '', next }: Options) {
  const said: string[] = [];
  let out = '';
  const changed = next?.reduce((text, [from, to]) => text.replace(from, to), rules);
  const code = await simulate(
    [
      ...['-input', '-', '-config_dir', directory('rules', rules)],
      ...(changed === undefined ? [] : ['-against', directory('next', changed)]),
      ...args.split(' ').filter((word) => word !== ''),
    ],
    {
      stdin: Readable.from([
        log
          .split('; ')
          .filter((text) => text !== 'nothing')
          .flatMap(linesOf)
          .join('\n'),
      ]),
      stdout: { write: (text: string) => (out += text) },
      stderr: { write: (text: string) => said.push(`error: ${text.trimEnd()}`) },
    },
  );
  return [...out.split('\n').filter((line) => line !== ''), ...said, `ends with ${String(code)}`];
}

const TABLE = readTable(readFileSync(join(__dirname, 'simulations.txt'), 'utf8'));

it.each(TABLE)('$title', async ({ title, given, options, expected }) => {
  expect(await play(title, given, options)).toEqual(expected);
});
