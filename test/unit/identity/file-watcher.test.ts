import { writeFile } from 'node:fs/promises';
import {
  EMPTY_DOCUMENT,
  printDocument,
  type StoreDocument,
} from '../../../src/identity/store/embedded/document';
import { createFileWatcher } from '../../../src/identity/store/embedded/file-watcher';
import { ANN, createStoreFile } from '../../support/identity';
import { silentLogger } from '../../support/silent-logger';

const holding = (...ids: readonly string[]): StoreDocument => ({
  ...EMPTY_DOCUMENT,
  users: new Map(ids.map((id) => [id, { ...ANN, id }])),
});
const write = (file: string, ...ids: readonly string[]) =>
  writeFile(file, printDocument(holding(...ids)));

it('has what was written before it was told to look again', async () => {
  const { file, remove } = await createStoreFile();
  const watcher = createFileWatcher(file, silentLogger);
  await watcher.open();
  for (const id of ['ann', 'bob', 'cyd']) {
    await write(file, id);
    await watcher.checkAgain();
    expect([...watcher.current().users.keys()]).toEqual([id]);
  }
  await remove();
});
