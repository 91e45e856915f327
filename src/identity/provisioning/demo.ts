import { parseUser } from '../store/records';
import { issueApiKey } from './api-key-commands';
import { done, notFound, toIso, type ProvisioningCommand } from './command';
import { issueToken } from './token-commands';

const USER = 'demo';
const SESSION_MS = 3_600_000;

/** A quick trial: a user, a token and a line that works. */
export const demo: ProvisioningCommand = {
  doc: 'adds a user to the store of the environment and prints a token and a curl line that works',
  async run(_call, deps) {
    const { store, nowMs, baseUrl } = deps;
    const now = toIso(nowMs());
    const isThere = (await store.findUser(USER)) !== undefined;
    if (!isThere)
      await store.putUsers([parseUser({ ...DEMO_USER, createdAt: now, updatedAt: now })]);
    const options = { userId: USER, sessionId: undefined, sessionMs: SESSION_MS };
    const issued = await issueToken(deps, { ...options, tokenMs: undefined });
    if (typeof issued === 'string') return notFound('user', USER);
    const needsKey = (await store.apiKeys()).length > 0;
    const apiKey = needsKey ? (await issueApiKey(deps, USER)).apiKey : undefined;
    const headers = [`Authorization: Bearer ${issued.token}`];
    if (apiKey !== undefined) headers.push(`X-API-Key: ${apiKey}`);
    const curl = [
      'curl -s',
      ...headers.map((header) => `-H '${header}'`),
      `${baseUrl}/v1/userinfo`,
    ];
    const record = { ...issued, ...(apiKey === undefined ? {} : { apiKey }), curl: curl.join(' ') };
    return done([record], [issued.token, '', curl.join(' ')]);
  },
};

const DEMO_USER = {
  id: USER,
  externalId: 'demo-1',
  userName: 'demo',
  displayName: 'Demo User',
  emails: [{ value: 'demo@example.com', type: 'work' }],
  photos: [{ value: 'https://example.com/demo.png', type: 'photo' }],
  names: { familyName: 'User', givenName: 'Demo' },
  verifications: [],
  provider: 'demo',
  environmentId: 'demo',
};
