import type { UserInfoResponse } from '../contract/user-info';

type Check = (value: unknown, where: string) => string | undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check = (value, where) =>
  typeof value === 'string' ? undefined : `${where} is not a string`;
const textOrNull: Check = (value, where) => (value === null ? undefined : text(value, where));
const flag: Check = (value, where) =>
  typeof value === 'boolean' ? undefined : `${where} is neither true nor false`;
const whole: Check = (value, where) =>
  Number.isSafeInteger(value) ? undefined : `${where} is not a whole number`;

function object(fields: Readonly<Record<string, Check>>): Check {
  return (value, where) => {
    if (!isObject(value)) return `${where} is not an object`;
    for (const [name, check] of Object.entries(fields)) {
      const problem = check(value[name], where === '' ? name : `${where}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function list(item: Check): Check {
  return (value, where) => {
    if (!Array.isArray(value)) return `${where} is not a list`;
    for (const [index, entry] of value.entries()) {
      const problem = item(entry, `${where}[${String(index)}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

const verification = { id: text, email: text, verified: flag, createdAt: text, updatedAt: text };

const user = object({
  id: text,
  externalId: text,
  userName: text,
  displayName: text,
  emails: list(object({ value: text, type: textOrNull })),
  photos: list(object({ value: text, type: text })),
  names: object({ familyName: text, givenName: text }),
  verifications: list(object(verification)),
  provider: text,
  environmentId: text,
});

const response = object({
  meta: object({ code: whole, message: text }),
  session: object({ remainingSeconds: whole }),
  user,
});

export type ParsedResponse =
  | { readonly ok: true; readonly response: UserInfoResponse }
  | { readonly ok: false; readonly problem: string };

/** Checks every documented field; further fields stay as they are. */
export function parseUserInfoResponse(body: string): ParsedResponse {
  const value = parseJson(body);
  const problem = value === undefined ? 'it is not valid JSON' : response(value, '');
  if (problem !== undefined) return { ok: false, problem };
  return { ok: true, response: value as UserInfoResponse };
}

/** The texts of an error's body; none when it has another shape. */
export function parseErrorBody(body: string): {
  readonly error?: string;
  readonly errorDescription?: string;
  readonly requestId?: string;
} {
  const value = parseJson(body);
  if (!isObject(value)) return {};
  const pick = (name: string) => (typeof value[name] === 'string' ? { [name]: value[name] } : {});
  return { ...pick('error'), ...pick('errorDescription'), ...pick('requestId') };
}

/** Undefined when it is invalid. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
