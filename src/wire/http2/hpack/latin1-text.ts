/** Works on any octets, which the types of `Buffer` do not say; its `toString` makes a Buffer of them first. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** The octets `bytes[start, end)` as characters. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}
