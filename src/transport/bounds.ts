import { DEFAULT_REQUEST_BOUNDS, type RequestBounds } from '../core/decision/request';

/** What one request may cost; both ports keep to it. */
export interface TransportBounds extends RequestBounds {
  /** Bytes of a `/json` body, as it comes and unpacked. */
  readonly maxJsonBytes: number;
  /** Bytes of a gRPC message, as it comes and unpacked. */
  readonly maxGrpcMessageBytes: number;
  /** Times its size that a packed body may unpack to, above 256 KiB. */
  readonly maxUnpackRatio: number;
}

export const DEFAULT_BOUNDS: TransportBounds = {
  ...DEFAULT_REQUEST_BOUNDS,
  maxJsonBytes: 1_048_576,
  maxGrpcMessageBytes: 4_194_304,
  maxUnpackRatio: 100,
};
