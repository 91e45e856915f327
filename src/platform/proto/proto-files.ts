import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';

/** The service's own protocol, relative to the folder `proto/`. */
export const RATE_LIMIT_PROTO = 'envoy/service/ratelimit/v3/rls.proto';

/** The folder `proto/` beside the code, in the source tree and in the built one. */
function protoFolder(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'proto');
    if (existsSync(join(candidate, RATE_LIMIT_PROTO))) return candidate;
    if (folder === dirname(folder)) {
      throw new Error(`no folder proto/ with ${RATE_LIMIT_PROTO} beside or above ${__dirname}`);
    }
  }
}

/**
 * Reads .proto files (paths inside `proto/`). Messages come as camelCase objects, enums as names, 64-bit
 * numbers and bytes as text, absent fields absent: the shape of proto3 JSON.
 */
export function loadProtos(files: readonly string[]): PackageDefinition {
  return loadSync([...files], {
    includeDirs: [protoFolder()],
    longs: String,
    enums: String,
    bytes: String,
  });
}
