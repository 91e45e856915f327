import { chmod, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createEmbeddedStore } from '../../src/identity/store/embedded/create-embedded-store';
import { StoreUnavailable, type IdentityStore } from '../../src/identity/store/store';
import { createRecordingLogger } from '../support/recording-logger';
import { eventually } from '../support/edge/eventually';
import { ANN, createStoreFile, grant } from '../support/identity';

let place: Awaited<ReturnType<typeof createStoreFile>>;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  place = await createStoreFile();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await place.remove();
});

async function open(file = place.file) {
  const { logger, lines } = createRecordingLogger();
  const store = createEmbeddedStore({ nowMs: Date.now, logger }, { file });
  await store.open();
  const following = store.run$.subscribe();
  stops.push(async () => {
    following.unsubscribe();
    await store.close();
  });
  return { store, lines };
}

const names = async (store: IdentityStore) => (await store.listUsers()).map(({ id }) => id);

it('writes a file that only its owner may read, and leaves nothing beside it', async () => {
  const { store } = await open();
  await store.putUsers([ANN]);
  expect((await stat(place.file)).mode & 0o777).toBe(0o600);
  expect(await readdir(place.folder)).toEqual(['store.json']);
});

it('makes the folder, for its owner only', async () => {
  const file = join(place.folder, 'a/b/store.json');
  const { store } = await open(file);
  await store.putUsers([ANN]);
  expect((await stat(join(place.folder, 'a/b'))).mode & 0o777).toBe(0o700);
});

it('takes a file that appears later', async () => {
  const { store } = await open();
  expect(await names(store)).toEqual([]);
  const { store: writer } = await open();
  await writer.putUsers([ANN]);
  await eventually(async () => {
    expect(await names(store)).toEqual(['ann']);
  });
});

it('has at once what another has just written', async () => {
  const { store } = await open();
  const { store: writer } = await open();
  for (const id of ['a', 'b', 'c']) {
    const { tokenId, sessionId } = await grant(writer, { ...ANN, id }, 60_000);
    expect((await store.findToken(tokenId))?.userId).toBe(id);
    await writer.createSession({ id, userId: id, createdAt: '' }, 60_000);
    const { user, remainingMs } = await store.findOwner({ sessionId: id, userId: id });
    expect([user?.id, remainingMs]).toEqual([id, expect.any(Number)]);
    await writer.deleteSession(sessionId);
  }
});

describe.each([
  ['file', (file: string) => file, 0o600, 0o644],
  ['folder of the store file', dirname, 0o700, 0o755],
])('the mode of the %s', (what, toPath, own, readable) => {
  const messages = async () => (await open()).lines.filter(({ level }) => level === 'warn');
  beforeEach(async () => {
    const { store } = await open();
    await store.putUsers([ANN]);
  });

  it.each([0o020, 0o002, 0o022])('that lets others write (%i) is one warning', async (more) => {
    const path = toPath(place.file);
    await chmod(path, own | more);
    const name = what === 'file' ? 'store file' : what;
    expect(await messages()).toEqual([
      {
        level: 'warn',
        message: `the ${name} may be written by others: chmod go-w ${path}`,
        fields: { path, mode: `0${(own | more).toString(8)}` },
      },
    ]);
    await chmod(path, (own | more) & ~0o022);
    expect(await messages()).toEqual([]);
  });

  it('that lets others read is none', async () => {
    await chmod(toPath(place.file), readable);
    expect(await messages()).toEqual([]);
  });
});

it('may lie where everybody may write, but only what is theirs', async () => {
  await chmod(place.folder, 0o1777);
  expect((await open()).lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

it.each([
  ['no JSON', '{"users":'],
  ['another version', '{"version":2}'],
  [
    'a field of another type',
    '{"version":1,"users":[{"id":7}],"sessions":[],"tokens":[],"apiKeys":[]}',
  ],
  [
    'an unknown field',
    '{"version":1,"users":[{"id":"a","x":1}],"sessions":[],"tokens":[],"apiKeys":[]}',
  ],
  ['a missing list', '{"version":1,"users":[]}'],
  [
    'a session without an end',
    '{"version":1,"users":[],"sessions":[{"record":{}}],"tokens":[],"apiKeys":[]}',
  ],
  [
    'a token without a hash',
    '{"version":1,"users":[],"sessions":[],"tokens":[{"expiresAtMs":1,"record":{"id":"t","userId":"u","sessionId":"s"}}],"apiKeys":[]}',
  ],
  ['an API key without an id', '{"version":1,"users":[],"sessions":[],"tokens":[],"apiKeys":[{}]}'],
])('keeps the last good content of a file that is damaged: %s', async (_, text) => {
  const { store, lines } = await open();
  await store.putUsers([ANN]);
  await writeFile(place.file, text);
  await eventually(() => {
    expect(lines.map(({ message }) => message)).toContain(
      'the store file cannot be used, its last content stays in use',
    );
  });
  expect(await names(store)).toEqual(['ann']);
  await expect(store.putUsers([ANN])).rejects.toThrow(
    /store\.json cannot be used: it is damaged: /,
  );
});

it('is away while its file was never good, and there as soon as it is', async () => {
  await writeFile(place.file, 'garbage');
  const { store, lines } = await open();
  await expect(store.findToken('t')).rejects.toThrow(StoreUnavailable);
  await expect(store.apiKeys()).rejects.toThrow('it is damaged: it is not a JSON object');
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  await rm(place.file);
  const { store: writer } = await open();
  await writer.putUsers([ANN]);
  await eventually(async () => {
    expect(await names(store)).toEqual(['ann']);
  });
});

it('is away when its file is a folder', async () => {
  await mkdir(place.file);
  const { store } = await open();
  await expect(store.listUsers()).rejects.toThrow(StoreUnavailable);
  await expect(store.putUsers([ANN])).rejects.toThrow(StoreUnavailable);
});

it('keeps what it knows when the file goes away', async () => {
  const { store, lines } = await open();
  await store.putUsers([ANN]);
  await eventually(() => {
    expect(lines.some(({ message }) => message === 'read the store file')).toBe(true);
  });
  await rename(place.file, `${place.file}.old`);
  await eventually(() => {
    expect(lines.map(({ message }) => message)).toContain(
      'the store file is gone, its last content stays in use',
    );
  });
  expect(await names(store)).toEqual(['ann']);
});

it('writes in a folder that is there already and keeps its mode', async () => {
  await chmod(place.folder, 0o755);
  const { store } = await open();
  await store.putUsers([ANN]);
  expect((await stat(place.folder)).mode & 0o777).toBe(0o755);
});

it.each([
  ['a process that is gone', '999999999@HOST x'],
  ['nobody', ''],
])('takes over a lock of %s', async (_, owner) => {
  const lock = `${place.file}.lock`;
  await writeFile(lock, owner.replace('HOST', hostname()));
  if (owner === '') {
    await utimes(lock, new Date(0), new Date(0));
  }
  const { store } = await open();
  await store.putUsers([ANN]);
  expect(await readdir(place.folder)).toEqual(['store.json']);
});

it('waits for a lock of a process that runs', async () => {
  const lock = `${place.file}.lock`;
  await writeFile(lock, `${String(process.pid)}@${hostname()} x`);
  const { store } = await open();
  let isDone = false;
  const writing = store.putUsers([ANN]).then(() => (isDone = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDone).toBe(false);
  await rm(lock);
  await writing;
  expect(await names(store)).toEqual(['ann']);
});
