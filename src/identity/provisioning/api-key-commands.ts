import { createCredential, formatCredential, hashSecret } from '../credential';
import { done, notFound, toIso, type ProvisioningCommand, type CommandDeps } from './command';

/** The key itself is printed once and never stored. */
export async function issueApiKey(
  { store, nowMs, randomBytes }: CommandDeps,
  name: string,
): Promise<{ readonly apiKey: string; readonly id: string }> {
  const credential = createCredential(randomBytes);
  const { id, secret } = credential;
  const createdAt = toIso(nowMs());
  await store.putApiKey({ id, secretHash: hashSecret(secret), name, createdAt });
  return { apiKey: formatCredential('apiKey', credential), id };
}

const issue: ProvisioningCommand = {
  doc: 'prints a new API key, only this once; from the first key on, every request needs one',
  values: ['name'],
  async run({ values: [name = ''] }, deps) {
    const issued = await issueApiKey(deps, name);
    return done([{ ...issued, name }], [issued.apiKey]);
  },
};

const list: ProvisioningCommand = {
  doc: 'prints ids and names of all API keys',
  async run(_call, { store }) {
    const keys = (await store.apiKeys()).map(({ id, name, createdAt }) => ({
      id,
      name,
      createdAt,
    }));
    return done(
      keys,
      keys.map(({ id, name, createdAt }) => [id, createdAt, name].join('\t')),
    );
  },
};

const revoke: ProvisioningCommand = {
  doc: 'revokes an API key; after the last one, requests need none',
  values: ['id'],
  async run({ values: [id = ''] }, { store }) {
    const wasThere = await store.deleteApiKey(id);
    return wasThere ? done([{ id }], [`revoked ${id}`]) : notFound('API key', id);
  },
};

export const apiKeyCommands: Readonly<Record<string, ProvisioningCommand>> = {
  issue,
  add: issue,
  list,
  revoke,
  delete: revoke,
};
