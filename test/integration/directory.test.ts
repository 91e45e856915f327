import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { DirectorySourceOptions } from '../../src/rule-sources/directory-source';
import { eventually } from '../support/edge/eventually';
import { followFiles } from '../support/edge/follow-files';
import { describeLoad, type FollowedRules } from '../support/followed-rules';
import { readTable } from '../support/text-table';
import { TYPESCRIPT_HOOK } from '../support/parse-in-typescript-worker';
import {
  createTemporaryDirectory,
  ruleText,
  type TemporaryDirectory,
} from '../support/rule-directory';

const FOLLOW_AND_STOP = join(__dirname, '../support/edge/follow-and-stop.ts');

let directory: TemporaryDirectory;
let followed: FollowedRules | undefined;

beforeEach(() => {
  directory = createTemporaryDirectory();
});
afterEach(() => {
  followed?.stop();
  followed = undefined;
  directory.remove();
});

/** Follows `root/config` in the directory of the test and answers its first load. */
async function start(options: Partial<DirectorySourceOptions> = {}): Promise<string> {
  followed = followFiles({ root: directory.at('root'), ...options });
  return followed.loaded(1);
}

/** Waits for the second load, or a later one. */
function reloaded(count = 2): Promise<string> {
  if (followed === undefined) throw new Error('nothing is followed');
  return followed.loaded(count);
}

/** `shop=5`, or a text as JSON. */
function textOf(said: string): string {
  if (said.startsWith('"')) return JSON.parse(said) as string;
  const [domain = '', limit] = said.split('=');
  return ruleText(Number(limit), domain);
}

const toLine = (load: string): string =>
  load.replaceAll(`${directory.path}/`, '').replaceAll(/\n+/g, ' | ');

/** A change of a file; a link to `@PATH` is one from the top. */
function change(how: string, path: string, more: string): void {
  const at = directory.at(path);
  if (how === 'write') directory.write(path, textOf(more));
  else if (how === 'append') appendFileSync(at, textOf(more));
  else if (how === 'remove') rmSync(at, { recursive: true });
  else if (how === 'rename') renameSync(at, directory.at(more));
  else if (how === 'mode') chmodSync(at, Number.parseInt(more, 8));
  else if (how === 'link') directory.swapLink(path, more.replace('@', `${directory.path}/`));
  else throw new Error(`no such step: ${how}`);
}

/** `start OPTIONS -> LOAD`, with the load that came. */
async function startBy(line: string): Promise<string> {
  const [, options = ''] = /^start (.*?)-> /.exec(line) ?? [];
  const { root = 'root', ...more } = (parse(options) ?? {}) as { readonly root?: string };
  return `start ${options}-> ${toLine(await start({ ...more, root: directory.at(root) }))}`;
}

/** The newest load, once it is the expected one. */
const newest = (expected: string): Promise<string> =>
  eventually(() => {
    const line = toLine(describeLoad(followed?.loads.at(-1)));
    expect(line).toBe(expected);
    return line;
  });

/** The lines of a case, with what is in force in place of what is expected. */
async function play(lines: readonly string[]): Promise<readonly string[]> {
  let loads = 1;
  const said = async (line: string): Promise<string> => {
    const [how = '', path = '', ...rest] = line.split(' ');
    switch (how) {
      case 'start':
        return startBy(line);
      case '->':
        return `-> ${toLine(await reloaded((loads += 1)))}`;
      case '~>':
        return `~> ${await newest(line.slice(3))}`;
      case 'loads':
        return `loads ${String(followed?.loads.length)}`;
      default:
        change(how, path, rest.join(' '));
        return line;
    }
  };
  const played: string[] = [];
  for (const line of lines) played.push(await said(line));
  return played;
}

