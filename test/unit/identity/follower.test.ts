import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import {
  EMPTY_DOCUMENT,
  printDocument,
  type StoreDocument,
} from '../../../src/identity/store/embedded/document';
import { createFollower } from '../../../src/identity/store/embedded/follower';
import { ANN, createStoreFile } from '../../support/identity';
import { createRecordingLogger } from '../../support/recording-logger';

it('keeps what this process has written while an older content was being read', async () => {
  const { file, remove } = await createStoreFile();
  // A pipe opens when it is being read, and is not read to its end before it is closed.
  execFileSync('mkfifo', [file]);
  const follower = createFollower(file, createRecordingLogger().logger);
  const reading = follower.open();
  const pipe = await open(file, 'w');
  const written: StoreDocument = { ...EMPTY_DOCUMENT, users: new Map([['ann', ANN]]) };
  follower.set(written);
  await pipe.writeFile(printDocument(EMPTY_DOCUMENT));
  await pipe.close();
  await reading;
  expect(follower.current()).toBe(written);
  await remove();
});
