import { chmodSync } from 'node:fs';
import type { Subscription } from 'rxjs';
import {
  followDirectory,
  type FollowDirectoryDeps,
} from '../../src/rule-sources/directory/follow-directory';
import type { LoadResult } from '../../src/rule-sources/load-result';
import { eventually } from '../support/edge/eventually';
import {
  createTemporaryDirectory,
  ruleText,
  type TemporaryDirectory,
} from '../support/rule-directory';

/** Far longer than what loads here wait for. */
const LOAD_WITHIN_MS = 1_000;

let directory: TemporaryDirectory;
let following: Subscription | undefined;
let loads: LoadResult<string>[];
let warnings: string[];

beforeEach(() => {
  directory = createTemporaryDirectory();
  directory.write('root/config/shop.yaml', ruleText(5));
  loads = [];
  warnings = [];
});
afterEach(() => {
  following?.unsubscribe();
  directory.remove();
});

function follow(load: FollowDirectoryDeps<string>['load'], pollMs = 600_000): void {
  following = followDirectory(
    {
      root: directory.at('root'),
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      maxBytes: 1_000,
      pollMs,
      settle: { quietMs: 20, maxMs: 100 },
      loadTimeoutMs: LOAD_WITHIN_MS,
    },
    { load, clock: () => Date.now() / 1_000, warn: (message) => warnings.push(message) },
  ).subscribe((load) => loads.push(load));
}
const loaded: LoadResult<string> = {
  ok: true,
  rules: 'rules',
  domainCount: 1,
  ruleCount: 1,
  digest: '',
  problems: [],
  durationMs: 1,
};

describe('following a directory', () => {
  it('cancels a load that hangs, says so, and loads again after the next change', async () => {
    const signals: AbortSignal[] = [];
    follow((_found, signal) => {
      signals.push(signal);
      return signals.length === 1 ? new Promise(() => undefined) : Promise.resolve(loaded);
    });
    await eventually(() => {
      expect(loads).toHaveLength(1);
    });
    expect(loads[0]).toMatchObject({
      ok: false,
      problems: [{ class: 'load-failed', message: 'the load took longer than 1000 ms' }],
    });
    expect(loads[0]?.durationMs).toBeGreaterThanOrEqual(990);
    expect(signals[0]?.aborted).toBe(true);
    directory.write('root/config/shop.yaml', ruleText(6));
    await eventually(() => {
      expect(loads[1]).toBe(loaded);
    });
  });

  it('lives on when a load throws', async () => {
    let isBroken = true;
    follow(() => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(loaded)));
    await eventually(() => {
      expect(loads[0]).toMatchObject({ ok: false });
    });
    isBroken = false;
    directory.write('root/config/shop.yaml', ruleText(6));
    await eventually(() => {
      expect(loads[1]).toBe(loaded);
    });
  });

  it('takes up what changed while it was loading', async () => {
    const texts: string[] = [];
    let finishFirst = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      finishFirst = resolve;
    });
    follow(async ({ files }) => {
      texts.push(Buffer.from(files[0]?.bytes ?? []).toString());
      if (texts.length === 1) await first;
      return loaded;
    });
    await eventually(() => {
      expect(texts).toEqual([ruleText(5)]);
    });
    directory.write('root/config/shop.yaml', ruleText(6));
    finishFirst();
    await eventually(() => {
      expect(texts).toEqual([ruleText(5), ruleText(6)]);
    });
  });

  it('says that it cannot watch, and polls', async () => {
    chmodSync(directory.path, 0o755);
    chmodSync(directory.at('root/config'), 0o311);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      follow(() => Promise.resolve(loaded), 50);
      await eventually(() => {
        expect(warnings[0]).toMatch(
          /^a directory of rule files cannot be watched: permission denied \(EACCES .*\); changes are found by polling$/,
        );
      });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(directory.at('root/config'), 0o755);
    }
    const before = loads.length;
    directory.write('root/config/shop.yaml', ruleText(6));
    await eventually(() => {
      expect(loads.length).toBeGreaterThan(before);
    });
  });
});
