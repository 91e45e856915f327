import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ANN, grant, startIdentity, type IdentityUnderTest } from '../support/identity';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

let folder: string;
let identity: IdentityUnderTest;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-client-'));
  identity = await startIdentity();
  ({ token } = await grant(identity.store, ANN, 60_000));
  const { stdout } = await run(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: ROOT },
  );
  const [{ filename = '' } = {}] = JSON.parse(stdout) as { readonly filename?: string }[];
  await run('tar', ['-xzf', filename], { cwd: folder });
  await mkdir(join(folder, 'app/node_modules'), { recursive: true });
  await cp(join(folder, 'package'), join(folder, 'app/node_modules/weir'), { recursive: true });
}, 180_000);
afterAll(async () => {
  await identity.stop();
  await rm(folder, { recursive: true, force: true });
});

const withRxjs = async () => {
  await symlink(join(ROOT, 'node_modules/rxjs'), join(folder, 'app/node_modules/rxjs'));
};
const withoutRxjs = () => rm(join(folder, 'app/node_modules/rxjs'), { force: true });

/** A program of somebody who has installed the package; answers what it printed. */
async function play(file: string, text: string, flags: readonly string[] = []): Promise<string> {
  await writeFile(join(folder, 'app', file), text);
  const env = {
    PATH: process.env['PATH'],
    BASE_URL: `http://127.0.0.1:${String(identity.port)}`,
    TOKEN: token,
  };
  const words = [...flags, file];
  return (await run(process.execPath, words, { cwd: join(folder, 'app'), env })).stdout;
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
  const client = join(folder, 'package/dist/src/identity/client');
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
  const app = join(folder, 'app');
  await Promise.all(['typed.mts', 'typed.cts'].map((file) => writeFile(join(app, file), TYPED)));
  const options = {
    ...{ module: 'node16', strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...{ lib: ['ES2023', 'DOM'], types: [], target: 'ES2022' },
  };
  await writeFile(
    join(app, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['typed.mts', 'typed.cts'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const checked = await run(process.execPath, [compiler, '-p', app]).catch(
    (error: unknown) => error,
  );
  await withoutRxjs();
  expect(checked).toMatchObject({ stdout: '' });
});
