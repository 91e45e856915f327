import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ANN, grant, startIdentity, type IdentityUnderTest } from '../support/identity';
import { unpackPackage, type PackedPackage } from '../support/edge/packed-package';

let packed: PackedPackage;
let identity: IdentityUnderTest;
let token: string;

beforeAll(async () => {
  packed = await unpackPackage();
  identity = await startIdentity();
  ({ token } = await grant(identity.store, ANN, 60_000));
}, 180_000);
afterAll(async () => {
  await identity.stop();
  await packed.remove();
});

const withRxjs = () => packed.link('rxjs');
const withoutRxjs = () => packed.unlink('rxjs');

/** A program of somebody who has installed the package; answers what it printed. */
function play(file: string, text: string, flags: readonly string[] = []): Promise<string> {
  const env = { BASE_URL: `http://127.0.0.1:${String(identity.port)}`, TOKEN: token };
  return packed.play(file, text, { flags, env });
}

const BODY = `
const { BASE_URL: baseUrl, TOKEN } = process.env;
const client = new IdentityClient({ baseUrl });
const told = [(await client.getUserInfo(TOKEN)).user.id];
try { await client.getUserInfo('idt_wrong'); } catch (error) {
  told.push(error instanceof AuthenticationError && error instanceof IdentityError && !(error instanceof APIError));
}
try {
  const seen = [];
  await client.getUserInfo$(TOKEN).forEach(({ user }) => seen.push(user.id));
  told.push(...seen);
} catch (error) { told.push(/rxjs/.test(error.message) ? 'no rxjs' : error); }
console.log(JSON.stringify(told));
`;
const NAMES = '{ IdentityClient, IdentityError, AuthenticationError, APIError }';
const KINDS = [
  [
    'CommonJS',
    'app.cjs',
    `const ${NAMES} = require('weir/identity-client');\n(async () => {${BODY}})();`,
  ],
  ['an ES module', 'app.mjs', `import ${NAMES} from 'weir/identity-client';\n${BODY}`],
] as const;

it.each(KINDS)('works in %s without any other package, but for streams', async (_, file, text) => {
  await withoutRxjs();
  expect(JSON.parse(await play(file, text))).toEqual(['ann', true, 'no rxjs']);
});

it.each(KINDS)('works in %s with streams of rxjs', async (_, file, text) => {
  await withRxjs();
  const told = await play(file, text);
  await withoutRxjs();
  expect(JSON.parse(told)).toEqual(['ann', true, 'ann']);
});

/** Links the modules in a context that has what a page has, and nothing of Node. */
const PAGE = `
import { readFileSync } from 'node:fs';
import { createContext, SourceTextModule } from 'node:vm';
const url = new URL(import.meta.resolve('weir/identity-client'));
const page = createContext({ fetch, AbortController, setTimeout, clearTimeout, console });
const modules = new Map();
const load = (at) => {
  if (!modules.has(at.href)) modules.set(at.href, new SourceTextModule(readFileSync(at, 'utf8'), {
    context: page, identifier: at.href,
    importModuleDynamically: (name) => { throw new TypeError('no import map for ' + name); },
  }));
  return modules.get(at.href);
};
const index = load(url);
await index.link((name, from) => load(new URL(name, from.identifier)));
await index.evaluate();
const ${NAMES} = index.namespace;
${BODY}`;

it('works where there is nothing of Node, as in a browser', async () => {
  const told = await play('page.mjs', PAGE, ['--experimental-vm-modules', '--no-warnings']);
  expect(JSON.parse(told)).toEqual(['ann', true, 'no rxjs']);
});

it('names nothing but rxjs and its own files', async () => {
  const client = join(packed.files, 'dist/src/identity/client');
  const imports: string[] = [];
  for (const name of await readdir(client)) {
    if (!/\.m?js$/.test(name)) continue;
    const text = await readFile(join(client, name), 'utf8');
    imports.push(
      ...[...text.matchAll(/(?:from|import\(|require\()\s*['"]([^'"]+)['"]/g)].map(
        ([, from = '']) => from,
      ),
    );
  }
  const foreign = imports.filter((from) => !/^\.\/[\w-]+(\.mjs)?$/.test(from));
  expect(new Set(foreign)).toEqual(new Set(['rxjs']));
});

const TYPED = `
import { IdentityClient, AuthenticationError, APIError, IdentityError, type APIErrorCode, type UserInfoResponse } from 'weir/identity-client';
const client = new IdentityClient({ baseUrl: 'https://id.test', apiKey: 'k', timeoutMs: 1, fetch });
export const one: Promise<UserInfoResponse> = client.getUserInfo('t', { signal: AbortSignal.timeout(1) });
export const read = ({ user, session }: UserInfoResponse): [string, string | null | undefined, number] => [user.names.familyName, user.emails[0]?.type, session.remainingSeconds];
export function tell(error: IdentityError): APIErrorCode | number | undefined {
  if (error instanceof AuthenticationError) return error.retryAfterSeconds;
  return error instanceof APIError ? error.code : error.status;
}
export const subscription = client.getUserInfo$('t').subscribe(({ meta }) => meta.code.toFixed());
// @ts-expect-error -- a token is a text
void client.getUserInfo(7);
`;

it('has types for both kinds of modules', async () => {
  await withRxjs();
  const told = await packed.check({ 'typed.mts': TYPED, 'typed.cts': TYPED });
  await withoutRxjs();
  expect(told).toBe('');
});
