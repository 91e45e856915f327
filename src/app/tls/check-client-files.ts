import { readFileSync } from 'node:fs';
import type { Settings } from '../../settings/settings';
import type { TlsFiles } from '../../settings/tls';

type Files = Readonly<Record<string, string | undefined>>;

/**
 * Throws, naming every setting, when a file that secures a connection to a store or to the management server cannot be
 * read: waiting would not help. Files are read again for each connection, so what happens to them later is an outage.
 */
export function checkClientFiles(settings: Settings): void {
  const problems = Object.entries(filesOf(settings)).flatMap(([name, file]) => {
    try {
      if (file !== undefined) readFileSync(file);
      return [];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return [`${name}: cannot read the file: ${reason}`];
    }
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

function filesOf({ store, perSecondStore, memstore, configuration, xds }: Settings): Files {
  const server = configuration.type === 'FILE' ? undefined : xds.tls;
  return {
    ...named(store?.tls ?? perSecondStore?.tls, [
      'KVSTORE_TLS_CACERT',
      'KVSTORE_TLS_CLIENT_CERT',
      'KVSTORE_TLS_CLIENT_KEY',
    ]),
    ...named(memstore?.tls, [
      'MEMSTORE_TLS_CACERT',
      'MEMSTORE_TLS_CLIENT_CERT',
      'MEMSTORE_TLS_CLIENT_KEY',
    ]),
    ...named(server, [
      'CONFIG_GRPC_XDS_SERVER_TLS_CACERT',
      'CONFIG_GRPC_XDS_CLIENT_TLS_CERT',
      'CONFIG_GRPC_XDS_CLIENT_TLS_KEY',
    ]),
  };
}

function named(
  files: TlsFiles | undefined,
  [ca, cert, key]: readonly [ca: string, cert: string, key: string],
): Files {
  return { [ca]: files?.caFile, [cert]: files?.certFile, [key]: files?.keyFile };
}
