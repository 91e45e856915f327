import { readFile } from 'node:fs/promises';
import { lastValueFrom } from 'rxjs';
import { createEmbeddedStore } from '../../src/identity/store/embedded/create-embedded-store';
import type { IdentityStore } from '../../src/identity/store/store';
import { createStoreFile } from '../support/identity';
import { silentLogger } from '../support/silent-logger';
import { identityStoreContract } from './identity-store.contract';

identityStoreContract('in a file', async () => {
  const place = await createStoreFile();
  const running: { store: IdentityStore; ended: Promise<unknown> }[] = [];
  const open = async (): Promise<IdentityStore> => {
    const deps = { nowMs: Date.now, logger: silentLogger };
    const store = createEmbeddedStore(deps, { file: place.file });
    await store.open();
    running.push({ store, ended: lastValueFrom(store.run$, { defaultValue: undefined }) });
    return store;
  };
  return {
    store: await open(),
    openOther: open,
    dump: () => readFile(place.file, 'utf8'),
    async stop() {
      for (const { store, ended } of running) {
        await store.close();
        await ended;
      }
      await place.remove();
    },
  };
});
