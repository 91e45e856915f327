import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ENVOY_TEXT, ISTIO_TEXT } from '../../../src/simulate/log-formats';
import { simulate } from '../../../src/simulate/simulate';
import {
  ENVOY_LINE as ENVOY,
  ISTIO_LINE as ISTIO,
  longTextLines,
} from '../../support/text-log-lines';

describe("Envoy's default text log", () => {
  it('has the parts of a line under the names of the JSON logs', () => {
    expect(ENVOY_TEXT.toFields(`${ENVOY}\r`)).toEqual({
      start_time: '2026-11-22T14:00:00.310Z',
      method: 'POST',
      path: '/login?next=1',
      protocol: 'HTTP/2',
      response_code: '204',
      bytes_received: '154',
      bytes_sent: '0',
      duration: '226',
      upstream_service_time: '100',
      x_forwarded_for: '10.0.35.28',
      'x-forwarded-for': '10.0.35.28',
      user_agent: 'curl/8',
      'user-agent': 'curl/8',
      request_id: 'cc21d9b0',
      'x-request-id': 'cc21d9b0',
      authority: 'shop.example',
      upstream_host: '10.0.2.1:80',
    });
  });

  it('may have quotes in the user agent, and dashes for all that is not known', () => {
    expect(ENVOY_TEXT.toFields(ENVOY.replace('curl/8', 'a "b" "c" d'))).toMatchObject({
      user_agent: 'a "b" "c" d',
      request_id: 'cc21d9b0',
    });
    const dashes = '[2026-11-22T14:00:00.310Z] "- - HTTP/1.1" 400 DPE 0 11 0 - "-" "-" "-" "-" "-"';
    expect(ENVOY_TEXT.toFields(dashes)).toEqual({
      start_time: '2026-11-22T14:00:00.310Z',
      protocol: 'HTTP/1.1',
      response_code: '400',
      response_flags: 'DPE',
      bytes_received: '0',
      bytes_sent: '11',
      duration: '0',
    });
  });

  it('refuses a line of another format', () => {
    expect(() => ENVOY_TEXT.toFields(ISTIO)).toThrow('not in the default format of Envoy');
    expect(() => ENVOY_TEXT.toFields('{}')).toThrow('not in the default format of Envoy');
  });

  it('refuses lines of half a megabyte, whatever they hold', () => {
    for (const { envoy, istio } of longTextLines()) {
      expect(() => ENVOY_TEXT.toFields(envoy)).toThrow();
      expect(() => ISTIO_TEXT.toFields(istio)).toThrow();
    }
  });
});

describe("Istio's default text log", () => {
  it('has those, the addresses and the route', () => {
    expect(ISTIO_TEXT.toFields(ISTIO)).toMatchObject({
      start_time: '2026-11-22T14:00:01.101Z',
      method: 'GET',
      response_code_details: 'via_upstream',
      authority: 'shop.example',
      upstream_cluster: 'inbound|80||',
      downstream_remote_address: '10.44.1.23:37652',
      requested_server_name: 'outbound_.80_._.shop',
      route_name: 'default',
    });
    expect(() => ISTIO_TEXT.toFields(ENVOY)).toThrow('not in the default format of Istio');
  });
});

describe('ratelimit-simulate', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'text-log-'));
    mkdirSync(join(folder, 'rules'));
    writeFileSync(
      join(folder, 'rules/a.yaml'),
      'domain: d\ndescriptors:\n  - key: k\n    rate_limit: { unit: minute, requests_per_unit: 1 }\n',
    );
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const run = async (format: string, source: string, log: string, ...more: string[]) => {
    const map = join(folder, 'map.yaml');
    writeFileSync(
      map,
      `domain: d\ntime: { field: start_time, format: rfc3339 }\ndescriptors:\n  - entries:\n      - { key: k, ${source} }\n`,
    );
    let out = '';
    let err = '';
    const code = await simulate(
      [
        '-config_dir',
        join(folder, 'rules'),
        '-input',
        '-',
        '-format',
        format,
        '-map',
        map,
        ...more,
      ],
      {
        stdin: Readable.from([log]),
        stdout: { write: (text: string) => (out += text) },
        stderr: { write: (text: string) => (err += text) },
      },
    );
    return { code, out, err };
  };

  it.each([
    ['envoy-text', 'field: authority', ENVOY],
    ['envoy-text', 'header: user-agent', ENVOY],
    ['envoy-text', 'header: X-Forwarded-For', ENVOY],
    ['istio-text', 'field: remote_address', ISTIO],
    ['istio-text', 'field: host', ISTIO],
  ])('decides lines of %s by { %s }', async (format, source, log) => {
    const { code, out } = await run(format, source, `${log}\n${log}\n`);
    expect(code).toBe(0);
    expect(out).toMatch(/^2 requests, 1 refused \(50\.00 %\)/);
  });

  it.each([
    ['envoy-text', 'field: remote_address'],
    ['istio-text', 'header: x-user'],
  ])('refuses of %s a map that takes { %s }, which no such line has', async (format, source) => {
    const { code, err } = await run(format, source, ENVOY);
    expect(code).toBe(1);
    expect(err).toMatch(/map\.yaml:5:/);
  });

  const TIME = '"start_time":"2026-11-22T14:00:00Z"';

  it.each([
    ['field: tenant', 'field "tenant"'],
    ['header: X-User', 'header "x-user"'],
    ['cookie: session', 'header "cookie"'],
    ['parameter: page', 'field "query"'],
    ['masked_address: { field: peer, v4: 24 }', 'field "peer"'],
  ])('says in the report that { %s } is in no line, and ends with 1', async (source, text) => {
    const { code, out, err } = await run('json', source, `{${TIME},"other":"a"}\n`);
    expect(code).toBe(1);
    expect(out).toContain(`error: -map takes the ${text}, which is in no line of the log\n`);
    expect(err).toBe(
      `no line gave a descriptor: check the fields and conditions of -map; the first line has the fields start_time, other; -map takes what is in no line of the log: ${text}; this run proves nothing\n`,
    );
    const json = await run('json', source, `{${TIME},"other":"a"}\n`, '-report', 'json');
    expect(JSON.parse(json.out)).toMatchObject({ missingFields: [text] });
  });

  it('ends with 1 where another descriptor of the map was made', async () => {
    const both = 'field: other }\n  - entries:\n      - { key: tenant, field: tenant';
    const { code, out, err } = await run('json', both, `{${TIME},"other":"a"}\n`);
    expect(code).toBe(1);
    expect(out).toContain('error: -map takes the field "tenant", which is in no line of the log\n');
    expect(err).toBe(
      '-map takes what is in no line of the log: field "tenant"; the first line has the fields start_time, other; this run proves nothing\n',
    );
  });

  it('takes a field for missing only where every line lacks it: a dash and null are there', async () => {
    const log = `{${TIME},"tenant":null}\n{${TIME}}\n`;
    const { err, out } = await run('json', 'field: tenant', log);
    expect(err).toContain('no line gave a descriptor');
    expect(out).not.toContain('error:');
    const met = await run('json', 'field: tenant', `{${TIME}}\n{${TIME},"tenant":"a"}\n`);
    expect([met.code, met.err]).toEqual([0, '']);
  });
});
