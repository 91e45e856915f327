import type { RequestBounds } from '../../src/core/decision/request';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import type { UnpackBounds } from '../../src/wire/unpacked-limit';

/** For tests of what is read, not of how much. */
export const UNBOUNDED: RequestBounds = {
  maxDescriptors: Infinity,
  maxEntries: Infinity,
  maxNameBytes: Infinity,
  maxValueBytes: Infinity,
};

/** MAX_GRPC_MESSAGE_BYTES and MAX_UNPACK_RATIO where nothing is set. */
export const MESSAGE_BOUNDS: UnpackBounds = {
  maxBytes: DEFAULT_BOUNDS.maxGrpcMessageBytes,
  maxRatio: DEFAULT_BOUNDS.maxUnpackRatio,
};
