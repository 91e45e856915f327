import { readFileSync } from 'node:fs';
import type { Settings } from '../../settings/settings';

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
  const redis = store?.tls ?? perSecondStore?.tls;
  const server = configuration.type === 'FILE' ? undefined : xds.tls;
  return {
    KVSTORE_TLS_CACERT: redis?.caFile,
    KVSTORE_TLS_CLIENT_CERT: redis?.certFile,
    KVSTORE_TLS_CLIENT_KEY: redis?.keyFile,
    MEMSTORE_TLS_CACERT: memstore?.tls?.caFile,
    MEMSTORE_TLS_CLIENT_CERT: memstore?.tls?.certFile,
    MEMSTORE_TLS_CLIENT_KEY: memstore?.tls?.keyFile,
    CONFIG_GRPC_XDS_SERVER_TLS_CACERT: server?.caFile,
    CONFIG_GRPC_XDS_CLIENT_TLS_CERT: server?.certFile,
    CONFIG_GRPC_XDS_CLIENT_TLS_KEY: server?.keyFile,
  };
}
