import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificates } from '../../../../src/app/tls/create-certificates';
import { createRegistry } from '../../../../src/stats/registry';
import { createAuthority } from '../../../support/certificates';
import { eventually } from '../../../support/eventually';
import { silentLogger } from '../../../support/silent-logger';

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
