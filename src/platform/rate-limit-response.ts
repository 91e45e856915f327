/** RateLimitResponse from proto-loader: fields with their default are absent. */
export interface RawRateLimitResponse {
  /** A number where the enum has no such name, as all enums. */
  readonly overallCode?: string | number;
  readonly statuses?: readonly RawStatus[];
  readonly responseHeadersToAdd?: readonly RawHeader[];
  readonly requestHeadersToAdd?: readonly RawHeader[];
  /** In base64. */
  readonly rawBody?: string;
  readonly dynamicMetadata?: RawStruct;
  readonly quota?: RawQuota;
}

export interface RawStatus {
  readonly code?: string | number;
  readonly currentLimit?: {
    readonly name?: string;
    readonly requestsPerUnit?: number;
    readonly unit?: string | number;
    /** A google.protobuf.UInt32Value. */
    readonly unitMultiplier?: { readonly value?: number };
  };
  readonly limitRemaining?: number;
  readonly durationUntilReset?: RawTime;
  readonly quota?: RawQuota;
}

export interface RawHeader {
  readonly key?: string;
  readonly value?: string;
  readonly rawValue?: string;
}

/** google.protobuf.Duration and Timestamp. */
export interface RawTime {
  readonly seconds?: string;
  readonly nanos?: number;
}

export interface RawQuota {
  readonly requests?: number;
  readonly validUntil?: RawTime;
  readonly id?: string;
}

/** google.protobuf.Struct and its Value. */
export interface RawStruct {
  readonly fields?: Readonly<Record<string, RawValue>>;
}

export interface RawValue {
  readonly nullValue?: string;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: RawStruct;
  readonly listValue?: { readonly values?: readonly RawValue[] };
}
