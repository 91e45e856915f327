import { isMap } from '../../fields/record';
import { createId } from '../credential';
import { MalformedRecord, ID_EXPECTED, isId, parseUser, type UserRecord } from '../store/records';
import {
  done,
  flagText,
  notFound,
  toIso,
  wrong,
  type ProvisioningCommand,
  type CommandCall,
  type CommandDeps,
  type CommandResult,
} from './command';

/** Flags of `user add` with text fields of the same meaning. */
const TEXT_FLAGS = {
  'external-id': 'externalId',
  'user-name': 'userName',
  'display-name': 'displayName',
  provider: 'provider',
  'environment-id': 'environmentId',
  locale: 'locale',
} as const;

const add: ProvisioningCommand = {
  doc: 'adds a user and prints the id',
  flags: {
    id: { value: 'id' },
    'user-name': { value: 'name' },
    'display-name': { value: 'name' },
    'given-name': { value: 'name' },
    'family-name': { value: 'name' },
    email: { value: 'address', repeats: true },
    photo: { value: 'url', repeats: true },
    'external-id': { value: 'id' },
    provider: { value: 'id' },
    'environment-id': { value: 'id' },
    locale: { value: 'tag' },
  },
  async run(call, { store, nowMs, randomBytes }) {
    const id = flagText(call, 'id') ?? createId(randomBytes);
    if (!isId(id)) return wrong(`--id: expected ${ID_EXPECTED}`);
    if ((await store.findUser(id)) !== undefined)
      return wrong(`--id: there is a user ${id} already`);
    const user = toUser(call, id, toIso(nowMs()));
    await store.putUsers([user]);
    return done([user], [id]);
  },
};

function toUser(call: CommandCall, id: string, now: string): UserRecord {
  const texts = Object.entries(TEXT_FLAGS).map(([flag, field]) => [field, flagText(call, flag)]);
  const many = (name: string) => call.flags.get(name) ?? [];
  return parseUser({
    id,
    ...Object.fromEntries(texts),
    emails: many('email').map((value) => ({ value, type: null })),
    photos: many('photo').map((value) => ({ value, type: 'photo' })),
    names: {
      familyName: flagText(call, 'family-name'),
      givenName: flagText(call, 'given-name'),
    },
    createdAt: now,
    updatedAt: now,
  });
}

const importUsers: ProvisioningCommand = {
  input: 'users.jsonl',
  doc: 'adds or replaces users: one JSON object a line on standard input, all of them or none',
  async run(_call, { store, nowMs, randomBytes, readInput }) {
    const now = toIso(nowMs());
    const users: UserRecord[] = [];
    const problems: string[] = [];
    for (const [index, line] of (await readInput()).split('\n').entries()) {
      if (line.trim() === '') continue;
      const read = parseLine(line, `line ${String(index + 1)}`, now, createId(randomBytes));
      if ('problems' in read) problems.push(...read.problems);
      else users.push(read.user);
    }
    if (problems.length > 0) return wrong(...problems);
    await store.putUsers(users);
    return done(
      users.map(({ id }) => ({ id })),
      users.map(({ id }) => id),
    );
  },
};

function parseLine(
  line: string,
  where: string,
  now: string,
  newId: string,
): { readonly user: UserRecord } | { readonly problems: readonly string[] } {
  let input: unknown;
  try {
    input = JSON.parse(line);
  } catch {
    return { problems: [`${where} is not valid JSON`] };
  }
  const times = { id: newId, createdAt: now, updatedAt: now };
  try {
    return { user: parseUser(isMap(input) ? { ...times, ...input } : input, where) };
  } catch (error) {
    if (error instanceof MalformedRecord) return { problems: error.problems };
    throw error;
  }
}

const list: ProvisioningCommand = {
  doc: 'prints all users',
  async run(_call, { store }) {
    const users = await store.listUsers();
    return done(
      users,
      users.map(({ id, active, userName }) =>
        [id, active ? 'active' : 'disabled', userName].join('\t').trimEnd(),
      ),
    );
  },
};

const show: ProvisioningCommand = {
  doc: 'prints one user',
  values: ['user'],
  async run({ values: [id = ''] }, { store }) {
    const user = await store.findUser(id);
    return user === undefined
      ? notFound('user', id)
      : done([user], [JSON.stringify(user, undefined, 2)]);
  },
};

function switchTo(active: boolean): ProvisioningCommand {
  const state = active ? 'enabled' : 'disabled';
  return {
    doc: active ? 'enables a disabled user again' : 'refuses all tokens of the user until enabled',
    values: ['user'],
    run: ({ values: [id = ''] }, deps) => setActive(id, active, state, deps),
  };
}

async function setActive(
  id: string,
  active: boolean,
  state: string,
  { store, nowMs }: CommandDeps,
): Promise<CommandResult> {
  const user = await store.findUser(id);
  if (user === undefined) return notFound('user', id);
  await store.putUsers([{ ...user, active, updatedAt: toIso(nowMs()) }]);
  return done([{ id, active }], [`${state} ${id}`]);
}

const remove: ProvisioningCommand = {
  doc: 'deletes the user and ends all sessions of the user',
  values: ['user'],
  async run({ values: [id = ''] }, { store }) {
    const wasThere = await store.deleteUser(id);
    return wasThere ? done([{ id }], [`deleted ${id}`]) : notFound('user', id);
  },
};

export const userCommands: Readonly<Record<string, ProvisioningCommand>> = {
  add,
  import: importUsers,
  list,
  show,
  disable: switchTo(false),
  enable: switchTo(true),
  delete: remove,
};
