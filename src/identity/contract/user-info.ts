/** The status envelope; `code` mirrors the HTTP status (behaviour.md §7.3). */
export interface Meta {
  readonly code: number;
  readonly message: string;
}

export interface Email {
  readonly value: string;
  /** The only documented field that may be null (behaviour.md §7.4). */
  readonly type: string | null;
}

export interface Photo {
  /** A URL. */
  readonly value: string;
  readonly type: string;
}

export interface Names {
  readonly familyName: string;
  readonly givenName: string;
}

export interface Verification {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface UserInfo {
  readonly id: string;
  readonly externalId: string;
  readonly userName: string;
  readonly displayName: string;
  readonly emails: readonly Email[];
  readonly photos: readonly Photo[];
  readonly names: Names;
  readonly verifications: readonly Verification[];
  readonly provider: string;
  readonly environmentId: string;
}

/** The body of a 200. All fields are always present: empty strings and lists where nothing is known. */
export interface UserInfoResponse {
  readonly meta: Meta;
  readonly session: {
    /** Whole seconds of session time left. */
    readonly remainingSeconds: number;
  };
  readonly user: UserInfo;
}
