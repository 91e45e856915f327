import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, ServiceError } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { toProtoJson } from '../../src/cli/response';
import { RATE_LIMIT_PROTO, loadProtos } from '../../src/platform/proto-files';
import type { Replayable } from './replay';
import type { ProtoRequest, Step } from './scenario';

/** A service that steps are performed on. */
export interface Performed {
  /** The connection that the next call takes. */
  readonly client: () => Client;
  /** host:port */
  readonly http: string;
  readonly debug: string;
  /** Where its rule files are. */
  readonly directory: string;
  readonly counted: Replayable['counted'];
  /** Asks again after each load of the rules, until there is an answer. */
  readonly untilLoad: <T>(ask: () => Promise<T | undefined>) => Promise<T>;
}

const SERVICE = loadProtos([RATE_LIMIT_PROTO])[
  'envoy.service.ratelimit.v3.RateLimitService'
] as ServiceDefinition;
const HEALTH = loadHealth();

/** The answer to a step in the words of its recording. */
export function performStep(service: Performed, step: Step): Promise<Partial<Step>> {
  if (step.request !== undefined) return askGrpc(service, step.request);
  if (step.health !== undefined) return askHealth(service, step.health);
  if (step.http !== undefined) return askHttp(service.http, step.http);
  if (step.debug !== undefined) return askDebug(service.debug, step.debug);
  return step.reload === undefined ? Promise.resolve({}) : reload(service, step.reload);
}

function call(
  { client }: Performed,
  definition: ServiceDefinition[string],
  message: object,
): Promise<object> {
  return new Promise((resolve, reject) => {
    client().makeUnaryRequest<object, object>(
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize,
      message,
      (error: ServiceError | null, response) => {
        if (error === null) resolve(response ?? {});
        else reject(error);
      },
    );
  });
}

async function askGrpc(service: Performed, request: ProtoRequest): Promise<Partial<Step>> {
  const method = SERVICE['ShouldRateLimit'];
  if (method === undefined) throw new Error('no method ShouldRateLimit');
  try {
    return { response: toProtoJson(await call(service, method, fromProtoJson(request))) };
  } catch {
    return { error: {} };
  }
}

/** proto3 JSON writes a wrapped number bare. */
function fromProtoJson(request: ProtoRequest): object {
  return {
    ...request,
    descriptors: (request.descriptors ?? []).map(({ hitsAddend, ...descriptor }) => ({
      ...descriptor,
      ...(hitsAddend !== undefined && { hitsAddend: { value: hitsAddend } }),
    })),
  };
}

async function askHealth(service: Performed, name: string): Promise<Partial<Step>> {
  try {
    return { response: await call(service, HEALTH, { service: name }) };
  } catch {
    return { error: {} };
  }
}

async function askHttp(
  address: string,
  { method, path, body }: NonNullable<Step['http']>,
): Promise<Partial<Step>> {
  const response = await fetch(`http://${address}${path}`, {
    method,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type') ?? '';
  const isJson = contentType.startsWith('application/json');
  return {
    status: response.status,
    contentType,
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}

async function askDebug(address: string, path: string): Promise<Partial<Step>> {
  const response = await fetch(`http://${address}${path}`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return { lines: lines.sort() };
}

async function reload(
  { directory, counted, untilLoad }: Performed,
  files: NonNullable<Step['reload']>,
): Promise<Partial<Step>> {
  const loads = async () => {
    const all = await counted();
    const total = (end: string) => all.get(`ratelimit.service.config_load_${end}`) ?? 0;
    return { success: total('success'), error: total('error') };
  };
  const before = await loads();
  // Without a pause, in which a service that runs in this process would see some of the changes.
  for (const [file, text] of Object.entries(files)) {
    if (text === null) {
      rmSync(join(directory, file));
      continue;
    }
    writeFileSync(join(directory, `.${file}.new`), text);
    renameSync(join(directory, `.${file}.new`), join(directory, file));
  }
  return untilLoad(async () => {
    const now = await loads();
    if (now.error > before.error) return { loads: 'error' as const };
    return now.success > before.success ? { loads: 'success' as const } : undefined;
  });
}

function loadHealth(): ServiceDefinition[string] {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the package names its own file
  const { protoPath } = require('grpc-health-check') as { readonly protoPath: string };
  const { Check } = loadProtos([protoPath])['grpc.health.v1.Health'] as ServiceDefinition;
  if (Check === undefined) throw new Error('no method Check');
  return Check;
}
