import { MalformedRecord, readRecord, type RecordFields } from './fields';
import type { ApiKeyRecord, SessionRecord, TokenRecord, UserRecord } from './records';

/** Ids stand in keys of the store and in descriptors of limits. */
const ID = /^[A-Za-z0-9._:@+-]{1,128}$/;
const HASH = /^[0-9a-f]{64}$/;

export const ID_EXPECTED = '1 to 128 letters, digits and . _ : @ + -';

export function isId(text: string): boolean {
  return ID.test(text);
}

/** A user from JSON; fields that are left out are empty. Throws `MalformedRecord` with every mistake. */
export function parseUser(input: unknown, where = 'user'): UserRecord {
  const user = readRecord(input, where, readUser);
  check(isId(user.id), `${where}.id is not ${ID_EXPECTED}`);
  return user;
}

export function parseSession(input: unknown, where = 'session'): SessionRecord {
  const session = readRecord(input, where, readSession);
  check(isId(session.id) && isId(session.userId), `${where} has no id or no userId`);
  return session;
}

export function parseToken(input: unknown, where = 'token'): TokenRecord {
  const token = readRecord(input, where, readToken);
  const isWhole = isId(token.id) && isId(token.userId) && isId(token.sessionId);
  check(isWhole, `${where} has no id, userId or sessionId`);
  check(HASH.test(token.secretHash), `${where}.secretHash is not a SHA-256 in hex`);
  return token;
}

export function parseApiKey(input: unknown, where = 'apiKey'): ApiKeyRecord {
  const key = readRecord(input, where, readApiKey);
  check(isId(key.id), `${where} has no id`);
  check(HASH.test(key.secretHash), `${where}.secretHash is not a SHA-256 in hex`);
  return key;
}

function check(isRight: boolean, problem: string): void {
  if (!isRight) throw new MalformedRecord([problem]);
}

function readUser(user: RecordFields): UserRecord {
  return {
    id: user.text('id'),
    externalId: user.text('externalId'),
    userName: user.text('userName'),
    displayName: user.text('displayName'),
    emails: user.list('emails', (email) => ({
      value: email.text('value'),
      type: email.textOrNull('type'),
    })),
    photos: user.list('photos', (photo) => ({
      value: photo.text('value'),
      type: photo.text('type'),
    })),
    names: user.object('names', (names) => ({
      familyName: names.text('familyName'),
      givenName: names.text('givenName'),
      formatted: names.textOrNull('formatted'),
      middleName: names.textOrNull('middleName'),
      honorificPrefix: names.textOrNull('honorificPrefix'),
      honorificSuffix: names.textOrNull('honorificSuffix'),
    })),
    verifications: user.list('verifications', (entry) => ({
      id: entry.text('id'),
      email: entry.text('email'),
      verified: entry.flag('verified', false),
      createdAt: entry.text('createdAt'),
      updatedAt: entry.text('updatedAt'),
    })),
    provider: user.text('provider'),
    environmentId: user.text('environmentId'),
    nickName: user.textOrNull('nickName'),
    profileUrl: user.textOrNull('profileUrl'),
    title: user.textOrNull('title'),
    userType: user.textOrNull('userType'),
    preferredLanguage: user.textOrNull('preferredLanguage'),
    locale: user.text('locale'),
    timezone: user.textOrNull('timezone'),
    active: user.flag('active', true),
    createdAt: user.text('createdAt'),
    updatedAt: user.text('updatedAt'),
  };
}

function readSession(session: RecordFields): SessionRecord {
  return {
    id: session.text('id'),
    userId: session.text('userId'),
    createdAt: session.text('createdAt'),
  };
}

function readToken(token: RecordFields): TokenRecord {
  return {
    id: token.text('id'),
    secretHash: token.text('secretHash'),
    sessionId: token.text('sessionId'),
    userId: token.text('userId'),
    createdAt: token.text('createdAt'),
  };
}

function readApiKey(key: RecordFields): ApiKeyRecord {
  return {
    id: key.text('id'),
    secretHash: key.text('secretHash'),
    name: key.text('name'),
    createdAt: key.text('createdAt'),
  };
}
