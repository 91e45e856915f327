import { readFileSync } from 'node:fs';

const CREDENTIAL = /id[tk]_[0-9A-Za-z]{65}/g;
const PARTS = { secretAt: 20, checksumAt: 63 };
const secrets = new Set<string>();

/** Keeps every token and API key of a text in mind, whole and its secret part, for `expectNoSecretIn`. */
export function rememberSecrets(text: string): void {
  for (const [credential] of text.matchAll(CREDENTIAL)) {
    secrets.add(credential);
    secrets.add(credential.slice(PARTS.secretAt, PARTS.checksumAt));
  }
}

/** Throws when a place holds a secret that any test of this file has made; does not print it. */
export function expectNoSecretIn(places: Readonly<Record<string, string>>): void {
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets)
      if (text.includes(secret)) throw new Error(`a token or an API key stands in ${place}`);
  }
}

/** The content of a file; empty where there is none. */
export function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
