import { createPoolProfiles } from '../../../../../src/app/workers/pool/pool-profiles';
import { createSlot } from '../../../../../src/app/workers/pool/slot';
import type { ProfileRequest } from '../../../../../src/transport/debug/profiles/profiles';
import { createFakeWorkers, type FakeWorker } from '../../../../support/fake-workers';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const REQUEST: ProfileRequest = { kind: 'profile', seconds: 1, format: 'pprof', collect: false };
const FILE = { name: 'cpu.pb.gz', contentType: 'application/octet-stream', bytes: Buffer.of(1) };

/** Two workers, of which the second one is up. */
function start() {
  const { fork, started } = createFakeWorkers();
  const slots = [1, 2].map((worker) =>
    createSlot(
      worker,
      { fork, monotonicMs: () => jest.now(), isOnlyProcess: () => false },
      {
        message(message) {
          if (message.kind === 'profile') profiles.answered(message.id, message.result);
        },
        ended() {
          profiles.ended(worker);
        },
        hangs: () => undefined,
      },
    ),
  );
  const profiles = createPoolProfiles(slots);
  for (const slot of slots) slot.start();
  const two = started[1] as FakeWorker;
  two.say({ kind: 'hello' });
  const abort = new AbortController();
  const take = (worker: number) => profiles.take(worker, REQUEST, abort.signal);
  return { take, two, started, abort };
}

it('takes the profile of a worker that is up', async () => {
  const { take, two } = start();
  const file = take(2);
  expect(two.received).toEqual([{ kind: 'profile', id: 1, request: REQUEST }]);
  two.say({ kind: 'profile', id: 1, result: FILE });
  expect(await file).toEqual(FILE);
});

it('says that a worker does not run, instead of waiting for it', async () => {
  await expect(start().take(1)).rejects.toThrow('worker 1 is not running');
});

it('says why a worker has no profile, also when it ends, but not when another one does', async () => {
  const { take, two, started } = start();
  const first = take(2);
  two.say({ kind: 'profile', id: 1, result: 'out of memory' });
  await expect(first).rejects.toThrow('out of memory');
  const second = take(2);
  started[0]?.end();
  two.end();
  await expect(second).rejects.toThrow('worker 2 ended');
});

it('ends a profile that nobody waits for, whose answer is not that of the next one', async () => {
  const { take, two, abort } = start();
  const left = take(2);
  abort.abort();
  await expect(left).rejects.toThrow('the request was cancelled');
  expect(two.received.at(-1)).toEqual({ kind: 'profile', id: 1, request: undefined });
  const next = take(2);
  two.say({ kind: 'profile', id: 1, result: 'aborted' });
  two.say({ kind: 'profile', id: 2, result: FILE });
  expect(await next).toEqual(FILE);
});
