/** A RateLimitResponse as the protobuf library hands it over: fields that hold their default are absent. */
export interface RawResponse {
  readonly overallCode?: string;
  readonly statuses?: readonly RawStatus[];
  readonly responseHeadersToAdd?: readonly RawHeader[];
  readonly requestHeadersToAdd?: readonly RawHeader[];
  readonly rawBody?: string;
  readonly dynamicMetadata?: RawStruct;
  readonly quota?: RawQuota;
}

export interface RawStatus {
  readonly code?: string;
  readonly currentLimit?: {
    readonly name?: string;
    readonly requestsPerUnit?: number;
    readonly unit?: string;
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
