import {
  appendFileSync,
  chmodSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DirectorySourceOptions } from '../../src/rule-sources/directory-source';
import { eventually } from '../support/edge/eventually';
import { followFiles } from '../support/edge/follow-files';
import { describeLoad, type FollowedRules } from '../support/followed-rules';
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

describe('the files of a directory', () => {
  it('are loaded at once', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/web.yaml', ruleText(7, 'web'));
    expect(await start()).toBe('shop=5 web=7');
    expect(followed?.loads[0]).toMatchObject({ ok: true, domainCount: 2, ruleCount: 2 });
  });

  it('are looked for below the subdirectory', async () => {
    directory.write('root/ratelimit/prod/config/shop.yaml', ruleText(5));
    expect(await start({ subdirectory: 'ratelimit/prod' })).toBe('shop=5');
  });

  it.each<[string, () => void, string]>([
    [
      'written',
      () => {
        directory.write('root/config/shop.yaml', ruleText(6));
      },
      'shop=6 web=7',
    ],
    [
      'appended to',
      () => {
        appendFileSync(directory.at('root/config/shop.yaml'), '# end\n');
      },
      'shop=5 web=7',
    ],
    [
      'created',
      () => {
        directory.write('root/config/z.yaml', ruleText(1, 'z'));
      },
      'shop=5 web=7 z=1',
    ],
    [
      'removed',
      () => {
        unlinkSync(directory.at('root/config/web.yaml'));
      },
      'shop=5',
    ],
    [
      'given another mode',
      () => {
        chmodSync(directory.at('root/config/web.yaml'), 0o600);
      },
      'shop=5 web=7',
    ],
    [
      'renamed',
      () => {
        renameSync(directory.at('root/config/web.yaml'), directory.at('root/config/web.off'));
      },
      'shop=5\nwarning web.off: not read: rename it to .yaml, or move it elsewhere',
    ],
    [
      'replaced by a rename',
      () => {
        directory.write('root/shop.new', ruleText(8));
        renameSync(directory.at('root/shop.new'), directory.at('root/config/shop.yaml'));
      },
      'shop=8 web=7',
    ],
  ])('are loaded again when one is %s', async (_how, change, expected) => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/web.yaml', ruleText(7, 'web'));
    await start();
    change();
    expect(await reloaded()).toBe(expected);
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

  it('are refused while one is half written, and taken when it is whole', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    await start();
    const text = ruleText(6);
    writeFileSync(directory.at('root/config/shop.yaml'), text.slice(0, -12));
    expect(await reloaded(2)).toMatch(/^error shop\.yaml: /);
    appendFileSync(directory.at('root/config/shop.yaml'), text.slice(-12));
    expect(await reloaded(3)).toBe('shop=6');
  });

  it('leave no rules when the last one is removed, with a warning', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/notes.txt', '');
    await start();
    unlinkSync(directory.at('root/config/shop.yaml'));
    const path = directory.at('root/config');
    expect(await reloaded()).toBe(
      `\nwarning notes.txt: not read: rename it to .yaml, or move it elsewhere\nwarning ${path}: no file in this directory or below it ends in .yaml or .yml: it holds "notes.txt"`,
    );
    expect(followed?.loads.at(-1)).toMatchObject({ ok: true, domainCount: 0, ruleCount: 0 });
  });
});

describe('dot files', () => {
  beforeEach(() => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/.web.yaml', ruleText(7, 'web'));
  });

  it('are rule files by default', async () => {
    expect(await start()).toBe('web=7 shop=5');
  });

  it('are none when they are ignored', async () => {
    expect(await start({ ignoreDotFiles: true })).toBe('shop=5');
  });
});

describe('a root that is a link', () => {
  beforeEach(() => {
    directory.write('v1/config/shop.yaml', ruleText(1));
    directory.write('v2/config/shop.yaml', ruleText(2));
    directory.swapLink('root', 'v1');
  });

  it('is followed to where it is swapped, again and again', async () => {
    expect(await start()).toBe('shop=1');
    directory.swapLink('root', 'v2');
    expect(await reloaded(2)).toBe('shop=2');
    directory.swapLink('root', directory.at('v1'));
    expect(await reloaded(3)).toBe('shop=1');
    expect(followed?.loads).toHaveLength(3);
  });

  it('is followed while the directory before it is removed', async () => {
    await start();
    directory.swapLink('root', 'v2');
    rmSync(directory.at('v1'), { recursive: true });
    expect(await reloaded(2)).toBe('shop=2');
    directory.write('v2/config/shop.yaml', ruleText(3));
    expect(await reloaded(3)).toBe('shop=3');
  });

  it('does not keep a write behind it from reloading', async () => {
    await start();
    directory.write('v1/config/shop.yaml', ruleText(3));
    expect(await reloaded()).toBe('shop=3');
  });

  it('may itself be replaced by a directory', async () => {
    await start();
    unlinkSync(directory.at('root'));
    directory.write('root/config/shop.yaml', ruleText(4));
    expect(await reloaded()).toBe('shop=4');
  });

  it('may lead through further links, each of which counts', async () => {
    directory.swapLink('middle', 'v1');
    directory.swapLink('root', 'middle');
    expect(await start()).toBe('shop=1');
    directory.swapLink('middle', 'v2');
    expect(await reloaded()).toBe('shop=2');
  });

  it('says so when it leads in a circle', async () => {
    directory.swapLink('root', 'root');
    expect(await start()).toMatch(/too many symbolic links \(ELOOP\)$/);
  });
});

