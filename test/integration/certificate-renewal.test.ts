import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificates } from '../../src/app/tls/certificates';
import { createRegistry } from '../../src/stats/registry';
import { createAuthority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { createRecordingLogger } from '../support/recording-logger';
import { silentLogger } from '../support/silent-logger';

const END = 'ratelimit.service.certificate_end_seconds';

const authority = createAuthority();
afterAll(() => {
  rmSync(authority.directory, { recursive: true });
});

const endOf = (file: string) => Date.parse(new X509Certificate(readFileSync(file)).validTo) / 1_000;

it('shows when the certificate in use ends, also after a renewal, until it is closed', async () => {
  const old = authority.issue('old', [], { isExpired: true });
  const renewed = authority.issue('renewed');
  const files = {
    certFile: join(authority.directory, 'in-use.pem'),
    keyFile: join(authority.directory, 'in-use.key'),
  };
  const put = ({ certFile, keyFile }: typeof old) => {
    copyFileSync(certFile, files.certFile);
    copyFileSync(keyFile, files.keyFile);
  };
  put(old);
  const registry = createRegistry();
  const certificates = createCertificates(
    { ...files, clientCaFile: undefined, clientName: undefined },
    { statistics: registry, logger: silentLogger },
  );
  const subscription = certificates.renewals$.subscribe();
  expect(registry.readGauges().get(END)).toBe(endOf(old.certFile));
  put(renewed);
  await eventually(() => {
    expect(registry.readGauges().get(END)).toBe(endOf(renewed.certFile));
  });
  certificates.close();
  subscription.unsubscribe();
  expect(registry.readGauges().has(END)).toBe(false);
});

it('keeps a valid certificate in use where the new one has expired, and takes the next good one', async () => {
  const [valid, expired, renewed] = [
    authority.issue('valid'),
    authority.issue('expired', [], { isExpired: true }),
    authority.issue('next'),
  ];
  const files = {
    certFile: join(authority.directory, 'kept.pem'),
    keyFile: join(authority.directory, 'kept.key'),
  };
  const put = ({ certFile, keyFile }: typeof valid) => {
    copyFileSync(certFile, files.certFile);
    copyFileSync(keyFile, files.keyFile);
  };
  put(valid);
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const certificates = createCertificates(
    { ...files, clientCaFile: undefined, clientName: undefined },
    { statistics: registry, logger },
  );
  const taken: Buffer[] = [];
  const subscription = certificates.renewals$.subscribe(({ certificate }) => {
    taken.push(certificate);
  });
  put(expired);
  await eventually(() => {
    expect(lines.filter(({ level }) => level === 'error').map(({ fields }) => fields)).toEqual([
      {
        reason: expect.stringMatching(
          /^GRPC_SERVER_TLS_CERT: .* is valid from .* to .*, which is not now$/,
        ) as string,
      },
    ]);
  });
  expect(registry.readGauges().get(END)).toBe(endOf(valid.certFile));
  put(renewed);
  await eventually(() => {
    expect(taken).toEqual([readFileSync(renewed.certFile)]);
  });
  certificates.close();
  subscription.unsubscribe();
});
