import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** PEM files of a certificate, its key, and the authority that signed it. */
export interface CertificateFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate authority of a test, in a directory of its own that the test removes. */
export interface Authority {
  readonly directory: string;
  readonly caFile: string;
  /** Issues a certificate for these names; IPv4 addresses become address entries. */
  issue(
    commonName: string,
    names?: readonly string[],
    options?: { readonly isExpired?: boolean },
  ): CertificateFiles;
}

/** The first and the last moment of certificates: as late as two digits of a year tell (RFC 5280 §4.1.2.5.1). */
const VALID = { from: '200101000000Z', to: '491231235959Z' };
const EXPIRED = { ...VALID, to: '200201000000Z' };

/** Makes an authority with elliptic keys and certificates. */
export function createAuthority(name = 'test authority'): Authority {
  const directory = mkdtempSync(join(tmpdir(), 'weir-certificates-'));
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const write = (file: string, text: string): string => {
    const path = join(directory, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const ca = certificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signer: keys.privateKey,
    extensions: [extension('2.5.29.19', sequence(BOOLEAN_TRUE), true)],
  });
  const caFile = write('ca.pem', ca);
  return {
    directory,
    caFile,
    issue(commonName, names = [], { isExpired = false } = {}) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions =
        names.length === 0 ? [] : [extension('2.5.29.17', sequence(...names.map(alternativeName)))];
      const text = certificate({
        subject: commonName,
        issuer: name,
        publicKey: own.publicKey,
        signer: keys.privateKey,
        extensions,
        validity: isExpired ? EXPIRED : VALID,
      });
      const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return {
        caFile,
        certFile: write(`${commonName}.pem`, text),
        keyFile: write(`${commonName}.key`, key),
      };
    },
  };
}

interface CertificateParts {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validity?: typeof VALID;
}

/** An X.509 version 3 certificate as PEM (RFC 5280). */
function certificate(parts: CertificateParts): string {
  const { subject, issuer, publicKey, signer, extensions, validity = VALID } = parts;
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer),
    sequence(utcTime(validity.from), utcTime(validity.to)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(0xa3, sequence(...extensions))]),
  );
  const signature = sign('sha256', body, signer);
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

const BOOLEAN_TRUE = tagged(0x01, Buffer.from([0xff]));

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

function distinguishedName(commonName: string): Buffer {
  const name = sequence(oid('2.5.4.3'), tagged(0x0c, Buffer.from(commonName)));
  return sequence(tagged(0x31, name));
}

function utcTime(text: string): Buffer {
  return tagged(0x17, Buffer.from(text));
}

function alternativeName(name: string): Buffer {
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(name);
  return isAddress
    ? tagged(0x87, Buffer.from(name.split('.').map(Number)))
    : tagged(0x82, Buffer.from(name));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [BOOLEAN_TRUE] : []), tagged(0x04, value));
}
