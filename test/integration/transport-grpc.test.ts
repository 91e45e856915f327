import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { status } from '@grpc/grpc-js';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { createTestClient } from '../support/edge/grpc-client';
import { startTransport, type CreateGrpcTransport } from '../support/transport-harness';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

describe.each<[string, CreateGrpcTransport]>([
  ['wire', (deps, options) => createWireTransport({ ...deps, random: () => 0.5 }, options)],
  ['grpc-js', createGrpcJsTransport],
])('the gRPC port on a Unix socket by %s', (_name, create) => {
  let folder: string;
  let path: string;
  let mode: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-socket-'));
    path = join(folder, 'rls.sock');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function answers(unixSocketMode?: number): Promise<number> {
    const options = { address: { path }, unixSocketMode };
    const service = await startTransport(create, undefined, options);
    mode = (await stat(path)).mode & 0o777;
    expect(service.address).toBe(`unix:${path}`);
    const client = createTestClient(service.address);
    const { code } = await client.ask(REQUEST);
    client.close();
    await service.transport.close(1_000);
    return code;
  }

  it('answers there, and leaves nothing behind', async () => {
    expect(await answers()).toBe(status.OK);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it.each([
    [undefined, 0o666],
    [0o600, 0o600],
    [0o777, 0o777],
  ])('has the file mode that is asked for: %p', async (asked, expected) => {
    expect(await answers(asked)).toBe(status.OK);
    expect(mode).toBe(expected);
  });

  it('takes over a socket that a killed process left behind', async () => {
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    try {
      execFileSync(process.execPath, ['-e', script]);
    } catch {
      // Killed, as it should be.
    }
    expect((await stat(path)).isSocket()).toBe(true);
    expect(await answers()).toBe(status.OK);
  });

  it('leaves a socket alone that somebody answers on', async () => {
    const other = createServer().listen(path);
    await once(other, 'listening');
    const refused = await answers().catch((error: unknown) => error);
    other.close();
    await once(other, 'close');
    expect(refused).toEqual(
      new Error(`cannot listen on unix:${path}: another process listens there`),
    );
  });

  it('leaves a file alone that is no socket', async () => {
    execFileSync('touch', [path]);
    await chmod(path, 0o600);
    await expect(answers()).rejects.toThrow(
      `cannot listen on unix:${path}: path exists and is not a socket`,
    );
    expect((await stat(path)).isFile()).toBe(true);
  });

  it('says why it cannot listen where there is no folder', async () => {
    path = join(folder, 'none', 'rls.sock');
    await expect(answers()).rejects.toThrow(`cannot listen on unix:${path}: `);
  });
});
