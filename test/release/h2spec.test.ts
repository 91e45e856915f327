import { H2SPEC_TESTS, runH2spec, type SpecCase } from '../support/edge/h2-spec';
import { startH2TestServer } from '../support/edge/h2-test-server';
import { startService, stopServices } from '../support/edge/service';
import { PROGRAMS } from '../support/edge/programs';

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** Each waits for DATA, or for a window to hold DATA back; a refused gRPC call is one HEADERS frame. */
const NEED_DATA = {
  failed: [
    'generic/2: Sends a WINDOW_UPDATE frame on half-closed (remote) stream',
    'generic/2: Sends a PRIORITY frame on half-closed (remote) stream',
    'http2/5.1.2: Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded',
  ],
  skipped: 4,
};

const h2spec = PROGRAMS.h2spec();
const whereH2specIs = h2spec === undefined ? describe.skip : describe;

whereH2specIs('h2spec, strict', () => {
  afterEach(stopServices);

  const namesOf = (cases: readonly SpecCase[], what: 'failed' | 'skipped') =>
    cases.filter((each) => each[what]).map(({ name }) => name);

  it('passes all of its tests against our HTTP/2', async () => {
    const server = await startH2TestServer();
    const cases = await runH2spec(h2spec ?? '', server.port);
    await server.close();
    expect(namesOf(cases, 'failed')).toEqual([]);
    expect(namesOf(cases, 'skipped')).toEqual([]);
    expect(cases).toHaveLength(H2SPEC_TESTS);
  }, 180_000);

  it('passes all against the service but those that want DATA', async () => {
    const service = await startService({ env: { GRPC_TRANSPORT: 'wire' } });
    const cases = await runH2spec(h2spec ?? '', Number(service.grpc.split(':')[1]), PATH);
    const failed = namesOf(cases, 'failed');
    expect(failed.filter((name) => !NEED_DATA.failed.includes(name))).toEqual([]);
    expect(namesOf(cases, 'skipped')).toHaveLength(NEED_DATA.skipped);
    expect(cases).toHaveLength(H2SPEC_TESTS);
    expect(await service.stop()).toBe(0);
  }, 180_000);
});