describe("Kubernetes' mount of a ConfigMap", () => {
  const publish = (version: string, limit: number) => {
    directory.write(`root/config/..${version}/shop.yaml`, ruleText(limit));
    directory.swapLink('root/config/..data', `..${version}`);
  };

  it.each([true, false])(
    'reloads when ..data is swapped (dot files ignored: %s)',
    async (ignoreDotFiles) => {
      publish('2024_01', 1);
      symlinkSync('..data/shop.yaml', directory.at('root/config/shop.yaml'));
      expect(await start({ ignoreDotFiles })).toBe('shop=1');
      publish('2024_02', 2);
      rmSync(directory.at('root/config/..2024_01'), { recursive: true });
      expect(await reloaded(2)).toBe('shop=2');
      publish('2024_03', 3);
      rmSync(directory.at('root/config/..2024_02'), { recursive: true });
      expect(await reloaded(3)).toBe('shop=3');
      expect(followed?.loads).toHaveLength(3);
    },
  );
});

describe('a directory that is not there', () => {
  it('is named, and loaded when it comes', async () => {
    const path = directory.at('root/config');
    expect(await start()).toBe(
      `error ${path}: the directory of rule files cannot be read: "${directory.at('root')}": it does not exist (ENOENT)`,
    );
    directory.write('root/config/shop.yaml', ruleText(5));
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe('shop=5');
    });
  });

  it('may be missing from far above', async () => {
    const root = directory.at('a/b/c/root');
    await start({ root });
    directory.write('a/b/c/root/config/shop.yaml', ruleText(5));
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe('shop=5');
    });
  });

  it.each(['root/config', 'root'])(
    'is reported when %s vanishes, and loaded when it is back',
    async (gone) => {
      directory.write('root/config/shop.yaml', ruleText(5));
      await start();
      rmSync(directory.at(gone), { recursive: true });
      expect(await reloaded(2)).toMatch(/it does not exist \(ENOENT\)$/);
      directory.write('root/config/shop.yaml', ruleText(6));
      await eventually(() => {
        expect(describeLoad(followed?.loads.at(-1))).toBe('shop=6');
      });
      directory.write('root/config/shop.yaml', ruleText(7));
      await eventually(() => {
        expect(describeLoad(followed?.loads.at(-1))).toBe('shop=7');
      });
    },
  );

  it('is replaced at one blow', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    await start();
    rmSync(directory.at('root/config'), { recursive: true });
    directory.write('root/config/shop.yaml', ruleText(6));
    expect(await reloaded(2)).toBe('shop=6');
    directory.write('root/config/shop.yaml', ruleText(7));
    expect(await reloaded(3)).toBe('shop=7');
  });

  it('is a file', async () => {
    directory.write('root/config', '');
    expect(await start()).toMatch(/it is not a directory \(ENOTDIR\)$/);
    unlinkSync(directory.at('root/config'));
    directory.write('root/config/shop.yaml', ruleText(6));
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe('shop=6');
    });
  });
});

describe('directories below', () => {
  beforeEach(() => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config/team/deep/web.yml', ruleText(7, 'web'));
  });

  it('are read too, with .yml beside .yaml', async () => {
    expect(await start()).toBe('shop=5 web=7');
  });

  it('are watched: a change in them reloads, and so does a new one', async () => {
    await start({ pollMs: 600_000 });
    directory.write('root/config/team/deep/web.yml', ruleText(8, 'web'));
    expect(await reloaded()).toBe('shop=5 web=8');
    directory.write('root/config/other/api.yaml', ruleText(9, 'api'));
    expect(await reloaded(3)).toBe('api=9 shop=5 web=8');
  });

  it('are read once when links lead back up, and not at all when they are hidden', async () => {
    symlinkSync('..', directory.at('root/config/team/up'));
    symlinkSync('deep', directory.at('root/config/team/again'));
    directory.write('root/config/..data/shop.yaml', ruleText(6));
    expect(await start()).toBe('shop=5 web=7');
  });

  it('name the file of a mistake by its path', async () => {
    directory.write('root/config/team/bad.yaml', 'domain: [');
    expect(await start()).toContain('team/bad.yaml');
  });
});

