import { type Machine, planWorkers } from '../../../../../src/app/workers/pool/machine';
import { shareSettings } from '../../../../../src/app/workers/worker/share-settings';
import { readSettings } from '../../../../../src/settings/settings';

const HOST: Machine = {
  cpus: 8,
  cpuQuota: undefined,
  memoryBytes: undefined,
  openFiles: undefined,
};

describe('WORKERS=auto', () => {
  it.each<[string, Partial<Machine>, number]>([
    ['the CPUs that it may run on', {}, 8],
    ['the whole CPUs of its quota', { cpuQuota: 2.9 }, 2],
    ['one where the quota is less than a CPU', { cpuQuota: 0.5 }, 1],
    ['what has room in its memory', { memoryBytes: 500_000_000 }, 3],
    ['one where memory is short', { memoryBytes: 100_000_000 }, 1],
    ['64 at most', { cpus: 256 }, 64],
  ])('is %s', (_, limits, count) => {
    expect(planWorkers('auto', { ...HOST, ...limits }).count).toBe(count);
  });
});

it('refuses more workers than files may be open for, and says how many fit', () => {
  const machine = { ...HOST, openFiles: 256 };
  expect(planWorkers(24, machine).count).toBe(24);
  expect(() => planWorkers(25, machine)).toThrow(
    'WORKERS=25: expected at most 24, because the process may open 256 files; raise that limit (ulimit -n), or set fewer workers',
  );
  expect(planWorkers(1, { ...HOST, openFiles: 10 }).count).toBe(1);
});

it('divides the memory that the owner leaves into heaps, where a limit is known', () => {
  expect(planWorkers(4, { ...HOST, memoryBytes: 1_100_000_000 }).heapMegabytes).toBe(238);
  expect(planWorkers(4, HOST).heapMegabytes).toBeUndefined();
});

describe('the settings of one of several workers', () => {
  const settingsOf = (env: Readonly<Record<string, string>>) => {
    const read = readSettings({ KVSTORE_URL: '127.0.0.1:1', ...env });
    if (!read.ok) throw new Error(read.problems.join('\n'));
    return read.settings;
  };

  it('divide what the whole service may use', () => {
    const shared = shareSettings(
      settingsOf({
        KVSTORE_POOL_SIZE: '10',
        LocalCacheSizeInBytes: '4000000',
        MAX_CONNECTIONS: '1001',
        MAX_HELD_BYTES: '40000000',
        KVSTORE_FAILURE_REPLICAS: '3',
      }),
      4,
    );
    expect(shared.store?.pool.size).toBe(2);
    expect(shared.decisions.localCacheSizeBytes).toBe(1_000_000);
    expect(shared.bounds).toMatchObject({ maxConnections: 251, maxHeldBytes: 10_000_000 });
    expect(shared.storeFailure.failureReplicas).toBe(12);
  });

  it('leave each a connection, and no local cache where there is none', () => {
    const shared = shareSettings(settingsOf({ KVSTORE_POOL_SIZE: '2' }), 4);
    expect(shared.store?.pool.size).toBe(1);
    expect(shared.decisions.localCacheSizeBytes).toBe(0);
  });
});

describe('WORKERS with counters in memory', () => {
  it('is refused, with the way out', () => {
    const read = readSettings({ WORKERS: '2', BACKEND_TYPE: 'memory' });
    expect(read).toMatchObject({
      ok: false,
      problems: [
        'WORKERS="2": counters live in the memory of one process, expected WORKERS=1, or counters in Redis (KVSTORE_URL; also on this machine, by Unix socket)',
      ],
    });
  });

  it('is 1 where it is auto, which is a warning', () => {
    const read = readSettings({ WORKERS: 'auto', BACKEND_TYPE: 'memory' });
    expect(read).toMatchObject({
      ok: true,
      settings: { workers: 1 },
      warnings: [
        'WORKERS="auto": counters live in the memory of one process, so there is one worker',
      ],
    });
  });
});
