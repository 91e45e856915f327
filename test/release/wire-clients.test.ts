import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { SHOULD_RATE_LIMIT } from '../support/edge/grpc-client';
import { OK, startTransport } from '../support/transport-harness';
import { run } from '../support/edge/grpc-tools';
import { PROGRAMS } from '../support/edge/programs';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };
const METHOD = SHOULD_RATE_LIMIT.slice(1);
const CALLS = 300;

/** Asks one after the other, a crowd at once, for the health, and for what is not there. */
const PYTHON_CLIENT = `
import sys, grpc
from envoy.service.ratelimit.v3 import rls_pb2, rls_pb2_grpc
channel = grpc.insecure_channel(sys.argv[1])
stub = rls_pb2_grpc.RateLimitServiceStub(channel)
request = rls_pb2.RateLimitRequest(domain="edge", hits_addend=2)
request.descriptors.add().entries.add(key="user", value="ann")
for _ in range(100): assert stub.ShouldRateLimit(request, timeout=5).overall_code == 1
crowd = [stub.ShouldRateLimit.future(request, timeout=5) for _ in range(200)]
assert all(each.result().overall_code == 1 for each in crowd)
print("answered", 100 + len(crowd))
packed = stub.ShouldRateLimit(request, timeout=5, compression=grpc.Compression.Gzip)
print("gzip", packed.overall_code)
check = channel.unary_unary("/grpc.health.v1.Health/Check")
print("health", check(b"", timeout=5).hex())
try: check(b"\\x0a\\x06nobody", timeout=5)
except grpc.RpcError as error: print(error.code().name, error.details())
`;

const grpcurl = PROGRAMS.grpcurl();
const ghz = PROGRAMS.ghz();
const python = PROGRAMS.python();

describe('our gRPC transport', () => {
  let service: Awaited<ReturnType<typeof startTransport>>;

  beforeEach(async () => {
    service = await startTransport(
      (deps, options) => createWireTransport({ ...deps, random: () => 0.5 }, options),
      () => OK,
    );
  });
  afterEach(() => service.transport.close(1_000));

  (grpcurl === undefined ? describe.skip : describe)('with grpcurl', () => {
    const call = (...args: string[]) => run(grpcurl ?? '', ['-plaintext', ...args]);

    it('answers by reflection alone', async () => {
      const asked = await call('-d', JSON.stringify(REQUEST), service.address, METHOD);
      expect(JSON.parse(asked)).toEqual({ overallCode: 'OK' });
      expect(await call(service.address, 'list')).toContain('grpc.health.v1.Health');
      const health = ['-d', '{"service":"ratelimit"}', service.address];
      expect(JSON.parse(await call(...health, 'grpc.health.v1.Health/Check'))).toEqual({
        status: 'SERVING',
      });
    });

    it('tells an error', async () => {
      const nobody = ['-d', '{"service":"nobody"}', service.address];
      const asked = await call(...nobody, 'grpc.health.v1.Health/Check');
      expect(asked).toContain('Code: NotFound');
      expect(asked).toContain('nobody');
    });
  });

  (ghz === undefined ? it.skip : it)(
    'answers every call of ghz, an old grpc-go',
    async () => {
      const printed = await run(ghz ?? '', [
        ...['--insecure', '--call', METHOD, '-d', JSON.stringify(REQUEST)],
        ...['-n', String(CALLS), '-c', '20', '-O', 'json', service.address],
      ]);
      expect(JSON.parse(printed)).toMatchObject({
        count: CALLS,
        statusCodeDistribution: { OK: CALLS },
      });
      expect(service.requests()).toHaveLength(CALLS);
    },
    30_000,
  );

  (python === undefined ? it.skip : it)(
    'answers Python grpcio',
    async () => {
      const printed = await run(python ?? '', ['-c', PYTHON_CLIENT, service.address]);
      expect(printed.trim().split('\n')).toEqual([
        'answered 300',
        'gzip 1',
        'health 0801',
        expect.stringMatching(/^NOT_FOUND .*nobody/),
      ]);
      expect(service.requests()[0]).toMatchObject({ domain: 'edge', hitsAddend: 2 });
    },
    60_000,
  );
});
