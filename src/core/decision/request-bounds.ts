/** What one request may hold. Decoders refuse more with INVALID_ARGUMENT (400 on /json). */
export interface RequestBounds {
  /** Descriptors of a request. */
  readonly maxDescriptors: number;
  /** Entries of a descriptor. */
  readonly maxEntries: number;
  /** Bytes of a domain and of an entry's key, in UTF-8. */
  readonly maxNameBytes: number;
  /** Bytes of an entry's value, in UTF-8. */
  readonly maxValueBytes: number;
}
