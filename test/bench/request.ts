/** A length-prefixed gRPC message: RateLimitRequest of domain `edge` with one descriptor of one entry. */
export function rateLimitMessage(key: string, value: string): Uint8Array {
  const field = (tag: number, content: Uint8Array | string): Buffer => {
    const octets = Buffer.from(content);
    return Buffer.concat([Buffer.from([tag, octets.length]), octets]);
  };
  const entry = Buffer.concat([field(0x0a, key), field(0x12, value)]);
  const message = Buffer.concat([field(0x0a, 'edge'), field(0x12, field(0x0a, entry))]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
