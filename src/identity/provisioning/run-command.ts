import { toReason } from '../../platform/errors';
import { readStrictly } from '../../platform/flags';
import { StoreUnavailable } from '../store/store';
import { apiKeyCommands, issueApiKey } from './api-key-commands';
import {
  type ProvisioningCommand,
  type CommandDeps,
  type CommandResult,
  type CommandCall,
  done,
  notFound,
  toIso,
} from './command';
import { sessionCommands } from './session-commands';
import { tokenCommands, issueToken } from './token-commands';
import { userCommands } from './user-commands';
import { parseUser } from '../store/records';

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

interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const DONE = 0;
const FAILED = 1;
const WRONG = 2;
const NOT_FOUND = 3;

/** Runs one provisioning command; never rejects. */
export async function runCommand(
  words: readonly string[],
  deps: CommandDeps,
): Promise<CommandOutput> {
  const call = parseCall(words);
  if ('problem' in call) return failed(WRONG, `${call.problem}\n\n${usage()}`);
  try {
    return print(await call.command.run(call, deps), call.asJson);
  } catch (error) {
    if (error instanceof StoreUnavailable) return failed(FAILED, `${error.message}\n`);
    return failed(FAILED, `the command failed: ${toReason(error)}\n`);
  }
}

type Call =
  | (CommandCall & { readonly command: ProvisioningCommand; readonly asJson: boolean })
  | { readonly problem: string };

function parseCall(words: readonly string[]): Call {
  const twoWords = words.slice(0, 2).join(' ');
  const length = COMMANDS.has(twoWords) ? 2 : 1;
  const command = COMMANDS.get(words.slice(0, length).join(' '));
  if (command === undefined) return { problem: `no such command: ${JSON.stringify(twoWords)}` };
  const { values: names = [], flags = {} } = command;
  try {
    const read = readStrictly(words.slice(length), { ...flags, json: {} }, true);
    const { values: given, positionals: values } = read;
    if (values.length !== names.length) {
      const expected = names.map((name) => `<${name}>`).join(' ') || 'no values';
      return { problem: `${String(values.length)} values were given, expected ${expected}` };
    }
    return { command, values, flags: given, asJson: given.has('json') };
  } catch (error) {
    return { problem: toReason(error) };
  }
}

function print(result: CommandResult, asJson: boolean): CommandOutput {
  switch (result.kind) {
    case 'done': {
      const lines = asJson ? result.records.map((record) => JSON.stringify(record)) : result.lines;
      const stdout = lines.map((line) => `${line}\n`).join('');
      return { exitCode: DONE, stdout, stderr: '' };
    }
    case 'not-found':
      return failed(NOT_FOUND, `${result.message}\n`);
    case 'wrong':
      return failed(WRONG, `${result.problems.join('\n')}\n`);
  }
}

function failed(exitCode: number, stderr: string): CommandOutput {
  return { exitCode, stdout: '', stderr };
}

/** Every command by its words: `token issue`. */
const COMMANDS: ReadonlyMap<string, ProvisioningCommand> = new Map([
  ...withSubject('user', userCommands),
  ...withSubject('session', sessionCommands),
  ...withSubject('token', tokenCommands),
  ...withSubject('api-key', apiKeyCommands),
  ['demo', demo],
]);

function withSubject(
  subject: string,
  commands: Readonly<Record<string, ProvisioningCommand>>,
): readonly (readonly [string, ProvisioningCommand])[] {
  return Object.entries(commands).map(([name, command]) => [`${subject} ${name}`, command]);
}

/** How to call the program. */
export function usage(): string {
  const lines = [...COMMANDS].map(([words, command]) =>
    [['  identity', words, ...usageOf(command)].join(' '), `      ${command.doc}`].join('\n'),
  );
  return [
    'identity serve [--help]',
    '      runs the service; --help prints the settings',
    '',
    ...lines,
    '',
    'With --json every result is one JSON object a line. Exit codes: 0 done, 1 it failed, 2 wrong usage',
    'or input, 3 not found. The store is the one that IDENTITY_STORE and IDENTITY_STORE_FILE name.',
    '',
  ].join('\n');
}

/** The arguments of a command: `<user> [--ttl <duration, 1h>]`. */
function usageOf({ values = [], flags = {}, input }: ProvisioningCommand): readonly string[] {
  const options = Object.entries(flags).map(([name, flag]) => {
    const value = [flag.value, flag.default].filter((text) => text !== undefined).join(', ');
    return `[--${name} <${value}>]${flag.repeats === true ? '...' : ''}`;
  });
  const inputs = input === undefined ? [] : [`< ${input}`];
  return [...values.map((name) => `<${name}>`), ...options, ...inputs];
}
