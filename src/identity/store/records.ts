import type { Email, Names, Photo, Verification } from '../contract/user-info';

/** What is known of a user. Texts are empty, lists are empty and the rest is null where nothing is. */
export interface UserRecord {
  readonly id: string;
  readonly externalId: string;
  readonly userName: string;
  readonly displayName: string;
  readonly emails: readonly Email[];
  readonly photos: readonly Photo[];
  readonly names: Names & {
    readonly formatted: string | null;
    readonly middleName: string | null;
    readonly honorificPrefix: string | null;
    readonly honorificSuffix: string | null;
  };
  readonly verifications: readonly Verification[];
  readonly provider: string;
  readonly environmentId: string;
  readonly nickName: string | null;
  readonly profileUrl: string | null;
  readonly title: string | null;
  readonly userType: string | null;
  readonly preferredLanguage: string | null;
  readonly locale: string;
  readonly timezone: string | null;
  /** False: disabled. None of the user's tokens is good. */
  readonly active: boolean;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

export interface LiveSession extends SessionRecord {
  /** Milliseconds until it is over. */
  readonly remainingMs: number;
}

export interface TokenRecord {
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly secretHash: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly createdAt: string;
}

export interface ApiKeyRecord {
  readonly id: string;
  readonly secretHash: string;
  /** Whose it is, in the operator's words. */
  readonly name: string;
  readonly createdAt: string;
}