describe('the files of a directory', () => {
  const cases = readTable(readFileSync(join(__dirname, 'directory.txt'), 'utf8'));

  it.each(cases)('$title', async ({ expected }) => {
    expect(await play(expected)).toEqual(expected);
  });

  it('are counted with their domains and rules', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/web.yaml', ruleText(7, 'web'));
    await start();
    expect(followed?.loads[0]).toMatchObject({ ok: true, domainCount: 2, ruleCount: 2 });
    rmSync(directory.at('root/config/shop.yaml'));
    rmSync(directory.at('root/config/web.yaml'));
    await eventually(() => {
      expect(followed?.loads.at(-1)).toMatchObject({ ok: true, domainCount: 0, ruleCount: 0 });
    });
  });

  it('are loaded once for many writes, and each later write still counts', async () => {
    directory.write('root/config/shop.yaml', ruleText(0));
    await start();
    for (let limit = 1; limit <= 50; limit += 1) {
      directory.write('root/config/shop.yaml', ruleText(limit));
    }
    expect(await reloaded(2)).toBe('shop=50');
    directory.write('root/config/shop.yaml', ruleText(51));
    expect(await reloaded(3)).toBe('shop=51');
    expect(followed?.loads).toHaveLength(3);
  });

  it('are loaded although one is written all the time', async () => {
    directory.write('root/config/shop.yaml', ruleText(0));
    await start({ settle: { quietMs: 75, maxMs: 300 } });
    let limit = 0;
    const writing = setInterval(() => {
      limit += 1;
      directory.write('root/config/shop.yaml', ruleText(limit));
    }, 20);
    try {
      await reloaded(3);
    } finally {
      clearInterval(writing);
    }
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe(`shop=${String(limit)}`);
    });
  });

  it('are a mistake where they are more than can be listed', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    for (let i = 0; i < 10_001; i += 1) directory.write(`root/config.d/${String(i)}`, '');
    expect(await start({ takes: 'dotted', fileOr: 'the directory of rule files' })).toMatch(
      /cannot be read: beside it: more than 10000 names in it/,
    );
  });
});

describe('what is no ordinary file', () => {
  beforeEach(() => {
    directory.write('root/config/shop.yaml', ruleText(5));
  });

  it('is passed over with a warning when it is a pipe', async () => {
    execFileSync('mkfifo', [directory.at('root/config/pipe.yaml')]);
    expect(await start()).toBe('shop=5\nwarning pipe.yaml: not read: not a regular file');
  });

  it('is an error when it may not be read, until it may', async () => {
    directory.write('root/config/web.yaml', ruleText(7, 'web'));
    chmodSync(directory.path, 0o755);
    chmodSync(directory.at('root/config/web.yaml'), 0o000);
    const becomeNobody = process.geteuid?.() === 0;
    if (becomeNobody) process.seteuid?.(65_534);
    try {
      expect(await start()).toBe(
        'error web.yaml: the file cannot be read: permission denied (EACCES)',
      );
    } finally {
      if (becomeNobody) process.seteuid?.(0);
    }
    chmodSync(directory.at('root/config/web.yaml'), 0o644);
    expect(await reloaded()).toBe('shop=5 web=7');
  });

  it('is an error when it is far too large, at no cost', async () => {
    directory.write('root/config/web.yaml', '');
    truncateSync(directory.at('root/config/web.yaml'), 100 * 1_024 * 1_024);
    expect(await start()).toBe(
      'error web.yaml: the file holds 104857600 bytes: expected at most 16777216 in all rule files together',
    );
  });

  it('is read when its name is not UTF-8', async () => {
    const name = Buffer.from([0xff, 0xfe, ...Buffer.from('.yaml')]);
    const path = Buffer.concat([Buffer.from(directory.at('root/config/')), name]);
    writeFileSync(path, ruleText(7, 'web'));
    expect(await start()).toBe('shop=5 web=7');
    writeFileSync(path, 'nonsense');
    expect(await reloaded()).toMatch(/^error \ufffd\ufffd\.yaml: the file is nonsense/);
  });
});

describe('the watch', () => {
  it('is closed with the subscription, so that the process can end', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    const child = spawn(
      process.execPath,
      ['--require', TYPESCRIPT_HOOK, FOLLOW_AND_STOP, directory.at('root')],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    child.stdout.once('data', () => {
      directory.write('root/config/shop.yaml', ruleText(6));
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
