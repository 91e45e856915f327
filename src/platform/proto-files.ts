import { join } from 'node:path';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { folderWith } from './package';

/** The service's own protocol, relative to the folder `proto/`. */
export const RATE_LIMIT_PROTO = 'envoy/service/ratelimit/v3/rls.proto';

/**
 * Reads .proto files (paths inside `proto/`). Messages come as camelCase objects, enums as names, 64-bit numbers and bytes as
 * strings, absent fields absent: the shape of proto3 JSON.
 */
export function loadProtos(files: readonly string[]): PackageDefinition {
  return loadSync([...files], {
    includeDirs: [join(folderWith(join('proto', RATE_LIMIT_PROTO)), 'proto')],
    longs: String,
    enums: String,
    bytes: String,
  });
}
