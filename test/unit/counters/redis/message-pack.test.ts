import { PackError, unpack } from '../../../../src/counters/redis/message-pack';

const read = (hex: string) => unpack(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('what scripts answer in MessagePack', () => {
  it.each<[string, unknown]>([
    ['00', 0],
    ['7f', 127],
    ['cc 80', 128],
    ['cd 0100', 256],
    ['ce 00010000', 65_536],
    ['cf 0000000100000000', 4_294_967_296],
    ['cf 001fffffffffffff', Number.MAX_SAFE_INTEGER],
    ['ff', -1],
    ['e0', -32],
    ['d0 80', -128],
    ['d1 ff00', -256],
    ['d2 80000000', -(2 ** 31)],
    ['d3 ffffffff00000000', -(2 ** 32)],
    ['ca 3fc00000', 1.5],
    ['cb bff8000000000000', -1.5],
    ['cb fff0000000000000', -Infinity],
    ['cb 7ff8000000000000', NaN],
    ['a0', ''],
    ['a2 6869', 'hi'],
    [`d9 20 ${'61'.repeat(32)}`, 'a'.repeat(32)],
    [`da 0100 ${'62'.repeat(256)}`, 'b'.repeat(256)],
    [`db 00000001 63`, 'c'],
    ['90', []],
    ['93 01 a1 c3 90', [1, '\ufffd', []]],
    [`dc 0010 ${'05'.repeat(16)}`, new Array(16).fill(5)],
    ['dd 00000002 01 02', [1, 2]],
    ['92 92 01 02 91 01', [[1, 2], [1]]],
  ])('reads %s', (hex, value) => {
    expect(read(hex)).toEqual(value);
  });

  it.each([
    ['', "the script's reply is cut off"],
    ['92 01', "the script's reply is cut off"],
    ['cd 01', "the script's reply is cut off"],
    ['a5 61', "the script's reply is cut off"],
    ['dd ffffffff 01', "the script's reply is cut off"],
    ['01 02 03', "2 bytes follow the script's reply"],
    ['91 c0', "unexpected MessagePack type 0xc0 in the script's reply"],
    ['c1', 'unexpected MessagePack type 0xc1'],
    ['cb 3ff0', "the script's reply is cut off"],
  ])('refuses %s', (hex, message) => {
    expect(() => read(hex)).toThrow(PackError);
    expect(() => read(hex)).toThrow(message);
  });
});
