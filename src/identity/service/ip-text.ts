const GROUPS = 8;
const GROUP_BITS = 16;

/** An IPv4 address that came over an IPv6 socket (`::ffff:192.0.2.1`) as what it is; no zone. */
export function withoutMapping(address: string): string {
  const [plain = ''] = address.split('%');
  return plain.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

/** The network of a valid IPv6 address, always written in the same way: `2001:db8:0:ff00::/56`. */
export function ipv6Network(address: string, prefix: number): string {
  const kept = toGroups(address).map((group, index) => {
    const bits = Math.min(Math.max(prefix - index * GROUP_BITS, 0), GROUP_BITS);
    return group & (0xffff << (GROUP_BITS - bits)) & 0xffff;
  });
  const used = kept.slice(0, Math.ceil(prefix / GROUP_BITS));
  return `${used.map((group) => group.toString(16)).join(':')}::/${String(prefix)}`;
}

function toGroups(address: string): readonly number[] {
  const [head = '', tail] = toHexOnly(address).split('::');
  const first = parseGroups(head);
  const last = parseGroups(tail ?? '');
  const gap = Array.from({ length: GROUPS - first.length - last.length }, () => 0);
  return [...first, ...gap, ...last];
}

function parseGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** The last 32 bits may be written as an IPv4 address. */
function toHexOnly(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
}
