/** What rules are checked for besides themselves. */
export interface ParseOptions {
  /** MERGE_DOMAIN_CONFIG. */
  readonly mergeDomains: boolean;
  /** The backend when it has no hashes to read limits from; undefined: it has them, or is not known. */
  readonly withoutHashes?: string | undefined;
}
