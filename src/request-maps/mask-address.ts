import { isIP } from 'node:net';
import { withoutPort } from '../platform/proxy-hops';

/** `10.1.2.3` under 24 bits is `10.1.2.0/24`, as Envoy writes it; a port after the address is taken off. */
export function maskAddress(written: string, v4: number, v6: number): string | undefined {
  const bare = withoutPort(written);
  const version = isIP(bare);
  if (version === 0) return undefined;
  return version === 4
    ? `${clearTail(bare.split('.').map(Number), 8, v4).join('.')}/${String(v4)}`
    : `${maskIpv6(bare, v6)}/${String(v6)}`;
}

function maskIpv6(address: string, bits: number): string {
  const [left = [], right = []] = (address.split('%')[0] ?? '').split('::').map(toGroups);
  const groups = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  const masked = clearTail(groups, 16, bits).map((group) => group.toString(16));
  // A URL writes an address in its shortest form (RFC 5952).
  return new URL(`http://[${masked.join(':')}]`).hostname.slice(1, -1);
}

/** The groups of a part of an IPv6 address; a dotted IPv4 address at its end is two of them. */
function toGroups(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** Sets all bits after the first `bits` of a list of numbers to 0. */
function clearTail(numbers: readonly number[], width: number, bits: number): readonly number[] {
  return numbers.map((number, at) => {
    const kept = Math.min(width, Math.max(0, bits - at * width));
    const unit = 2 ** (width - kept);
    return Math.floor(number / unit) * unit;
  });
}
