import { answerReflection } from '../../../../src/transport/grpc/reflection';

describe('reflection', () => {
  it('repeats the request and its host, as the protocol wants', () => {
    const request = Buffer.from('\x0a\x04host\x3a\x01*', 'latin1');
    const answer = answerReflection(request);
    expect(answer?.subarray(0, 17).toString('latin1')).toBe(
      `\x0a\x04host\x12\x09${request.toString('latin1')}`,
    );
  });

  it('makes the descriptors of an answer once', () => {
    const request = Buffer.from('\x22\x15grpc.health.v1.Health', 'latin1');
    const first = answerReflection(request);
    const decoded = jest.spyOn(Buffer, 'from');
    expect(answerReflection(request)).toEqual(first);
    expect(decoded.mock.calls.filter((args: unknown[]) => args[1] === 'base64')).toEqual([]);
    decoded.mockRestore();
  });

  it('repeats no more than 1,024 characters of an unknown name', () => {
    const name = '\x01'.repeat(2_000);
    const request = Buffer.concat([Buffer.from([0x22, 0xd0, 0x0f]), Buffer.from(name)]);
    expect(answerReflection(request)?.length).toBeLessThan(2_000 + 6 * 1_024 + 100);
  });

  it('knows no extensions', () => {
    const answer = answerReflection(Buffer.from('\x32\x01x', 'latin1'));
    expect(answer?.includes('there are no extensions here')).toBe(true);
  });

  it('skips what is no text and refuses what is no message', () => {
    expect(answerReflection(Buffer.from([0x50, 0x01, 0x3a, 0x00]))?.includes('Health')).toBe(true);
    expect(answerReflection(Buffer.from([0x3a, 0x05]))).toBeUndefined();
  });
});
