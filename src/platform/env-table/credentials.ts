import type { Parser } from './setting';

export interface Credentials {
  /** Undefined: the store's default user. */
  readonly username: string | undefined;
  readonly password: string;
}

/** `<PASSWORD>` or `<USER>:<PASSWORD>`; the first colon divides, so a password may contain more of them. */
export const credentials: Parser<Credentials> = {
  expected: '<PASSWORD> or <USER>:<PASSWORD>, without line breaks',
  parse: (text) => {
    const at = text.indexOf(':');
    const username = at > 0 ? text.slice(0, at) : undefined;
    const password = text.slice(at + 1);
    return password === '' || /[\0\r\n]/.test(text) ? undefined : { username, password };
  },
};
