import { execFileSync } from 'node:child_process';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import {
  EMPTY_DOCUMENT,
  printDocument,
  type StoreDocument,
} from '../../src/identity/store/embedded/document';
import { createFileWatcher } from '../../src/identity/store/embedded/file-watcher';
import { ANN, createStoreFile } from '../support/identity';
import { eventually } from '../support/edge/eventually';
import { createRecordingLogger } from '../support/recording-logger';
import { silentLogger } from '../support/silent-logger';

const holding = (...ids: readonly string[]): StoreDocument => ({
  ...EMPTY_DOCUMENT,
  users: new Map(ids.map((id) => [id, { ...ANN, id }])),
});
const write = (file: string, ...ids: readonly string[]) =>
  writeFile(file, printDocument(holding(...ids)));

it('keeps what this process has written while an older content was being read', async () => {
  const { file, remove } = await createStoreFile();
  // A pipe opens when it is being read, and is not read to its end before it is closed.
  execFileSync('mkfifo', [file]);
  const watcher = createFileWatcher(file, createRecordingLogger().logger);
  const reading = watcher.open();
  const pipe = await open(file, 'w');
  const written: StoreDocument = { ...EMPTY_DOCUMENT, users: new Map([['ann', ANN]]) };
  watcher.set(written);
  await pipe.writeFile(printDocument(EMPTY_DOCUMENT));
  await pipe.close();
  await reading;
  expect(watcher.current()).toBe(written);
  await remove();
});

it('looks once for all that ask at the same time, and seldom for those that ask in turn', async () => {
  const { file, remove } = await createStoreFile();
  const watcher = createFileWatcher(file, silentLogger);
  await watcher.open();
  expect(watcher.checkAgain()).toBe(watcher.checkAgain());
  await watcher.checkAgain();
  const startedMs = performance.now();
  for (let at = 0; at < 20; at++) await watcher.checkAgain();
  // Timers of Node may be early by less than a millisecond.
  expect(performance.now() - startedMs).toBeGreaterThan(20 * 4);
  await remove();
});

it('never takes an older content after a newer one, however slow it was read', async () => {
  const { file, remove } = await createStoreFile();
  execFileSync('mkfifo', [file]);
  const watcher = createFileWatcher(file, silentLogger);
  const first = watcher.open();
  const pipe = await open(file, 'w');
  await write(`${file}.new`, 'bob');
  await rename(`${file}.new`, file);
  await watcher.checkAgain();
  await pipe.writeFile(printDocument(holding('ann')));
  await pipe.close();
  await first;
  await eventually(() => {
    expect([...watcher.current().users.keys()]).toEqual(['bob']);
  });
  await remove();
});

it('goes on with what it has when the file does not answer', async () => {
  const { file, remove } = await createStoreFile();
  await write(file, 'ann');
  const watcher = createFileWatcher(file, silentLogger);
  await watcher.open();
  await rm(file);
  execFileSync('mkfifo', [file]);
  await watcher.checkAgain();
  expect([...watcher.current().users.keys()]).toEqual(['ann']);
  // The reader waits for somebody to write.
  await (await open(file, 'w')).close();
  await remove();
});