describe('files beside the directory', () => {
  const dotted = { takes: 'dotted', fileOr: 'the directory of rule files' } as const;

  it('are read where their name goes on with a dot, and are named from the directory', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config.web.yaml', ruleText(7, 'web'));
    directory.write('root/config.d/team/api', ruleText(8, 'api'));
    directory.write('root/configs.yaml', 'domain: [');
    expect(await start(dotted)).toBe('api=8 web=7 shop=5');
    directory.write('root/config.web.yaml', 'domain: [');
    expect(await reloaded()).toContain('error ../config.web.yaml: ');
  });

  it('load when they come, are written and vanish, also without a directory', async () => {
    directory.write('root/other.yaml', '');
    expect(await start(dotted)).toMatch(/it does not exist \(ENOENT\)$/);
    directory.write('root/config.yaml', ruleText(5));
    expect(await reloaded()).toBe('shop=5');
    directory.write('root/config.yaml', ruleText(6));
    expect(await reloaded(3)).toBe('shop=6');
    directory.write('root/config/web.yaml', ruleText(7, 'web'));
    expect(await reloaded(4)).toBe('shop=6 web=7');
    unlinkSync(directory.at('root/config.yaml'));
    expect(await reloaded(5)).toBe('web=7');
  });

  it('follow the swap of `..data` where a ConfigMap lies above the directory', async () => {
    directory.write('root/..1/config.yaml', ruleText(5));
    directory.write('root/..2/config.yaml', ruleText(6));
    directory.swapLink('root/..data', '..1');
    symlinkSync('..data/config.yaml', directory.at('root/config.yaml'));
    expect(await start(dotted)).toBe('shop=5');
    directory.swapLink('root/..data', '..2');
    expect(await reloaded()).toBe('shop=6');
  });

  it('replace a file within it of the same path with dots, with a warning', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    directory.write('root/config.shop.yaml', ruleText(6));
    expect(await start(dotted)).toBe(
      'shop=6\nwarning shop.yaml: not read: "../config.shop.yaml" has the same path once / is written as a dot, and comes after it',
    );
  });

  it('are read alone, with a warning, where a file has the name of the directory', async () => {
    directory.write('root/config', ruleText(5));
    directory.write('root/config.yaml', ruleText(6));
    expect(await start(dotted)).toBe(
      'shop=6\nwarning ../config: not read: expected a directory, a name that goes on with a dot, or RUNTIME_WATCH_ROOT=false, which reads this file',
    );
  });

  it('are a mistake where they are more than can be listed', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    for (let i = 0; i < 10_001; i += 1) directory.write(`root/config.d/${String(i)}`, '');
    expect(await start(dotted)).toMatch(/cannot be read: beside it: more than 10000 names in it/);
  });
});

describe('files of any name', () => {
  it('are read, but for what editors and people leave beside them', async () => {
    directory.write('root/config/limits', ruleText(5));
    for (const name of ['limits~', '.limits.swp', 'README.md'])
      directory.write(`root/config/${name}`, 'domain: [');
    symlinkSync('nowhere', directory.at('root/config/next'));
    expect(await start({ takes: 'any' })).toBe(
      'shop=5' +
        '\nwarning README.md: not read: rename it to .yaml, or move it elsewhere' +
        '\nwarning limits~: not read: rename it to .yaml, or move it elsewhere',
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

  it('is passed over with a warning when its name is not that of a rule file, unless it is hidden', async () => {
    directory.write('root/config/limits', ruleText(7, 'web'));
    directory.write('root/config/.limits.swp', '');
    expect(await start()).toBe(
      'shop=5\nwarning limits: not read: rename it to .yaml, or move it elsewhere',
    );
  });

  it('is an error when it is a link to nothing, until there is something', async () => {
    symlinkSync('../../elsewhere/web.yaml', directory.at('root/config/web.yaml'));
    expect(await start()).toBe(
      'error web.yaml: the file cannot be read: it is a broken symbolic link (ENOENT)',
    );
    directory.write('elsewhere/web.yaml', ruleText(7, 'web'));
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe('shop=5 web=7');
    });
  });

  it('is nothing when it is the lock of an editor', async () => {
    symlinkSync('user@host.1234', directory.at('root/config/.#shop.yaml'));
    expect(await start()).toBe('shop=5');
  });

  it('is followed when it is a link to a file elsewhere', async () => {
    directory.write('elsewhere/web.yaml', ruleText(7, 'web'));
    symlinkSync('../../elsewhere/web.yaml', directory.at('root/config/web.yaml'));
    expect(await start()).toBe('shop=5 web=7');
    directory.write('elsewhere/web.yaml', ruleText(8, 'web'));
    expect(await reloaded()).toBe('shop=5 web=8');
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
  it('is helped by a slow poll where it sees nothing', async () => {
    directory.write('far/above/root/config/shop.yaml', ruleText(5));
    directory.write('other/above/root/config/shop.yaml', ruleText(6));
    await start({
      root: directory.at('far/above/root'),
      pollMs: 50,
      settle: { quietMs: 10, maxMs: 10 },
    });
    renameSync(directory.at('far'), directory.at('gone'));
    renameSync(directory.at('other'), directory.at('far'));
    await eventually(() => {
      expect(describeLoad(followed?.loads.at(-1))).toBe('shop=6');
    });
  });

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
