import {
  emptyOf,
  readList,
  recordOf,
  refuseType,
  sortOf,
  type Dialect,
  type Field,
  type Readers,
} from '../../fields/record';

/** Thrown with every mistake of a record, one line each. */
export class MalformedRecord extends Error {
  override readonly name = 'MalformedRecord';
  readonly code = 'malformed_record';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Messages contain the type of a value, never the value, which may be personal data. */
const DIALECT: Dialect = {
  refuse: () => undefined,
  inKnownOrder: true,
  separator: '.',
  show: sortOf,
  noMap: (value) => `is ${sortOf(value)}, expected an object`,
  unknown: (name) => `has no field ${JSON.stringify(name)}`,
};

const record = <T extends object>(readers: Readers<T>) =>
  recordOf(readers, emptyOf(readers, DIALECT));
const listOf =
  <T>(read: (field: Field) => T) =>
  (field: Field) =>
    readList(field, read);
const flag = (otherwise: boolean) => (field: Field) =>
  typeof field.value === 'boolean' ? field.value : refuseType(field, 'true or false', otherwise);

function text(field: Field): string {
  return typeof field.value === 'string' ? field.value : refuseType(field, 'a string', '');
}

function textOrNull(field: Field): string | null {
  const { value } = field;
  return typeof value === 'string' ? value : refuseType(field, 'a string or null', null);
}

/** The data of a user. Where nothing is known, strings and lists are empty and the rest is null. */
const readUser = record({
  id: text,
  externalId: text,
  userName: text,
  displayName: text,
  emails: listOf(record({ value: text, type: textOrNull })),
  photos: listOf(record({ value: text, type: text })),
  names: record({
    familyName: text,
    givenName: text,
    formatted: textOrNull,
    middleName: textOrNull,
    honorificPrefix: textOrNull,
    honorificSuffix: textOrNull,
  }),
  verifications: listOf(
    record({ id: text, email: text, verified: flag(false), createdAt: text, updatedAt: text }),
  ),
  provider: text,
  environmentId: text,
  nickName: textOrNull,
  profileUrl: textOrNull,
  title: textOrNull,
  userType: textOrNull,
  preferredLanguage: textOrNull,
  locale: text,
  timezone: textOrNull,
  // False: disabled. None of the user's tokens is valid.
  active: flag(true),
  // RFC 3339, as all times of records.
  createdAt: text,
  updatedAt: text,
});

const readSession = record({ id: text, userId: text, createdAt: text });

/** `secretHash` is the SHA-256 of the secret, in hex. */
const readToken = record({
  id: text,
  secretHash: text,
  sessionId: text,
  userId: text,
  createdAt: text,
});

/** `name` identifies its owner, in the operator's words. */
const readApiKey = record({ id: text, secretHash: text, name: text, createdAt: text });

export type UserRecord = ReturnType<typeof readUser>;
export type SessionRecord = ReturnType<typeof readSession>;
export type TokenRecord = ReturnType<typeof readToken>;
export type ApiKeyRecord = ReturnType<typeof readApiKey>;

export interface LiveSession extends SessionRecord {
  /** Milliseconds until it ends. */
  readonly remainingMs: number;
}

/** Ids are used in keys of the store and in descriptors of limits. */
const ID = /^[A-Za-z0-9._:@+-]{1,128}$/;
const HASH = /^[0-9a-f]{64}$/;

export const ID_EXPECTED = '1 to 128 letters, digits and . _ : @ + -';

export function isId(id: string): boolean {
  return ID.test(id);
}

/** A user from JSON; missing fields are empty. Throws `MalformedRecord` with every mistake. */
export function parseUser(input: unknown, where = 'user'): UserRecord {
  const user = parse(input, where, readUser);
  check(isId(user.id), `${where}.id is not ${ID_EXPECTED}`);
  return user;
}

export function parseSession(input: unknown, where = 'session'): SessionRecord {
  const session = parse(input, where, readSession);
  check(isId(session.id) && isId(session.userId), `${where} has no id or no userId`);
  return session;
}

export function parseToken(input: unknown, where = 'token'): TokenRecord {
  const token = parse(input, where, readToken);
  const isWhole = isId(token.id) && isId(token.userId) && isId(token.sessionId);
  check(isWhole, `${where} has no id, userId or sessionId`);
  check(HASH.test(token.secretHash), `${where}.secretHash is not a SHA-256 in hex`);
  return token;
}

export function parseApiKey(input: unknown, where = 'apiKey'): ApiKeyRecord {
  const key = parse(input, where, readApiKey);
  check(isId(key.id), `${where} has no id`);
  check(HASH.test(key.secretHash), `${where}.secretHash is not a SHA-256 in hex`);
  return key;
}

function parse<T>(value: unknown, path: string, read: (field: Field) => T): T {
  const problems: string[] = [];
  const refuse = (at: string, reason: string) => problems.push(`${at} ${reason}`);
  const found = read({ value, path, dialect: { ...DIALECT, refuse } });
  if (problems.length > 0) throw new MalformedRecord(problems);
  return found;
}

function check(isRight: boolean, problem: string): void {
  if (!isRight) throw new MalformedRecord([problem]);
}
